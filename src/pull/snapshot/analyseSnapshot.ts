// What the planner has to know of a snapshot before the compare joins it, so that a night of a
// hundred orders and one of a million are each read in the way that suits it. Neighbour: pull.ts
// asks for it while the last pages come in.

import { analyse } from '../../database/analyse.js';
import { type Db, inTransaction, plannedBy } from '../../database/db.js';
import { partitionOf } from '../../database/monthPartitions.js';

const JOINED_BY = [
  ['asked_orders', 'pull_id', 'account_id', 'order_no', 'page_no', 'in_ledger'],
  ['asked_refunds', 'pull_id', 'account_id', 'order_no'],
  ['look_entries', 'pull_id', 'account_id', 'order_no', 'is_extra', 'is_asked'],
  ['pages', 'pull_id', 'account_id', 'page_no', 'state'],
] as const;

/**
 * The planner must know how much a snapshot has brought, or it joins it row by row. Only columns
 * that snapshots are joined by, and a third of the usual sample: how many rows there are of a
 * snapshot, an account, a page, and how few were not asked for, is all that it needs.
 */
export function analyseSnapshot(db: Db, pullId: bigint): Promise<void> {
  return inTransaction(db, async (tx) => {
    await plannedBy(tx, { default_statistics_target: '30' });
    for (const [relation, ...columns] of JOINED_BY) {
      await analyse(tx, partitionOf(relation, pullId), columns);
    }
  });
}
