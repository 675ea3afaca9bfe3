// Which orders a run looks at: entered with their ledger rows, cut into pages. Of a large account
// the newest are entered first, and asked right here while all others are entered and workers
// start. Should the process die in between, that look is no account's: the run begins another.
// Neighbours: pull.ts, cutPages.ts, ledgerFeed.ts.

import { profileDigest } from '../config/view.js';
import type { Tx } from '../database/db.js';
import { QUERY_ORDERS_MAX } from '../gateway/document/messages.js';
import type { OrderKey } from '../ledger/ledgerFeedStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules, lookbackFrom } from '../runs/deps.js';
import { noteSnapshot } from '../runs/runAccountsStore.js';
import { cutOf, cutPages, namesOrders } from './cutPages.js';
import { askVanished, keepLedger } from './ledgerFeed.js';
import type { ChunkDeps } from './pullChunk.js';
import { pullChunk } from './pullChunk.js';
import {
  askRepeated,
  newestOrders,
  repeatedOrders,
  repeatedRefunds,
} from './snapshot/ledgerKeysStore.js';
import type { AskedPart, Snapshot } from './snapshot/snapshotsStore.js';
import { ALL_ORDERS, askLive, CHUNK_PAGES_MAX, createPull } from './snapshot/snapshotsStore.js';

export type AskDeps = ChunkDeps & Pick<RunDeps, 'jobs'>;

/** Two chunks: about as much as is asked while another 100,000 orders are entered. */
const FIRST_ORDERS = 2 * CHUNK_PAGES_MAX * QUERY_ORDERS_MAX;

/** What a snapshot has begun with. */
interface Begun {
  snapshot: Snapshot;
  vanished: readonly OrderKey[];
  /** behind which order everything is entered; null: all of it is */
  newest: OrderKey | null;
  chunkIds: readonly bigint[];
}

/** A snapshot whose orders are entered. */
export interface EnteredSnapshot {
  snapshot: Snapshot;
  /** ends with what is asked right here, well or not */
  asked: Promise<unknown>;
}

export async function askOrders(
  deps: AskDeps,
  run: Run,
  firstOrders = FIRST_ORDERS,
): Promise<EnteredSnapshot> {
  const begun = await deps.db.transaction((tx) => begin(deps, run, tx, firstOrders));
  const { snapshot, newest, chunkIds } = begun;
  if (newest === null) return { snapshot, asked: Promise.resolve() };
  const asked = askHere(deps, chunkIds);
  try {
    const others = { ...ALL_ORDERS, allBut: newest };
    await deps.db.transaction((tx) => enterLast(deps, run, tx, begun, others));
  } catch (error) {
    await asked;
    throw error;
  }
  return { snapshot, asked };
}

/** Asked by this process; what is not stored then waits again, and the pull enqueues it. */
export async function askHere(deps: AskDeps, chunkIds: readonly bigint[]): Promise<void> {
  const own = untilStopped(deps);
  const asking = chunkIds.map((id) => deps.jobs.during(() => pullChunk(own, id)));
  await Promise.allSettled(asking);
}

/** Workers are given some time to end in; what is asked right here ends with the present pages. */
function untilStopped(deps: ChunkDeps): ChunkDeps {
  const queryPage: RunDeps['gateway']['queryPage'] = async (...question) => {
    await deps.sleep(0);
    return deps.gateway.queryPage(...question);
  };
  return { ...deps, gateway: { ...deps.gateway, queryPage } };
}

/** The newest orders of a large account, else all there are. */
async function begin(deps: AskDeps, run: Run, tx: Tx, firstOrders: number): Promise<Begun> {
  const accountIds = accountIdsOf(run);
  const snapshot = await createPull(tx, run.runId, 'night', profileDigest(deps.config));
  const vanished = await askVanished(deps, run, tx, snapshot);
  const newest = namesOrders(deps) ? await newestOrders(tx, accountIds, firstOrders) : null;
  const begun = { snapshot, vanished, newest, chunkIds: [] };
  if (newest === null) {
    await enterLast(deps, run, tx, begun, ALL_ORDERS);
    return begun;
  }
  await enter(deps, run, tx, snapshot, { ...ALL_ORDERS, behind: newest });
  return { ...begun, chunkIds: await cutPages(deps, tx, snapshot.pullId, accountIds) };
}

/** What is left of the orders, and that this snapshot is the newest of its accounts. */
async function enterLast(
  deps: AskDeps,
  run: Run,
  tx: Tx,
  { snapshot, vanished }: Begun,
  part: AskedPart,
): Promise<void> {
  const accountIds = accountIdsOf(run);
  await enter(deps, run, tx, snapshot, part);
  await cutPages(deps, tx, snapshot.pullId, accountIds);
  await keepLedger(deps, run, tx, { snapshot, vanished });
  await noteSnapshot(tx, run.runId, accountIds, snapshot);
}

async function enter(
  deps: AskDeps,
  run: Run,
  tx: Tx,
  { pullId }: Snapshot,
  part: AskedPart,
): Promise<void> {
  const accountIds = accountIdsOf(run);
  const orders = await repeatedOrders(tx, accountIds);
  const refunds = await repeatedRefunds(tx, accountIds);
  await askLive(
    tx,
    pullId,
    accountRules(run.accounts),
    { endsAt: run.endsAt, lookbackFrom: lookbackFrom(deps, run) },
    cutOf(deps),
    { orders, refunds },
    part,
  );
  await askRepeated(tx, pullId, orders, cutOf(deps));
}
