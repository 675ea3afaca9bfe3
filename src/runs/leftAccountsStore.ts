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
