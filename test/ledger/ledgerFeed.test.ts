// A ledger that is not whole never ties, what leaves it is missed, what changes in it is kept; and a
// code that the gateway uses for the first time is named. Whole nights against the sandbox.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunSummary, runSentence, workedOutOpenAfter } from '../../src/core/runs/summary.js';
import { ledgerTrouble } from '../../src/ledger/ledgerTroubleStore.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { statusCodesSeen } from '../../src/pull/snapshot/statusCodesStore.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const DATE = dateOf(1);
let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 120, seed: 3, inLedger: kinds({ plain: 40 }) });
});
afterAll(() => house.end());

async function night(): Promise<RunSummary> {
  const result = await house.run({ date: DATE });
  return result.summary;
}

describe('control totals of the ledger', () => {
  it('are not asked for where the merchant keeps none', async () => {
    const summary = await night();
    expect(summary.state).toBe('tied_out');
    expect(summary.notices).toBeUndefined();
  });

  it('that are equal change nothing', async () => {
    await house.db.query(
      `insert into ledger.control_totals
       select account_id, $1::date, currency, count(*), sum(amount), now() - interval '1 hour'
       from ledger.orders where placed_at >= $1::date and placed_at < $1::date + 1
       group by account_id, currency`,
      [DATE],
    );
    const summary = await night();
    expect(summary.state).toBe('tied_out');
    const { rows } = await house.db.query(
      `select distinct verdict from tieout.feed_checks where ledger_count > 0`,
    );
    expect(rows).toEqual([{ verdict: 'equal' }]);
  });

  it.each([
    ['different', `update ledger.control_totals set count = count + 1`, 'its feed states'],
    ['unfinished', `update ledger.control_totals set complete_at = null`, 'is not complete yet'],
    [
      'absent for a currency',
      `delete from ledger.control_totals where currency = 'EUR'`,
      'ledger.control_totals states none',
    ],
    [
      'absent for the date',
      `update ledger.control_totals set business_date = business_date - 1`,
      'states nothing of this date',
    ],
  ])('that are %s make the run incomplete, in words', async (_name, change, words) => {
    const { rows: kept } = await house.db.query('select * from ledger.control_totals');
    await house.db.query(change);
    const summary = await night();
    await house.db.query('delete from ledger.control_totals');
    await house.db.query(
      `insert into ledger.control_totals
       select * from jsonb_populate_recordset(null::ledger.control_totals, $1::jsonb)`,
      [JSON.stringify(kept, (_key, value) => (typeof value === 'bigint' ? String(value) : value))],
    );
    expect(summary.state).toBe('incomplete');
    expect(summary.notices?.map((notice) => notice.text).join('\n')).toContain(words);
    expect(runSentence(summary)).toMatch(
      /incomplete: the ledger of A\d+(?: and A\d+)* for [\d-]+ is not known/,
    );
    expect(house.lines.join('\n')).toContain(words);
  });
});

describe('control totals that were kept, and are gone', () => {
  const GONE = `alter table ledger.control_totals rename to shop_totals`;
  const BACK = `alter table ledger.shop_totals rename to control_totals`;

  it.each([
    ['a feed that broke off', 'delete from ledger.control_totals'],
    ['a view that forgets them', `${GONE}; ${viewOf({}, 'where false')}`],
  ])('make the run incomplete, and each after it: %s', async (_name, change) => {
    const { rows: kept } = await house.db.query('select * from ledger.control_totals');
    await house.db.query(change);
    for (const turn of [1, 2]) {
      const summary = await night();
      expect([turn, summary.state]).toEqual([turn, 'incomplete']);
      expect(summary.notices?.map((notice) => notice.text).join('\n')).toContain(
        'states nothing of this date',
      );
    }
    if (change.includes('view')) {
      await house.db.query(`drop view ledger.control_totals; ${BACK}`);
    } else {
      await house.db.query(
        `insert into ledger.control_totals
         select * from jsonb_populate_recordset(null::ledger.control_totals, $1::jsonb)`,
        [JSON.stringify(kept, (_key, one) => (typeof one === 'bigint' ? String(one) : one))],
      );
    }
    expect((await night()).state).toBe('tied_out');
  });

  it.each([
    ['of other types', { account_id: 'account_id::name', count: 'count::text' }, 'tied_out'],
    ['as floats', { count: 'count::float8', amount: 'amount::float8' }, 'tied_out'],
    ['dated by texts', { business_date: 'business_date::text' }, 'tied_out'],
    ['with times as texts', { complete_at: "'2026-01-01T00:00:00Z'::text" }, 'tied_out'],
    ['whose number is none', { count: `'NaN'::numeric` }, 'incomplete'],
    ['whose number is too large', { count: '1e30::numeric' }, 'incomplete'],
    ['of accounts that are numbers', { account_id: '7' }, 'incomplete'],
  ])('are read through a view %s', async (_name, change, state) => {
    await house.db.query(`${GONE}; ${viewOf(change)}`);
    const summary = await night();
    await house.db.query(`drop view ledger.control_totals; ${BACK}`);
    expect(summary.state).toBe(state);
  });

  it.each([
    ['', 'ledger.control_totals cannot be read'],
    [viewOf({ amount: 'amount / (count - count)' }), 'fails for its column amount'],
    [viewOf({ amount: 'complete_at' }), 'its column amount must be a number'],
  ])('fail the night with the name of the relation: %s', async (view, words) => {
    await house.db.query(`${GONE}; ${view}`);
    await expect(night()).rejects.toThrow(words);
    await house.db.query(`drop view if exists ledger.control_totals; ${BACK}`);
  });

  it('are missed no more once a line names a date that lies ahead', async () => {
    await house.db.query(
      `update ledger.control_totals set business_date = '2999-12-31', count = null, amount = null`,
    );
    expect((await night()).state).toBe('tied_out');
    await house.db.query(`delete from ledger.control_totals; ${GONE}`);
    expect((await night()).state).toBe('tied_out');
    expect(await ledgerTrouble(house.db)).toBeNull();
    await house.db.query(BACK);
  });
});

/** A view in the place of the totals, with columns of its own. */
function viewOf(change: Record<string, string>, where = ''): string {
  const columns = ['account_id', 'business_date', 'currency', 'count', 'amount', 'complete_at'];
  return `create view ledger.control_totals as
    select ${columns.map((name) => `${change[name] ?? name} as ${name}`).join(', ')}
    from ledger.shop_totals ${where}`;
}

describe('a row that leaves the ledger', () => {
  it('is a break while the gateway has the order, until the row is back', async () => {
    const old = new Date(Date.now() - 2 * 86_400_000).toISOString();
    const order = house.seeded.find(({ ledger }) => (ledger.placed_at ?? '') < old)?.ledger;
    if (!order) throw new Error('no order past the grace was seeded');
    const key = [order.account_id, order.order_no];
    const { rows: gone } = await house.db.query(
      'delete from ledger.orders where account_id = $1 and order_no = $2 returning *',
      key,
    );
    const summary = await night();
    const [{ kinds: found, left } = { kinds: [], left: 0n }] = (
      await house.db.query<{ kinds: string[]; left: bigint }>(
        `select array(select kind from tieout.breaks where account_id = $1 and order_no = $2
           and state = 'open') as kinds,
           (select count(*) from tieout.ledger_changes where account_id = $1 and order_no = $2
           and kind = 'left') as left`,
        key,
      )
    ).rows;
    expect(found).toEqual(['missing_in_ledger']);
    expect(left).toBe(1n);
    expect(summary.notices?.[0]?.text).toMatch(/1 order left the ledger/);
    const hints = await house.db.query('select from tieout.look_hints');
    expect(hints.rows).toEqual([]);
    await house.db.query(
      `insert into ledger.orders
       select * from jsonb_populate_recordset(null::ledger.orders, $1::jsonb)`,
      [JSON.stringify(gone)],
    );
    expect((await night()).state).toBe('tied_out');
    const { rows: events } = await house.db.query<{ cause: string }>(
      `select cause from tieout.break_events join tieout.breaks using (break_id)
       where event = 'resolved'`,
    );
    expect(events.map((event) => event.cause)).toEqual(['ledger']);
  });

  it('that only changes is kept as it was', async () => {
    const order = house.seeded[1]?.ledger;
    if (!order) throw new Error('no second order was seeded');
    await house.db.query(
      `update ledger.orders set amount = amount + 1 where account_id = $1 and order_no = $2`,
      [order.account_id, order.order_no],
    );
    await night();
    const history = await orderHistory(house.db, order.account_id, order.order_no);
    expect(history?.ledgerChanges).toMatchObject([
      { kind: 'changed', before: { amount: order.amount }, after: { expected: order.expected } },
    ]);
  });
});

describe('the words of the gateway', () => {
  it('are kept with their meaning, counts, money and samples', async () => {
    const words = await statusCodesSeen(house.db, null);
    const captured = words.find((one) => one.field === 'payment_status' && one.word === '3000');
    expect(captured).toMatchObject({ meaning: 'captured', nights: 1, firstSeen: DATE });
    expect(captured?.samples.length).toBeGreaterThan(0);
    expect(Object.keys(captured?.newestMoney ?? {})).toContain('EUR');
    expect(words.some((one) => one.field === 'query_result' && one.meaning === 'found')).toBe(true);
  });

  it('a code without a meaning is named, and stops its orders alone', async () => {
    const other = await buildHouse({
      orders: 200,
      seed: 3,
      inLedger: kinds({ plain: 5, unknown_status: 1 }),
    });
    try {
      const { summary } = await other.run({ date: DATE });
      const told = summary.notices?.find((notice) => notice.kind === 'new_word');
      expect(told?.text).toMatch(
        /new status code of the gateway, payment_status 7777: 1 entry, .* stop$/,
      );
      expect(runSentence(summary)).toContain(
        'new at the gateway, without a meaning in the profile: payment_status 7777',
      );
      const [unknown] = await statusCodesSeen(other.db, null);
      expect(unknown).toMatchObject({ word: '7777', meaning: null });
    } finally {
      await other.end();
    }
  });
});

describe('a person who decides while the night is summed up', () => {
  it('is in all of its figures or in none', async () => {
    const busy = await buildHouse({
      orders: 400,
      seed: 3,
      inLedger: kinds({ plain: 20, amount_mismatch: 3, state_mismatch: 2 }),
    });
    try {
      await busy.run({ date: dateOf(2) }).catch(() => {});
      await busy.run({ date: DATE });
      // Small waivers, one after the other, for as long as the next run of the date takes.
      let isOver = false;
      const deciding = (async () => {
        for (let turn = 0; !isOver; turn += 1) {
          await busy.db.query(turn % 2 === 0 ? WAIVE : REOPEN);
        }
      })();
      const summaries: RunSummary[] = [];
      for (let round = 0; round < 2; round += 1) {
        summaries.push((await busy.run({ date: DATE })).summary);
      }
      isOver = true;
      await deciding;
      for (const account of summaries.flatMap((summary) => summary.accounts)) {
        expect(workedOutOpenAfter(account.tie)).toBe(account.tie.openAfter);
        const open = Object.values(account.breaks).reduce<number>((sum, n) => sum + (n ?? 0), 0);
        expect(open).toBe(account.tie.openAfter);
      }
    } finally {
      await busy.end();
    }
  });
});

/** As breakDecisionsStore.ts does it: state and event in one statement. */
const WAIVE = `with waived as (
    update tieout.breaks set state = 'waived', waived_by = 'anna', waived_reason = 'x',
      waived_limit = 1e15
    where state = 'open' and kind = 'amount_mismatch' returning *)
  insert into tieout.break_events (break_id, at, event, from_state, by, currency, amount, expected,
    actual)
  select break_id, now(), 'waived', 'open', 'anna', currency, amount, expected, actual from waived`;
const REOPEN = `with reopened as (
    update tieout.breaks set state = 'open' where state = 'waived' returning *)
  insert into tieout.break_events (break_id, at, event, from_state, by, currency, amount, expected,
    actual)
  select break_id, now(), 'reopened', 'waived', 'anna', currency, amount, expected, actual
  from reopened`;
