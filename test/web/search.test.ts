// The search box on every page: an order is found by whatever number somebody has of it, in any
// case of letters; of accounts that the reader may not see nothing is found.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHORT_LIMITS } from '../../src/database/limits.js';
import { findOrders } from '../../src/orders/historyStore.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';
import { plantBreak } from './plantedBreaks.js';

interface Refund {
  account_id: string;
  order_no: string;
  transaction_id: string;
  refund_id: string;
  gateway_reference: string;
  refund_reference: string;
}

let console: ConsoleHouse;
let viewer: Visitor;
let refund: Refund;

beforeAll(async () => {
  console = await openConsole();
  viewer = await console.withRole('viewer');
  const { rows } = await console.app.db.query<Refund>(
    `select account_id, order_no, transaction_id, refund_id, gateway_reference, refund_reference
     from tieout.instructions
     where operation = 'refund' and state = 'confirmed' and refund_reference is not null limit 1`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('no refund was confirmed');
  refund = first;
}, 180_000);
afterAll(() => console.end());

const search = (text: string, who = viewer) => who.get(`/search?q=${encodeURIComponent(text)}`);
const pageOf = ({ account_id, order_no }: Refund) => `/orders/${account_id}/${order_no}`;

describe('search', () => {
  const numbers = ['order_no', 'transaction_id', 'refund_id', 'refund_reference'] as const;
  it.each([...numbers, 'gateway_reference' as const])('leads by %s to the order', async (key) => {
    for (const text of [refund[key], refund[key].toLowerCase(), refund[key].toUpperCase()]) {
      expect((await search(text)).headers.location, text).toBe(pageOf(refund));
    }
  });

  it('lists the orders that have a part of a number, and leads to none of them by itself', async () => {
    const answer = await search(refund.order_no.slice(0, -1).toLowerCase());
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain(`href="${pageOf(refund)}"`);
    expect(answer.body).toContain('has it in its number');
    const all = await search('-');
    expect(all.body.match(/<li>/g)).toHaveLength(50);
    expect(all.body).toContain('There are more than these 50');
  });

  it('finds an order of the ledger by its transaction, also where nothing was moved', async () => {
    const { rows } = await console.app.db.query<{
      account_id: string;
      order_no: string;
      tx: string;
    }>(
      `select account_id, order_no, transaction_id as tx from ledger.orders o
       where transaction_id is not null and not exists (
         select from tieout.instructions i where i.order_no = o.order_no) limit 1`,
    );
    const [order] = rows;
    expect((await search(order?.tx ?? '')).headers.location).toBe(
      `/orders/${order?.account_id}/${order?.order_no}`,
    );
  });

  it('finds what only the gateway is known to have, in the newest nights and in breaks', async () => {
    const { db } = console.app;
    const { rows } = await db.query<{ account_id: string; order_no: string; tx: string }>(
      `select distinct on (e.transaction_id) e.account_id, e.order_no, e.transaction_id as tx
       from tieout.look_entries e
       left join tieout.instructions i
         on (i.account_id, i.transaction_id) = (e.account_id, e.transaction_id)
       left join ledger.orders o on (o.account_id, o.order_no) = (e.account_id, e.order_no)
       where i.instruction_id is null and o.transaction_id is distinct from e.transaction_id
         and e.transaction_id is not null order by e.transaction_id limit 1`,
    );
    const [shown] = rows;
    expect((await search(shown?.tx.toLowerCase() ?? '')).headers.location).toBe(
      `/orders/${shown?.account_id}/${shown?.order_no}`,
    );
  });

  it('is given up after a time, and says so', async () => {
    const { db, config } = console.app;
    const accounts = config.accounts.map(({ accountId }) => accountId);
    const limits = { ...SHORT_LIMITS, statementMs: 20 };
    await db.query('alter table ledger.orders rename to orders_kept');
    await db.query(`create view ledger.orders as
      select * from ledger.orders_kept where pg_sleep(0.01)::text = ''`);
    try {
      expect(await findOrders(db, accounts, 'no such number', 5, limits)).toMatchObject({
        orders: [],
        isCut: true,
      });
    } finally {
      await db.query('drop view ledger.orders');
      await db.query('alter table ledger.orders_kept rename to orders');
    }
  });

  it('takes nothing for a pattern, and says where nothing is found', async () => {
    for (const text of ['%', '_____', "' or 1=1 --", 'no such number']) {
      expect((await search(text)).body, text).toContain('No order has this number');
    }
  });

  it('finds nothing of another account', async () => {
    const other = await console.withRole(
      'viewer',
      refund.account_id === 'A1001' ? 'A1002' : 'A1001',
    );
    for (const key of numbers) {
      const { statusCode, body } = await search(refund[key], other);
      expect([statusCode, body.includes(pageOf(refund))]).toEqual([200, false]);
    }
  });

  it('finds a break by the refund of its order, and by what the gateway calls it', async () => {
    await console.app.db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, fingerprint, expected, actual)
       select $1, $2, 'state_mismatch', 'open', now(), max(run_id), max(run_id), '', '{}', '{}'
       from tieout.runs`,
      [refund.account_id, refund.order_no],
    );
    for (const key of ['refund_id', 'refund_reference', 'gateway_reference'] as const) {
      const text = refund[key].slice(1).toLowerCase();
      const { body } = await viewer.get(`/breaks?state=any&text=${encodeURIComponent(text)}`);
      expect(body, key).toContain(`>${refund.order_no}</a>`);
    }
  });
});

describe('breaks of a code or currency that ends in a blank', () => {
  it('are other ones than those without it', async () => {
    const { db } = console.app;
    const planted = [
      ...[1, 2, 3].map((n) => [`BLANK${n}`, '7777 ', 'EU ']),
      ['PLAIN1', '7777', 'EU'],
    ] as [string, string, string][];
    for (const [orderNo, code, currency] of planted) {
      await plantBreak(db, { orderNo, seen: new Date(), kind: 'unknown_status', currency });
      await db.query(
        `update tieout.breaks set actual = jsonb_build_object('code', $2::text)
         where order_no = $1`,
        [orderNo, code],
      );
    }
    const counted = async (name: string, value: string) => {
      const query = new URLSearchParams({ kind: 'unknown_status', [name]: value });
      const { body } = await viewer.get(`/breaks?${query}`);
      return ['BLANK1', 'BLANK2', 'BLANK3', 'PLAIN1'].filter((order) => body.includes(order));
    };
    const { rows } = await db.query<{ cause: string }>(
      `select distinct cause from tieout.break_facts
       where order_no in ('BLANK1', 'PLAIN1') order by cause desc`,
    );
    const [blank, plain] = rows.map(({ cause }) => cause);
    expect([blank, plain]).toEqual(['unknown_status, code 7777 ', 'unknown_status, code 7777']);
    expect(await counted('cause', blank ?? '')).toEqual(['BLANK1', 'BLANK2', 'BLANK3']);
    expect(await counted('cause', plain ?? '')).toEqual(['PLAIN1']);
    expect(await counted('currency', 'EU ')).toEqual(['BLANK1', 'BLANK2', 'BLANK3']);
    expect(await counted('currency', 'EU')).toEqual(['PLAIN1']);
  });
});
