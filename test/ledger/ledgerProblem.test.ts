// A merchant may replace the ledger by views, which check nothing: a row that cannot be used is named
// and its order stops, the run goes on, and no other order is touched.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCurrencies } from '../../src/core/currency.js';
import { askLive, createPull } from '../../src/pull/snapshot/snapshotsStore.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

const PLACED = `'2026-11-19T10:00:00Z'::timestamptz`;

// number | currency | amount | expected | capture_amount | review_decision | placed_at | what is said
const ROWS: [string, string, string, string, string, string, string, string | null][] = [
  ['good', `'EUR'`, '12.34', `'captured'`, 'null', 'null', PLACED, null],
  ['yen', `'JPY'`, '500.00', `'captured'`, 'null', 'null', PLACED, null],
  ['half-yen', `'JPY'`, '500.50', `'captured'`, 'null', 'null', PLACED, 'no decimals'],
  ['tenth', `'ABC'`, '5.50', `'captured'`, '5.10', 'null', PLACED, null],
  ['twentieth', `'ABC'`, '5.55', `'captured'`, 'null', 'null', PLACED, 'one decimal'],
  ['take-a-twentieth', `'ABC'`, '5.50', `'captured'`, '5.45', 'null', PLACED, 'one decimal'],
  ['back-a-tenth', `'ABC'`, '6.00', `'captured'`, 'null', 'null', PLACED, null],
  ['back-a-twentieth', `'ABC'`, '6.00', `'captured'`, 'null', 'null', PLACED, 'asks for less'],
  ['dinar', `'KWD'`, '5.00', `'captured'`, 'null', 'null', PLACED, 'currency is unknown'],
  ['made-up', `'XXQ'`, '5.00', `'captured'`, 'null', 'null', PLACED, 'currency is unknown'],
  ['no-money', 'null', '5.00', `'captured'`, 'null', 'null', PLACED, 'currency is unknown'],
  ['zero', `'EUR'`, '0', `'captured'`, 'null', 'null', PLACED, 'not above zero'],
  ['minus', `'EUR'`, '-1', `'captured'`, 'null', 'null', PLACED, 'not above zero'],
  ['nan', `'EUR'`, `'NaN'`, `'captured'`, 'null', 'null', PLACED, 'is no number'],
  ['huge', `'EUR'`, '1e30', `'captured'`, 'null', 'null', PLACED, 'not above zero'],
  ['none', `'EUR'`, 'null', `'captured'`, 'null', 'null', PLACED, 'not above zero'],
  ['dust', `'EUR'`, '19.989999', `'captured'`, 'null', 'null', PLACED, 'two decimals'],
  ['word', `'EUR'`, '1.00', `'shipped'`, 'null', 'null', PLACED, 'no known state'],
  ['wordless', `'EUR'`, '1.00', 'null', 'null', 'null', PLACED, 'no known state'],
  ['too-much', `'EUR'`, '1.00', `'captured'`, '1.01', 'null', PLACED, 'within its amount'],
  ['take-0', `'EUR'`, '1.00', `'captured'`, '0', 'null', PLACED, 'within its amount'],
  ['maybe', `'EUR'`, '1.00', `'captured'`, 'null', `'maybe'`, PLACED, 'neither accept'],
  ['timeless', `'EUR'`, '1.00', `'captured'`, 'null', 'null', 'null::timestamptz', 'placed_at'],
];

describe('rows of a ledger view', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  const said = new Map<string, string | null>();

  beforeAll(async () => {
    database = await freshDatabase();
    const { db } = database;
    const values = ROWS.map(
      ([name, currency, amount, expected, take, decision, placed]) =>
        `('A1', '${name}', ${currency}, ${amount}::numeric, ${expected}, null::text,
          ${take}::numeric, ${decision}::text, ${placed}, null::timestamptz)`,
    );
    await db.query('alter table ledger.orders rename to kept_orders');
    await db.query(
      `create view ledger.orders (account_id, order_no, currency, amount, expected, transaction_id,
         capture_amount, review_decision, placed_at, updated_at) as values ${values.join(', ')}`,
    );
    const runId = await storeRun(db, 'A1');
    const { pullId } = await createPull(db, runId, 'night');
    const range = {
      endsAt: new Date('2026-11-20T00:00:00Z'),
      lookbackFrom: new Date('2026-10-01T00:00:00Z'),
    };
    const cut = { separator: ',', pageOrders: 100, currencies: ledgerCurrencies({ ABC: 1 }) };
    await db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
         requested_at)
       values ('A1', 'R1', 'back-a-tenth', 0.10, ${PLACED}),
         ('A1', 'R2', 'back-a-twentieth', 0.05, ${PLACED})`,
    );
    await askLive(db, pullId, [{ account_id: 'A1', live_from: null }], range, cut);
    const { rows } = await db.query<{ order_no: string; ledger_problem: string | null }>(
      'select order_no, ledger_problem from tieout.asked_orders where pull_id = $1',
      [pullId],
    );
    for (const row of rows) said.set(row.order_no, row.ledger_problem);
  });
  afterAll(() => database.drop());

  it.each(ROWS.map((row) => [row[0], row[7]] as const))('%s: %s', (name, expected) => {
    expect(said.has(name)).toBe(true);
    if (expected === null) expect(said.get(name)).toBeNull();
    else expect(said.get(name)).toContain(expected);
  });
});

describe('currencies that a ledger row may be in', () => {
  it('take in what the profile lists', () => {
    expect(ledgerCurrencies({}).usable).not.toContain('KWD');
    expect(ledgerCurrencies({ KWD: 3 }).usable).toContain('KWD');
    expect(ledgerCurrencies({ XXQ: 0 }).coarse).toMatchObject({ XXQ: 0 });
  });
});
