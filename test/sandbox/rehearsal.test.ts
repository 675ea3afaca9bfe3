// What an acquirer's mail may say, rehearsed as docs/GATEWAY_GUIDE.md has it, without a line of code:
// `tieout sandbox --profile`, the books of its shop imported, a night. Every request is signed,
// spelled and named otherwise than the interface's samples are, every code is another, and wrong
// signatures are believed nowhere.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt, startTieout, tieout } from '../support/cli.js';
import { freshDatabase } from '../support/database.js';
import { dateOf, instructionCounts, readEffects, settingsOf } from '../support/night.js';

beforeAll(ensureBuilt);

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

test.each(Object.entries(MAILS))('%s', async (_name, mail) => {
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
  writeFileSync(join(folder, 'tieout.yaml'), JSON.stringify({ ...settings, gateway }));
  for (const book of ['orders', 'refunds']) {
    const lines = await fetch(`${baseUrl}/_sandbox/ledger/${book}`);
    writeFileSync(join(folder, `${book}.csv`), await lines.text());
    expect(await tieout(['import', book, `${book}.csv`], { cwd: folder })).toMatchObject({
      code: 0,
    });
  }
  const night = await tieout(['run', '--json'], { cwd: folder });
  expect(night.stderr).not.toContain('signature');
  expect(JSON.parse(night.stdout)).toMatchObject({ state: 'broken', pull: { failedPages: 0 } });
  const counts = await instructionCounts(db);
  expect(Object.keys(counts).filter((name) => !/(confirmed|held)$/.test(name))).toEqual([]);
  const moved: Record<string, number> = {};
  for (const { operation } of await readEffects(baseUrl)) {
    const name = `${operation} confirmed`;
    moved[name] = (moved[name] ?? 0) + 1;
  }
  const confirmed = Object.entries(counts).filter(([name]) => name.endsWith('confirmed'));
  expect(confirmed.length).toBeGreaterThan(3);
  expect(moved).toEqual(Object.fromEntries(confirmed));
});
