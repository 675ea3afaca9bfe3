// What the acquirer still owes for an account that left the configuration: told by the night, by
// `status` and `settlement`, on the console to who may see the account; in no sum of the others.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addAmounts } from '../../src/core/money.js';
import { moneyIn } from '../../src/core/text/amounts.js';
import { findRun } from '../../src/runs/runsStore.js';
import type { OpenItem, SettlementDocument } from '../../src/settlement/settlementStore.js';
import { readPlainly } from '../reports/plainReader.js';
import { tieoutHere } from '../support/cliHere.js';
import { dateOf, rewriteSettings } from '../support/night.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

const LEFT = 'A1002';
type Books = SettlementDocument['accounts'][number];

let place: ConsoleHouse;
let before: Books | undefined;

const cli = (...words: string[]) => tieoutHere(words, { cwd: place.house.folder });

beforeAll(async () => {
  place = await openConsole({
    orders: 400,
    daysAgo: 2,
    settings: { settlement: { from: dateOf(30) } },
    before: async (house) => {
      await house.run({ date: dateOf(2) }, new Date(`${dateOf(1)}T04:15:00Z`));
      const asked = await tieoutHere(['settlement', '--json'], { cwd: house.folder });
      const { accounts } = JSON.parse(asked.stdout) as SettlementDocument;
      before = accounts.find(({ accountId }) => accountId === LEFT);
      const all = house.accounts.map((one) => ({ ...one, liveFrom: '2026-01-01T00:00:00Z' }));
      rewriteSettings(house, { accounts: all.slice(0, 1) });
    },
  });
}, 180_000);
afterAll(() => place.end());

/** Settled for an order that nobody knows. */
const STRAY = `with file as (
    insert into tieout.settlement_files (name, sha256, map_sha256, accounts, batches, lines, totals)
    values ('f', 's', '', '{A0}', 1, 1, '{}') returning file_id
  ), batch as (
    insert into tieout.settlement_batches (account_id, batch, currency, file_id, lines, gross, fees,
      payout, has_payout, first_booked_at, last_booked_at, digest)
    select 'A0', 'B1', 'EUR', file_id, 1, 71.5, 0, 71.5, false, now(), now(), '' from file
  ), line as (
    insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
      order_no, currency, amount, settle_currency, gross, fee, net)
    values ('A0', 'B1', '1', 1, 'captured', now(), 'nowhere', 'EUR', 71.5, 'EUR', 71.5, 0, 71.5)
    returning settlement_line_id
  )
  insert into tieout.settlement_unmatched select settlement_line_id, 'nowhere' from line`;

const textOf = (body: string): string => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

it('is told by each night, by status and doctor', async () => {
  const night = await findRun(place.app.db, dateOf(1));
  const told = (night?.summary?.notices ?? []).filter(({ kind }) => kind === 'settlement_not_kept');
  expect(told.map(({ accountId }) => accountId)).toEqual([LEFT]);
  const sums = before?.atGateway.map(({ currency, closing }) => moneyIn(closing, currency));
  expect(told[0]?.text).toContain(`captured less refunded: ${sums?.join(', ')}. No night looks`);
  expect(told[0]?.text).toMatch(
    /: \d+ captures and refunds without a settlement line since 2\d{3}-/,
  );
  for (const command of ['status', 'doctor']) {
    expect((await cli(command)).stdout, command).toContain('not all of its money is settled');
  }
});

it('stands with its books as they were, apart from those of the others', async () => {
  const { stdout } = await cli('settlement', '--json');
  const { accounts, leftAccounts } = JSON.parse(stdout) as SettlementDocument & {
    leftAccounts: Books[];
  };
  expect(accounts.map(({ accountId }) => accountId)).toEqual(['A1001']);
  expect(leftAccounts.map(({ atGateway }) => atGateway)).toEqual([before?.atGateway]);
  const said = (await cli('settlement')).stdout;
  expect(said).toContain('Not in these figures: account A1002, which is not in the configuration');
});

it('has its open items listed, apart, and each closing is their sum', async () => {
  const { stdout } = await cli('settlement', 'open', '--json');
  const { items, leftItems } = JSON.parse(stdout) as Record<'items' | 'leftItems', OpenItem[]>;
  expect(items.filter(({ accountId }) => accountId !== 'A1001')).toEqual([]);
  const listed = (before?.atGateway ?? []).map(({ currency }) => ({
    currency,
    closing: leftItems
      .filter(
        (one) => [one.accountId, one.currency, one.book].join() === `A1002,${currency},atGateway`,
      )
      .reduce((sum, { amount }) => addAmounts(sum, amount), '0.00'),
  }));
  expect(listed).toEqual(before?.atGateway.map(({ currency, closing }) => ({ currency, closing })));
  const lines = (await cli('settlement', 'open')).stdout.trimEnd().split('\n');
  const at = lines.indexOf('Apart, since not in the configuration any more: what is open of A1002');
  expect(lines.slice(at + 2)).toHaveLength(leftItems.length);
  expect(lines.slice(1, at)).toHaveLength(items.length);
});

it('is in the settlement report of a period, marked, which is for who has a role for all', async () => {
  const out = join(place.house.folder, 'settlement.xlsx');
  const asked = ['report', dateOf(1), '--kind', 'settlement'];
  expect(await cli(...asked, '--out', out)).toMatchObject({ code: 0 });
  const book = await readPlainly(out);
  const page = (book.sheets[0]?.rows ?? []).map((row) => row.map(({ value }) => value));
  const from = page.findIndex(([title]) => title?.startsWith('At the gateway:'));
  const own = page.slice(from, from + 20).filter(([name]) => name === LEFT);
  const closings = own.map(([, currency, , , , , , , closing]) => {
    return { currency, closing: Number(closing).toFixed(2) };
  });
  const expected = before?.atGateway.map(({ currency, closing }) => ({ currency, closing }));
  expect(closings.slice(0, expected?.length)).toEqual(expected);
  expect(page.flat()).toContain('All checks on this sheet tie');
  expect(page.flat().join(' ')).toContain('in the configuration any more: A1002.');
  const about = book.sheets.at(-1)?.rows.map((row) => row.map(({ value }) => value));
  expect(about).toContainEqual(['Accounts', 'A1001, A1002 (not configured)']);
  const csv = (await cli(...asked, '--format', 'csv')).stdout;
  expect(csv.includes(`\n${LEFT},`)).toBe(true);
  const [report] = (
    await place.app.db.query<{ id: string }>(
      `select report_id::text as id from tieout.reports where kind = 'settlement'`,
    )
  ).rows;
  const byName = await place.visitor([
    { role: 'finance', accountId: 'A1001' },
    { role: 'finance', accountId: LEFT },
  ]);
  for (const [visitor, code] of [
    [await place.withRole('finance'), 200],
    [await place.withRole('finance', 'A1001'), 404],
    [byName, 404],
  ] as const) {
    expect((await visitor.get(`/reports/${report?.id}/file`)).statusCode).toBe(code);
  }
});

it('leads on the console to its rows, for who may see the account alone', async () => {
  const finance = await place.withRole('finance');
  const ofLeft = await place.visitor([
    { role: 'finance', accountId: 'A1001' },
    { role: 'finance', accountId: LEFT },
  ]);
  const ofOne = await place.withRole('finance', 'A1001');
  const links: string[] = [];
  for (const visitor of [finance, ofLeft]) {
    const { body } = await visitor.get('/settlement');
    expect(textOf(body)).toContain('Not in these figures: account A1002');
    const found = body.matchAll(/href="(\/settlement\/rows\?account=A1002[^"]+)"/g);
    links.splice(0, links.length, ...[...found].map(([, link = '']) => link));
    expect(links).toHaveLength(before?.atGateway.length ?? 0);
    for (const [at, link] of links.entries()) {
      const rows = await visitor.get(link.replaceAll('&amp;', '&'));
      const total = / (?:row comes|rows come) to (-?[\d.,]+)/.exec(rows.body)?.[1];
      const { closing = '', currency = '' } = before?.atGateway[at] ?? {};
      const shown = currency === 'JPY' ? closing.replace(/\.00$/, '') : closing;
      expect([link, total?.replaceAll(',', '')]).toEqual([link, shown]);
    }
  }
  expect((await ofOne.get('/settlement')).body).not.toContain(LEFT);
  const rows = await ofOne.get(links[0]?.replaceAll('&amp;', '&') ?? '');
  expect(rows.statusCode).toBe(404);
});

it('is not told any more once each of it is waived', async () => {
  await place.app.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_run_id, last_run_id,
         first_seen, waived_reason, expected, actual, fingerprint)
       select account_id, order_no, 'not_settled', 'waived', min(run_id), min(run_id), now(), 'x',
         '{}', '{}', 'x'
       from tieout.movements where account_id = $1 group by 1, 2`,
      [LEFT],
    );
  });
  expect((await cli('status')).stdout).not.toContain('not all of its money is settled');
});

it('is found by who sees all accounts, also where more was settled than was ever captured', async () => {
  await place.app.db.query(STRAY);
  const { stdout } = await cli('settlement', '--json');
  const { leftAccounts } = JSON.parse(stdout) as { leftAccounts: Books[] };
  const stray = leftAccounts.find(({ accountId }) => accountId === 'A0');
  expect(stray?.atGateway).toMatchObject([{ currency: 'EUR', closing: '-71.50' }]);
  expect((await cli('settlement')).stdout).toContain('Not in these figures: accounts A0, A1002,');
  const finance = await place.withRole('finance');
  const { body } = await finance.get('/settlement');
  expect(textOf(body)).toContain('accounts A0, A1002, which are not in the configuration');
  const [, link = ''] = /href="(\/settlement\/rows\?account=A0[^"]+)"/.exec(body) ?? [];
  const rows = (await finance.get(link.replaceAll('&amp;', '&'))).body;
  expect(textOf(rows)).toContain('comes to -71.50');
  const ofOne = await place.withRole('finance', 'A1001');
  expect(textOf((await ofOne.get('/settlement')).body)).not.toMatch(/A0|A1002/);
});
