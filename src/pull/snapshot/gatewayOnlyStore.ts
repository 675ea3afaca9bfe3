// Entries that nobody asked for and that have no ledger row: they become orders of the snapshot, so
// that each of them gets a verdict.

import type { Db } from '../../database/db.js';
import { relationsOf } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';

export async function addGatewayOnly(db: Db, pullId: bigint): Promise<void> {
  await db.query(statement('pull/snapshot/addGatewayOnly', relationsOf(db, pullId)), [pullId]);
}
