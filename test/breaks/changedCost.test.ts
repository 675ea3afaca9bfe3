// What changed since the run before is asked on the first page of every morning: it costs by the
// breaks that something happened to, not by all that ever were. Counted in blocks read, on a table
// that grows while the same fifty breaks are touched.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { sumChanged } from '../../src/breaks/changedStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

const TOUCHED = 50;
const FEW = 2_000;
const MANY = 16_000;

let fresh: FreshDatabase;

beforeAll(async () => {
  fresh = await freshDatabase();
}, 60_000);
afterAll(() => fresh.drop());

/** A run that opens so many breaks more, and one that resolves fifty of them: its number. */
async function twoRuns(breaks: number): Promise<bigint> {
  const { db } = fresh;
  const sides = `'{"amount": "100.00"}'::jsonb, '{"amount": "90.00"}'::jsonb, 'EUR', 10`;
  const events = `insert into tieout.break_events (break_id, run_id, at, event, by, expected,
    actual, currency, amount)`;
  const first = await enterRun();
  await db.query(
    `with opened as (
       insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, fingerprint, expected, actual, currency, amount)
       select 'A1001', $1::bigint || '-' || n, 'amount_mismatch', 'open', now(), $1::bigint,
         $1::bigint, '', ${sides}
       from generate_series(1, $2::int) n
       returning break_id
     )
     ${events}
     select break_id, $1::bigint, now(), event, 'tieout', ${sides}
     from opened, unnest(array['opened', 'changed']) as event order by event desc, break_id`,
    [first, breaks],
  );
  await end(first);
  const second = await enterRun();
  await db.query(
    `${events}
     select break_id, $1::bigint, now(), 'resolved', 'tieout', ${sides}
     from (select break_id from tieout.breaks where first_run_id = $2::bigint
       order by hashint8(break_id) limit ${TOUCHED}) b`,
    [second, first],
  );
  await end(second);
  await db.query('analyze');
  return second;
}

async function enterRun(): Promise<bigint> {
  const { rows } = await fresh.db.query<{ id: bigint }>(
    `with made as (
       insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at, finished_at, summary)
       select day, array[day], now() - interval '1 day', now(), 'broken', 'test', '{}', '', '',
         now(), now(), '{}'
       from (select date '2026-11-01' + count(*)::int as day from tieout.runs) newest
       returning run_id, business_date
     )
     insert into tieout.run_accounts (run_id, account_id, business_date, state, events_after)
     select run_id, 'A1001', business_date, 'broken',
       coalesce((select max(event_id) from tieout.break_events), 0)
     from made returning run_id as id`,
  );
  const [made] = rows;
  if (made === undefined) throw new Error('no run was made');
  return made.id;
}

async function end(run: bigint): Promise<void> {
  await fresh.db.query(
    `update tieout.run_accounts
     set events_until = (select max(event_id) from tieout.break_events) where run_id = $1`,
    [run],
  );
}

interface Plan {
  'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

async function blocksRead(run: bigint): Promise<number> {
  const { rows } = await fresh.db.query<Plan>(
    `explain (analyze, buffers, format json)
     select change, sum(moved) from tieout.changed_breaks(${run}, '{A1001}') group by change`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (plan === undefined) throw new Error('no plan');
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

test('costs by what was touched, not by what there is', async () => {
  const few = await blocksRead(await twoRuns(FEW));
  const run = await twoRuns(MANY);
  expect(await sumChanged(fresh.db, run, ['A1001'])).toMatchObject([
    { change: 'resolved', breaks: TOUCHED, moved: '-500.00' },
  ]);
  expect(await blocksRead(run)).toBeLessThan(few * 2);
});
