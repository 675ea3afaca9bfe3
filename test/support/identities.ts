// What must hold of the summary of any run (docs/CONTRACT.md section 7), written down a second time
// and apart from the program: classes, tie, instructions, and money against what the gateway says
// that it really moved. Used by the tests of whole nights.

import { expect } from 'vitest';
import type { AccountSummary, RunSummary } from '../../src/core/runs/summary.js';
import type { Database } from '../../src/database/db.js';
import type { Effect } from './night.js';

const CLASSES = ['matched', 'explained', 'due', 'awaited', 'broken', 'notCompared'] as const;

/** Classes sum up, breaks tie, instructions are those carried and those created. */
export async function expectIdentities(db: Database, summary: RunSummary): Promise<void> {
  for (const account of summary.accounts) {
    const { orders, tie } = account;
    const classed = CLASSES.reduce((sum, name) => sum + orders[name], 0);
    expect(classed, `${account.accountId}: classes`).toBe(orders.ledger + orders.strangers);
    const after = tie.openBefore + tie.new + tie.reopened - tie.waived - tie.resolved;
    expect(after, `${account.accountId}: tie`).toBe(tie.openAfter);
    const open = Object.values(account.breaks).reduce<number>((sum, n) => sum + (n ?? 0), 0);
    expect(open, `${account.accountId}: open breaks`).toBe(tie.openAfter);
    await expectInstructions(db, summary.businessDate, account);
  }
  const { pull } = summary;
  expect(pull.asked).toBeGreaterThanOrEqual(pull.answered + pull.unanswered);
}

async function expectInstructions(
  db: Database,
  date: string,
  account: AccountSummary,
): Promise<void> {
  const { rows } = await db.query<{ operation: string; created: bigint }>(
    `select operation, count(*) as created from tieout.instructions join tieout.runs using (run_id)
     where business_date = $1 and not is_dry and account_id = $2 group by operation`,
    [date, account.accountId],
  );
  const created = new Map(rows.map((row) => [row.operation, Number(row.created)]));
  const operations = new Set([...created.keys(), ...Object.keys(account.instructions)]);
  for (const operation of operations) {
    const { carried = 0, ...states } = account.instructions[operation] ?? {};
    const shown = Object.values(states).reduce<number>((sum, n) => sum + (n ?? 0), 0);
    const name = `${account.accountId}: ${operation}`;
    expect(shown, name).toBe(carried + (created.get(operation) ?? 0));
  }
}

const COLUMNS = { capture: 'captured', cancel: 'cancelled', refund: 'refunded' } as const;

/** The totals of these runs together are what the gateway moved, to the cent, by currency. */
export async function expectMoney(
  db: Database,
  summaries: readonly RunSummary[],
  effects: readonly Effect[],
): Promise<void> {
  const { rows } = await db.query<{ account_id: string; order_no: string; currency: string }>(
    'select account_id, order_no, currency from ledger.orders',
  );
  const currencies = new Map(
    rows.map((row) => [`${row.account_id} ${row.order_no}`, row.currency]),
  );
  const moved = new Map<string, bigint>();
  const add = (key: string, amount: bigint): void => {
    if (amount !== 0n) moved.set(key, (moved.get(key) ?? 0n) + amount);
  };
  for (const effect of effects) {
    if (!(effect.operation in COLUMNS)) continue;
    const column = COLUMNS[effect.operation as keyof typeof COLUMNS];
    const currency = currencies.get(`${effect.account_id} ${effect.order_no}`);
    const amount = hundredths(effect.refund_amount ?? effect.amount ?? '');
    add(`${effect.account_id} ${currency} ${column}`, amount);
  }
  const told = new Map<string, bigint>();
  for (const account of summaries.flatMap((summary) => summary.accounts)) {
    for (const total of account.totals) {
      const net = hundredths(total.captured) - hundredths(total.refunded);
      expect(hundredths(total.net)).toBe(net);
      for (const column of Object.values(COLUMNS)) {
        const key = `${account.accountId} ${total.currency} ${column}`;
        told.set(key, (told.get(key) ?? 0n) + hundredths(total[column]));
      }
    }
  }
  const nonZero = new Map([...told].filter(([, amount]) => amount !== 0n));
  expect(sorted(nonZero)).toEqual(sorted(moved));
}

function sorted(money: ReadonlyMap<string, bigint>): [string, bigint][] {
  return [...money].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Written apart from core/money.ts on purpose. */
export function hundredths(text: string): bigint {
  if (!/^-?\d+\.\d\d$/.test(text)) throw new Error(`${text} is no amount`);
  return BigInt(text.replace('.', ''));
}

/** No capture, cancel or review of a transaction twice, and no refund request twice. */
export function expectNothingTwice(effects: readonly Effect[], requested: RequestedRefunds): void {
  const seen = new Map<string, number>();
  for (const { operation, account_id, transaction_id, refund_amount } of effects) {
    const key = `${operation} ${account_id} ${transaction_id} ${refund_amount ?? ''}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  const twice = [...seen].filter(([key, count]) => count > (requested.get(key) ?? 1));
  expect(twice).toEqual([]);
}

/** How often each refund may happen: two equal requests of one order are two refunds. */
export type RequestedRefunds = ReadonlyMap<string, number>;
