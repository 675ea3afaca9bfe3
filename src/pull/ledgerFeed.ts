// The ledger beside the snapshot that is about to be made: what left it is asked for once more,
// what changed is kept, and its control totals are compared where the merchant keeps any.

import type { Tx } from '../database/db.js';
import type { OrderKey } from '../ledger/ledgerFeedStore.js';
import {
  checkFeed,
  dropHints,
  hintVanished,
  keepLedgerChanges,
} from '../ledger/ledgerFeedStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, lookbackFrom } from '../runs/deps.js';
import type { Snapshot } from './snapshot/snapshotsStore.js';

/** Before the orders of a snapshot are entered: those that left the ledger are among them. */
export function askVanished(
  deps: Pick<RunDeps, 'config'>,
  run: Run,
  tx: Tx,
  snapshot: Snapshot,
): Promise<OrderKey[]> {
  return hintVanished(tx, accountIdsOf(run), lookbackFrom(deps, run), snapshot.asOf);
}

/** After they are entered, and before this snapshot counts as the newest. */
export async function keepLedger(
  deps: Pick<RunDeps, 'config'>,
  run: Run,
  tx: Tx,
  entered: { snapshot: Snapshot; vanished: readonly OrderKey[] },
): Promise<void> {
  const { snapshot, vanished } = entered;
  const accountIds = accountIdsOf(run);
  await dropHints(tx, vanished);
  await keepLedgerChanges(tx, run.runId, snapshot.pullId, accountIds, snapshot.asOf);
  const { timezone, cutOff } = deps.config.schedule;
  const days = { timezone, cutOff, dates: run.covers };
  await checkFeed(tx, run.runId, accountIds, days, snapshot.asOf);
}
