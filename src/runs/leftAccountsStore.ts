// What is unfinished of accounts that are not in the configuration any more: open breaks, and
// instructions that have not come to an end. It is named until it is finished. Refund requests of
// theirs are breaks of the run itself (compare/strayRefunds.sql).

import type { LeftAccountFacts } from '../core/runs/notices.js';
import type { Db } from '../database/db.js';

/** `accountIds` are those of the configuration. */
export async function leftAccounts(
  db: Db,
  accountIds: readonly string[],
): Promise<LeftAccountFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    states: Record<string, number>;
    breaks: number;
  }>(
    `with unfinished as (
       select account_id, state as what, count(*) as count from tieout.instructions
       where is_open and account_id <> all ($1) group by 1, 2
       union all
       select account_id, 'break', count(*) from tieout.breaks
       where state = 'open' and kind <> 'refund_without_order' and account_id <> all ($1)
       group by 1
     )
     select account_id,
       coalesce(jsonb_object_agg(what, count) filter (where what <> 'break'), '{}') as states,
       coalesce(sum(count) filter (where what = 'break'), 0)::int as breaks
     from unfinished group by 1 order by 1`,
    [accountIds],
  );
  return rows.map(({ account_id: accountId, ...row }) => ({ accountId, ...row }));
}

/** Those of which something was settled that no run has counted. */
export async function leftToCount(db: Db, accountIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from tieout.instructions
     where settled_at is not null and settled_run_id is null and account_id <> all ($1)
     order by account_id`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}

/** Those of which a sender left an attempt without an outcome. */
export async function leftInFlight(db: Db, accountIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from tieout.attempts
     where outcome is null and account_id <> all ($1) order by account_id`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}

/** No look shows any more what was accepted of them: a person has to say what became of it. */
export async function leaveAccepted(db: Db, accountIds: readonly string[]): Promise<void> {
  await db.query(
    `update tieout.instructions set state = 'unknown', changed_by = 'tieout', reason = $2
     where is_open and state = 'accepted' and operation <> 'payout' and account_id <> all ($1)`,
    [accountIds, 'the gateway accepted it, and its account left the configuration before a look'],
  );
}
