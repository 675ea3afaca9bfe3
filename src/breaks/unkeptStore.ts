// Open breaks of settlement where tieout.yaml has the section no more: nothing resolves them.

import type { Config } from '../config/config.js';
import type { UnkeptBreaksFacts } from '../core/settlement/unkeptSettlement.js';
import type { Db } from '../database/db.js';

/** By account; none where settlement is kept. */
export async function unkeptBreaks(
  db: Db,
  config: Pick<Config, 'settlement'>,
  accountIds: readonly string[],
): Promise<UnkeptBreaksFacts[]> {
  if (config.settlement !== null) return [];
  const { rows } = await db.query<UnkeptBreaksFacts>(
    `select account_id as "accountId", jsonb_object_agg(kind, breaks order by kind) as breaks,
       (array_agg(sample order by oldest))[1] as sample
     from (
       select account_id, kind, count(*) as breaks, min(break_id) as oldest,
         (array_agg(order_no order by break_id))[1] as sample
       from tieout.breaks
       where account_id = any ($1) and state = 'open' and tieout.is_settlement_kind(kind)
       group by 1, 2) by_kind
     group by 1 order by 1`,
    [accountIds],
  );
  return rows;
}
