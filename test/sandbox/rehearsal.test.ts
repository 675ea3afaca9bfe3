// What an acquirer's mail may say, rehearsed as docs/GATEWAY_GUIDE.md has it, without a line of code:
// `tieout sandbox --profile`, the books of its shop imported, a night. Every request is signed,
// spelled and named otherwise than the interface's samples are, every code is another, and wrong
// signatures are believed nowhere.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import type { Database } from '../../src/database/db.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { freshDatabase } from '../support/database.js';
import { dateOf, instructionCounts, readEffects, settingsOf } from '../support/night.js';

beforeAll(ensureBuilt);

/** Eight commands, each a process of its own, on a machine that may be busy. */
const SLOWLY = 240_000;

const CODES = `
    NEW: pending
    "10": in_review
    AUTH: authorised
    PAID: captured
    VOID: cancelled
    REFUSED: declined
    PART: partially_refunded
    BACK: refunded`;

/** Lists of `id1 amount1 id2 amount2`, entry by entry. */
const INTERLEAVED = `
    default: [merchant_id, account_id]
    capture: [merchant_id, "capture_orders[].{transaction_id,amount}"]
    cancel: [merchant_id, "cancel_orders[].{transaction_id,amount}"]
    review: [merchant_id, "review_orders[].{transaction_id,amount}"]
    refund: [merchant_id, "refund_orders[].{transaction_id,refund_amount}"]`;

const MAILS = {
  'sorted pairs in a header, the answer echoes, forms': `
signing:
  algorithm: hmac-sha512
  separator: "&"
  pairs: { skipEmpty: true }
  sort: true
  output: base64
  inBody: false
  headers: { X-Signature: "{signature}", X-Merchant: "{merchantId}" }
  fields:${INTERLEAVED}
  responses: enforce
  responseMode: echo
query: { select: order_list, orderList: { field: order_nos, separator: "|" }, found: ["Y"] }
bodies: { default: form, retrievalTrans: json }
siteField: shop
transactionDate: { timezone: Asia/Shanghai }
`,
  'the key as a pair of its own, upper case, JSON under a form, a time window': `
signing:
  algorithm: sha512
  separator: "&"
  pairs: { keyName: key }
  output: hex-upper
  headers: { Authorization: "Bearer {key}" }
  fields:${INTERLEAVED}
  responses: enforce
  responseFields: { default: [return_status, merchant_id] }
query: { select: window, window: { from: begin, to: end, timezone: Asia/Shanghai }, found: ["Y"] }
bodies: { default: json-as-form }
transactionDate: { timezone: Asia/Shanghai }
`,
};

const OF_BOTH = `
statuses: { payment: {${CODES.trim().replaceAll(/\n\s*/g, ', ')}} }
results: { accepted: [OK] }
payments: { accepted: [OK] }
reviewFlags: { accept: A, reject: R }
refundReasonTag: false
`;

/** Other names and times of a query, other words for payouts. */
const WINDOW_BY_HAND = `
signing:
  algorithm: hmac-sha512
  separator: "&"
  pairs: { skipEmpty: true }
  sort: true
  output: base64
  inBody: false
  headers: { X-Signature: "{signature}" }
  fields:${INTERLEAVED}
    payout: [merchant_id, request_id, payment_amount, payment_currency]
  responses: enforce
  responseMode: echo
query:
  select: window
  window:
    from: dateFrom
    to: dateTo
    format: "yyyy-MM-dd HH:mm:ss"
    timezone: Asia/Shanghai
    page: page
    firstPage: 0
    size: limit
  found: ["FOUND"]
bodies: { default: json }
siteField: website
transactionDate: { timezone: Asia/Shanghai }
payout: { unit: minor, statuses: { done: [DONE], pending: [WAIT], failed: [BAD] } }
`;

const PAYOUTS = ['INV-1-FEE', 'PENDING-2', 'FAIL-3'].map((reference, at) => ({
  request_id: `c0ffee00-0000-4000-8000-00000000000${at}`,
  account_id: 'A1001',
  requested_at: new Date().toISOString(),
  payload: { payment_currency: 'USD', payment_amount: '1250', reference },
}));

/** The sandbox with the profile, and a shop whose books are imported. */
async function rehearsed(mail: string, operations?: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-rehearsal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { db, connection, drop } = await freshDatabase({ queues: true });
  onTestFinished(drop);
  writeFileSync(join(folder, 'gateway-profile.yaml'), mail + OF_BOTH);
  const words = ['--profile', 'gateway-profile.yaml', '--port', '0', '--orders', '400'];
  const sandbox = startTieout(['sandbox', '--json', ...words], { cwd: folder });
  onTestFinished(() => sandbox.signal('SIGTERM'));
  const { baseUrl } = JSON.parse(await sandbox.line()) as { baseUrl: string };
  const dayStart = new Date(`${dateOf(1)}T00:00:00Z`);
  const settings = settingsOf(connection, baseUrl, { seed: 1, dayStart });
  const gateway = { baseUrl, profile: './gateway-profile.yaml' };
  const own = operations === undefined ? {} : { operations };
  writeFileSync(join(folder, 'tieout.yaml'), JSON.stringify({ ...settings, gateway, ...own }));
  for (const book of ['orders', 'refunds']) {
    const lines = await fetch(`${baseUrl}/_sandbox/ledger/${book}`);
    writeFileSync(join(folder, `${book}.csv`), await lines.text());
    await done(folder, ['import', book, `${book}.csv`]);
  }
  return { folder, db, baseUrl };
}

/** What the command prints; it ends with one of these codes. */
async function done(folder: string, words: string[], codes = [0]): Promise<string> {
  const { code, stdout, stderr } = await tieoutHere(words, { cwd: folder });
  expect(stderr).not.toContain('signature');
  expect([words, codes.includes(code ?? -1), stderr]).toEqual([words, true, stderr]);
  return stdout;
}

async function night(folder: string, code: number): Promise<RunSummary> {
  return JSON.parse(await done(folder, ['run', '--json'], [code])) as RunSummary;
}

/** What became of instructions, and that what was confirmed is what moved. */
async function confirmedAsMoved(db: Database, baseUrl: string): Promise<string[]> {
  const counts = await instructionCounts(db);
  const moved: Record<string, number> = {};
  for (const { operation } of await readEffects(baseUrl)) {
    const name = `${operation} confirmed`;
    moved[name] = (moved[name] ?? 0) + 1;
  }
  const pending = counts['payout accepted'] ?? 0;
  const confirmed = Object.entries(counts).filter(([name]) => name.endsWith('confirmed'));
  expect(confirmed.length).toBeGreaterThan(3);
  // A payout that is under way has left the payer.
  const asMoved = confirmed.map(([name, count]) => [
    name,
    name === 'payout confirmed' ? count + pending : count,
  ]);
  expect(moved).toEqual(Object.fromEntries(asMoved));
  return Object.keys(counts).filter((name) => !/(confirmed|held)$/.test(name));
}

test.each(Object.entries(MAILS))('%s', async (_name, mail) => {
  const { folder, db, baseUrl } = await rehearsed(mail);
  expect(await night(folder, 3)).toMatchObject({ state: 'broken', pull: { failedPages: 0 } });
  expect(await confirmedAsMoved(db, baseUrl)).toEqual([]);
});

test(
  'a window with its own times; held, approved, run again; payouts in other words',
  async () => {
    const { folder, db, baseUrl } = await rehearsed(WINDOW_BY_HAND, {});
    writeFileSync(
      join(folder, 'payouts.ndjson'),
      PAYOUTS.map((line) => JSON.stringify(line)).join('\n'),
    );
    await done(folder, ['import', 'payouts', 'payouts.ndjson']);
    expect(await night(folder, 3)).toMatchObject({ state: 'broken', pull: { failedPages: 0 } });
    const list = await done(folder, ['instructions', 'list', '--waiting', '--json']);
    const waiting = JSON.parse(list) as { id: string }[];
    // Some may not go by the profile, whoever approves: 1.
    await done(folder, ['instructions', 'approve', ...waiting.map(({ id }) => id)], [0, 1]);
    const again = await night(folder, 3);
    expect(await confirmedAsMoved(db, baseUrl)).toEqual(['payout accepted', 'payout rejected']);
    const told = (again.notices ?? []).map(({ kind }) => kind);
    expect(told).toContain('payout_pending');
    expect(told).not.toContain('unexplained');
    const { rows } = await db.query<{ hours: string }>(
      `select distinct round(extract(epoch from e.transaction_at - o.placed_at) / 3600)::text as hours
     from tieout.look_entries e join ledger.orders o using (account_id, order_no)
     where e.transaction_id = o.transaction_id`,
    );
    expect(rows).toEqual([{ hours: '0' }]);
  },
  SLOWLY,
);
