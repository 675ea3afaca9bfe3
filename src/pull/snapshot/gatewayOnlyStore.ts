// Entries that nobody asked for and that have no ledger row: they become orders of the snapshot, so
// that each of them gets a verdict.

import type { Db } from '../../database/db.js';
import { relationsOf } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';

/** `since` leaves older entries alone; null: none is too old. */
export async function addGatewayOnly(db: Db, pullId: bigint, since: Date | null): Promise<void> {
  const added = statement('pull/snapshot/addGatewayOnly', relationsOf(db, pullId));
  await db.query(added, [pullId, since]);
}
