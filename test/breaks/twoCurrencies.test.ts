// An order of which the gateway took money in another currency than the ledger's: whatever else
// differs of it, what the gateway took is at stake, in that currency, and no amount of the gateway
// stands beside the currency of the ledger.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { countedAgain, findBreaks } from '../../src/breaks/breaksStore.js';
import { breakSentence } from '../../src/core/breaks/sentence.js';
import type { PlainBook } from '../reports/plainReader.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

let house: House;
let book: PlainBook;

beforeAll(async () => {
  house = await buildHouse({ orders: 900, inLedger: kinds({ currency_mismatch: 1 }) });
  await house.db.query('update ledger.orders set amount = amount + 1');
  await house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select account_id, 'R-TOO-MUCH', order_no, amount + 5, placed_at from ledger.orders`,
  );
  const { summary } = await house.run();
  const file = summary.reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  book = await readPlainly(file);
}, 120_000);

afterAll(() => house.end());

/** Each row by the letters of its columns. */
function sheet(name: string): Map<string, string>[] {
  const rows = book.sheets.find((one) => one.name === name)?.rows ?? [];
  return rows.map((row) => new Map(row.map(({ ref, value }) => [ref.replace(/\d/g, ''), value])));
}

const plain = (amount: string): number => Number(amount.replaceAll(',', ''));

async function found() {
  const [order] = house.seeded;
  const breaks = await findBreaks(
    house.db,
    { orderNo: order?.ledger.order_no ?? '', states: ['open'] },
    { limit: 10, offset: 0 },
  );
  return breaks.toSorted((a, b) => a.kind.localeCompare(b.kind));
}

test('each of its breaks has at stake what the gateway took, in that currency', async () => {
  const breaks = await found();
  expect(breaks.map(({ kind }) => kind)).toEqual([
    'amount_mismatch',
    'currency_mismatch',
    'refund_mismatch',
  ]);
  for (const { kind, currency, stake, difference, actual, expected } of breaks) {
    expect([kind, actual.currency]).toEqual([kind, 'GBP']);
    expect(expected.currency).not.toBe('GBP');
    expect([kind, currency, stake, difference]).toEqual([kind, 'GBP', actual.amount, null]);
  }
  // It counts once: what stands in several breaks of one currency is said beside the sum.
  const again = await countedAgain(house.db, [breaks[0]?.accountId ?? ''], 10);
  const taken = Number(breaks[0]?.actual.amount);
  expect(again.money).toEqual({ GBP: (2 * taken).toFixed(2) });
  const { rows } = await house.db.query<{ after: Record<string, string> }>(
    'select stake_after as after from tieout.run_accounts where account_id = $1',
    [breaks[0]?.accountId],
  );
  expect(Object.keys(rows[0]?.after ?? {})).toContain('GBP');
  expect(Number(rows[0]?.after.GBP)).toBeGreaterThanOrEqual(3 * taken);
});

test('it follows the gateway, and figures of two currencies are not held against each other', async () => {
  const [amounts] = await found();
  if (amounts === undefined) throw new Error('no break');
  const actual = { ...amounts.actual, amount: '987654.00' };
  const { rows } = await house.db.query<{ now: string }>(
    'select tieout.break_money($1, $2, $3, $4)::text as now',
    [amounts.kind, amounts.currency, amounts.expected, actual],
  );
  expect(rows[0]?.now).toBe('987654.00');
  expect(breakSentence('amount_mismatch', amounts.expected, amounts.actual)).toMatch(
    /^the gateway captured [\d,.]+ GBP, the ledger expects [\d,.]+ [A-Z]{3}: the figures differ, and are of two currencies$/,
  );
});

test('refund requests that are more than the order are said with their sum', async () => {
  const [, , refunds] = await found();
  const { amount = '' } = refunds?.expected ?? {};
  const asked = (Number(amount) + 5).toFixed(2);
  expect(refunds?.expected.asked).toBe(asked);
  const said =
    /^the gateway shows captured, and the refund requests come to ([\d,.]+) [A-Z]{3}, more than the ([\d,.]+) [A-Z]{3} of the order: none is sent$/;
  const list = sheet('Breaks').flatMap((line) => [...line.values()]);
  const sentence = breakSentence('refund_mismatch', refunds?.expected ?? {}, refunds?.actual ?? {});
  expect(said.exec(sentence)?.slice(1).map(plain)).toEqual([asked, amount].map(Number));
  expect(list).toContain(sentence);
  // Where nobody knows the sum, or it fits, all that it may be is said.
  const { asked: _asked, ...without } = refunds?.expected ?? {};
  expect(breakSentence('refund_mismatch', without, refunds?.actual ?? {})).toMatch(
    /want something else: some count as done, or all of them are more than was captured, or one /,
  );
});

test('the sheet of states names the currency of the amount that stands beside it', async () => {
  const lines = sheet('State differs');
  const head = lines.find((line) => [...line.values()].includes('Gateway amount'));
  const at = (heading: string) =>
    [...(head ?? [])].find(([, value]) => value === heading)?.[0] ?? '';
  const [, , refunds] = await found();
  const line = lines.find((one) => one.get(at('Order')) === refunds?.orderNo);
  expect(Number(line?.get(at('Gateway amount')))).toBe(Number(refunds?.actual.amount));
  expect(line?.get(at('Gateway currency'))).toBe('GBP');
});
