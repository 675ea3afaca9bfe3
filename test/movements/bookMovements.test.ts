// The book of movements: its table of cases through the rule alone and through a real PostgreSQL,
// where every night is booked twice and sums of business days have to follow.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exactAmount } from '../../src/core/money.js';
import type { BookedMovement } from '../../src/core/movements/bookEntries.js';
import { bookEntries } from '../../src/core/movements/bookEntries.js';
import type { GatewayState } from '../../src/core/orders/order.js';
import type { Database } from '../../src/database/db.js';
import { bookMovements } from '../../src/movements/bookMovements.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { MovementNight } from '../support/movementCases.js';
import { movementCases } from '../support/movementCases.js';
import { storeRun } from '../support/snapshotStore.js';

const ACCOUNT = 'A1';
const LIVE_FROM = new Date('2026-11-01T00:00:00Z');
const config = {
  settlement: { from: '2026-11-10' },
  schedule: { timezone: 'UTC', cutOff: '00:00' },
} as never;

const hundredths = (text: string): bigint => exactAmount(`${text}.00`);

function readShown(shown: string) {
  const [state = '', amount = '0', currency = 'EUR'] = shown.split(' ');
  return { state: state as GatewayState, amount: hundredths(amount), currency };
}

function words(book: readonly Omit<BookedMovement, 'movementId'>[]): string {
  const line = ({ kind, made, amount, currency }: (typeof book)[number]): string => {
    const known = amount === null ? '?' : String(amount / 100n);
    return `${kind} ${made} ${known}${currency === 'EUR' ? '' : ` ${currency}`}`;
  };
  return book.map(line).join(', ');
}

/** What an unknown instruction may have made. */
const UNDECIDED = { capture: ['captured'], refund: ['refunded'], cancel: [] } as const;

describe('the rule', () => {
  test.each(movementCases)('$name', ({ nights }) => {
    const book: BookedMovement[] = [];
    const add = (movement: Omit<BookedMovement, 'movementId'>): void => {
      book.push({ ...movement, movementId: String(book.length) });
    };
    for (const night of nights) {
      for (const one of night.ours ?? []) {
        const [operation, amount = '0'] = one.split(' ');
        const kind = operation === 'capture' ? 'captured' : 'refunded';
        add({ kind, made: 'here', currency: 'EUR', amount: hundredths(amount) });
      }
      if (night.shown !== undefined && !night.torn) {
        const shown = {
          ...readShown(night.shown),
          undecided: UNDECIDED[night.unknown ?? 'cancel'],
          requested: hundredths(night.requested ?? '0'),
        };
        for (const entry of bookEntries({ ...shown, booked: book })) {
          const { amount } = entry;
          if (entry.what === 'known') {
            const movement = book[Number(entry.movementId)];
            if (movement) movement.amount = amount;
          } else {
            add({ kind: entry.kind, made: 'elsewhere', currency: shown.currency, amount });
          }
        }
        expect(bookEntries({ ...shown, booked: book })).toEqual([]);
      }
      expect(words(book)).toBe(night.want);
    }
  });
});

describe('through the database', () => {
  let fresh: FreshDatabase;
  let db: Database;
  beforeAll(async () => {
    fresh = await freshDatabase();
    db = fresh.db;
  });
  afterAll(() => fresh.drop());

  test('every case comes to the same, booked twice a night', async () => {
    // The first night of the book, on which nothing was shown.
    await night([]);
    const length = Math.max(...movementCases.map(({ nights }) => nights.length));
    for (let at = 0; at < length; at += 1) {
      const seen = movementCases.flatMap(({ name, nights }) => {
        const one = nights[at];
        return one === undefined ? [] : [{ name, ...one }];
      });
      await night(seen);
      const books = await booksByOrder();
      expect(seen.map(({ name }) => `${name}: ${books.get(name) ?? ''}`)).toEqual(
        seen.map(({ name, want }) => `${name}: ${want}`),
      );
      await expectSums();
    }
    const { rows } = await db.query('select 1 from tieout.movements where is_history');
    expect(rows).toEqual([]);
  });

  test('what the first look at an order of before finds done is history, on any night', async () => {
    const placedOn = '2026-10-01';
    const known = { name: 'reserved first', placedOn, want: '' };
    await night([{ ...known, shown: 'authorised 100' }]);
    const late = { name: 'brought back', placedOn, want: '' };
    await night([
      { ...known, shown: 'captured 100' },
      { ...late, shown: 'captured 100' },
      { ...late, name: 'refunded by then', shown: 'partially_refunded 100' },
    ]);
    // So many nights that no look of the last ones has it.
    for (let nights = 0; nights < 8; nights += 1) await night([]);
    await night([{ ...late, shown: 'refunded 100' }]);
    const { rows } = await db.query<{ line: string }>(
      `select concat_ws(' ', order_no, kind, amount, is_history) as line from tieout.movements
       where order_no = any ($1) order by movement_id`,
      [['reserved first', 'brought back', 'refunded by then']],
    );
    expect(rows.map(({ line }) => line)).toEqual([
      'brought back captured 100.00 t',
      'reserved first captured 100.00 f',
      'refunded by then captured 100.00 t',
      'refunded by then refunded t',
      'brought back refunded 100.00 f',
    ]);
  });

  test('a request is not believed where a journal names a permit for another sum', async () => {
    const lost = (name: string, refundId: string, amount: string) =>
      db.query(
        `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,
           refund_id, transaction_id, currency, amount, sent_at, host, found_at)
         values (gen_random_uuid(), 0, $1, 'refund', $2, $3, 'T ' || $2, 'EUR', $4, now(), 'b', now())`,
        [ACCOUNT, name, refundId, amount],
      );
    await lost('lost another', 'R1', '54.00');
    // tried a second time: it is one request all the same
    await lost('lost the same', 'R2', '40.00');
    await lost('lost the same', 'R2', '40.00');
    const names = ['lost another', 'lost the same'];
    const of = (name: string) => ({ name, requested: '40', want: '' });
    await night(names.map((name) => ({ ...of(name), shown: 'captured 100' })));
    await night(names.map((name) => ({ ...of(name), shown: 'partially_refunded 100' })));
    const books = await booksByOrder();
    expect(names.map((name) => books.get(name))).toEqual([
      'captured elsewhere 100, refunded elsewhere ?',
      'captured elsewhere 100, refunded elsewhere 40',
    ]);
  });

  type Seen = MovementNight & { name: string; placedOn?: string };

  async function night(seen: readonly Seen[]): Promise<void> {
    const runId = await storeRun(db, ACCOUNT);
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.instructions set state = 'withdrawn', reason = 'not ours', settled_at = now()
         where state = 'unknown'`,
      );
      await tx.query(
        `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
           currency, amount, refund_id, refund_amount, from_state, done_states, state, created_at,
           settled_at, settled_run_id, reason)
         select $1::bigint, $2, order_no, operation, 'T ' || order_no, 'EUR', amount,
           case when operation = 'refund' then gen_random_uuid()::text end,
           case when operation = 'refund' then amount end, 'x', array['y'], state, now(),
           case when state = 'confirmed' then now() end, case when state = 'confirmed' then $1::bigint end,
           case when state = 'unknown' then 'no answer' end
         from jsonb_to_recordset($3::jsonb) as i (order_no text, operation text, amount numeric,
           state text)`,
        [runId, ACCOUNT, JSON.stringify(seen.flatMap(instructionsOf))],
      );
    });
    const { rows } = await db.query<{ pull_id: bigint }>(
      `insert into tieout.pulls (run_id, kind, as_of, finished_at) values ($1, 'night', now(), now())
       returning pull_id`,
      [runId],
    );
    const pullId = rows[0]?.pull_id;
    await db.query('update tieout.run_accounts set pull_id = $2 where run_id = $1', [
      runId,
      pullId,
    ]);
    await db.query(
      `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, placed_at)
       select $1, $2, name, 0, true, coalesce("placedOn", '2026-11-15')
       from jsonb_to_recordset($3::jsonb) as a (name text, "placedOn" timestamptz)`,
      [pullId, ACCOUNT, JSON.stringify(seen)],
    );
    await db.query(
      `insert into tieout.asked_refunds (pull_id, account_id, order_no, refund_id, refund_amount,
         requested_at)
       select $1, $2, name, 'R ' || name, requested, '2026-10-01'
       from jsonb_to_recordset($3::jsonb) as r (name text, requested numeric)
       where requested is not null`,
      [pullId, ACCOUNT, JSON.stringify(seen)],
    );
    await db.query(
      `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
         is_asked, transaction_id, currency, amount, state, payment_status, found, fraud_rejected)
       select $1, $2, 0, position, order_no, is_extra, true, 'T ' || order_no, currency, amount,
         state, '1', true, false
       from jsonb_to_recordset($3::jsonb) as e (position int, order_no text, is_extra boolean,
         currency text, amount numeric, state text)`,
      [pullId, ACCOUNT, JSON.stringify(seen.flatMap(entriesOf))],
    );
    const business = await db.query<{ date: string }>(
      'select business_date::text as date from tieout.runs where run_id = $1',
      [runId],
    );
    const run = {
      db,
      runId,
      businessDate: business.rows[0]?.date ?? '',
      accounts: [{ accountId: ACCOUNT, liveFrom: LIVE_FROM }],
    } as never;
    await bookMovements({ config }, run);
    const rowsOf = `select (select count(*) from tieout.movements) || ' '
      || (select count(*) from tieout.movement_amounts) as rows`;
    const once = (await db.query(rowsOf)).rows;
    await bookMovements({ config }, run);
    expect((await db.query(rowsOf)).rows).toEqual(once);
  }

  function instructionsOf({ name, ours = [], unknown }: Seen) {
    const done = ours.map((one) => {
      const [operation, amount] = one.split(' ');
      return { order_no: name, operation, amount, state: 'confirmed' };
    });
    if (!unknown) return done;
    return [...done, { order_no: name, operation: unknown, amount: '100', state: 'unknown' }];
  }

  function entriesOf({ name, shown, torn }: Seen, position: number) {
    if (shown === undefined) return [];
    const [state, amount, currency = 'EUR'] = shown.split(' ');
    const entry = { position, order_no: name, is_extra: false, currency, amount, state };
    const other = { ...entry, position: position + 1_000, is_extra: true, state: 'authorised' };
    return torn ? [entry, other] : [entry];
  }

  async function booksByOrder(): Promise<Map<string, string>> {
    const { rows } = await db.query<BookedMovement & { order_no: string; known: string | null }>(
      `select order_no, kind, made, currency, amount::text as known from tieout.movements_now
       order by movement_id`,
    );
    const books = new Map<string, string>();
    for (const { order_no, known, ...movement } of rows) {
      const line = words([{ ...movement, amount: known === null ? null : exactAmount(known) }]);
      const before = books.get(order_no);
      books.set(order_no, before === undefined ? line : `${before}, ${line}`);
    }
    return books;
  }

  /** What business days come to is what the book holds by now. */
  async function expectSums(): Promise<void> {
    const { rows } = await db.query(
      `select currency, operation, sum(amount) as amount, sum(movements) as movements
       from tieout.day_sums
       where operation like '%elsewhere' or operation = 'suspense'
       group by 1, 2 having sum(amount) <> 0 or sum(movements) <> 0
       except
       select currency, kind || '_elsewhere', sum(coalesce(amount, 0)), count(*)
       from tieout.movements_now where made = 'elsewhere' group by 1, 2
       except
       select currency, 'suspense', 0.00, count(*)
       from tieout.movements_now where amount is null group by 1, 2`,
    );
    expect(rows).toEqual([]);
  }
});

describe('what cannot be changed', () => {
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  afterAll(() => fresh.drop());

  test('movements and amounts are facts, and closed days gain nothing', async () => {
    const { db } = fresh;
    const runId = await storeRun(db, ACCOUNT);
    await db.query(
      `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount,
         made, business_date, run_id, is_history)
       values ($1, 'O1', 'T1', 'captured', 'EUR', 10, 'elsewhere', '2026-11-19', $2, false)`,
      [ACCOUNT, runId],
    );
    const amounts = `insert into tieout.movement_amounts (movement_id, amount, known_by,
      business_date) select movement_id, 5, 'settlement', '2026-11-19' from tieout.movements`;
    await db.query(amounts);
    await expect(db.query('update tieout.movements set amount = 11')).rejects.toThrow('history');
    await expect(db.query('delete from tieout.movements')).rejects.toThrow('history');
    await expect(db.query('update tieout.movement_amounts set amount = 1')).rejects.toThrow(
      'history',
    );
    await expect(db.query('delete from tieout.movement_amounts')).rejects.toThrow('history');
    await db.query(
      `insert into tieout.day_events (account_id, business_date, event, by, is_claim, reason,
         figures, open_items) values ($1, '2026-11-19', 'closed', 'anna', true, 'month', '{}', '{}')`,
      [ACCOUNT],
    );
    await expect(db.query(amounts)).rejects.toThrow('closed');
  });
});
