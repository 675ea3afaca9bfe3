// The work of one pull job: up to a hundred pages of one account. Pages are asked concurrently,
// only failed ones again; all answers of the chunk are stored in one transaction at the end, so
// that a chunk is answered whole or not at all. No network call happens inside that transaction.

import { messageOf } from '../core/errors.js';
import { unreadablePlace, unreadableReason } from '../core/runs/unreadable.js';
import type { Account } from '../gateway/account.js';
import type { QueryEntry } from '../gateway/query/decode.js';
import { keepingOn } from '../processes/keepingOn.js';
import type { RunDeps } from '../runs/deps.js';
import { noAccountHere, otherReading } from '../runs/environment.js';
import { readingOfChunk } from '../runs/runsStore.js';
import { askPage, storedBody } from './askPage.js';
import { hasRested, leaveToOthers } from './otherWorkers.js';
import type { Patience } from './outage.js';
import { askPatiently, isForOthers, isWithoutWay, openPatience } from './outage.js';
import type { ScanDeps } from './scanPages.js';
import { scanPages } from './scanPages.js';
import type { StoredPage } from './snapshot/pagesStore.js';
import type { AskedPage, ChunkRow } from './snapshot/snapshotsStore.js';
import {
  claimChunk,
  commitChunk,
  giveBackChunk,
  keepChunk,
  pagesOfChunk,
} from './snapshot/snapshotsStore.js';
import { snapshotLines } from './snapshotLines.js';

export type ChunkDeps = ScanDeps & Pick<RunDeps, 'newId'>;

/** After so many pages in a row without a connection, or a word, the rest is not asked. */
const UNREACHABLE_PAGES_MAX = 4;
const KEEP_EVERY_MS = 10_000;

/** Works on a chunk unless somebody else has it or it is done. Safe to be called twice. */
export async function pullChunk(deps: ChunkDeps, chunkId: bigint): Promise<void> {
  const reading = await readingOfChunk(deps.db, chunkId);
  const mismatch = reading === null ? null : otherReading(deps.config, reading);
  if (mismatch !== null) {
    deps.log(`pages ${chunkId} are left to other workers: ${mismatch}`, { level: 'warn' });
    return;
  }
  if (!(await hasRested(deps))) return;
  const token = deps.newId();
  const chunk = await claimChunk(deps.db, chunkId, token, deps.runner.host);
  if (!chunk) return;
  let lost = false;
  // By a clock of its own: a page alone may take longer than a chunk is left to who shows no life.
  const letGo = keepingOn(async () => {
    lost ||= !(await keepChunk(deps.db, chunkId, token));
  }, KEEP_EVERY_MS);
  try {
    await workOn(deps, chunk, token, () => lost);
  } catch (error) {
    await giveBackChunk(deps.db, chunk, token, `tieout failed: ${messageOf(error)}`);
    throw error;
  } finally {
    letGo();
  }
}

async function workOn(
  deps: ChunkDeps,
  chunk: ChunkRow,
  token: string,
  isLost: () => boolean,
): Promise<void> {
  const account = deps.config.accounts.find((one) => one.accountId === chunk.accountId);
  // Asked before the claim, so that it is not met.
  if (!account) throw new Error(noAccountHere(chunk.accountId));
  if (deps.config.gateway.profile.query.select !== 'order_list') {
    await scanPages(deps, { chunk, token, account, isLost });
    return;
  }
  const asked = await pagesOfChunk(deps.db, chunk);
  const patience = openPatience(deps, chunk, account, isLost);
  const reach = { failedInARow: 0, isUnreached: false };
  const pages = await askPages(deps, { chunk, account, asked, patience, reach, isLost });
  if (pages === null) return;
  if (await isForOthers(deps, chunk, patience, reach)) {
    await leaveToOthers(deps, chunk, token);
  } else if (!(await commitChunk(deps.db, chunk, token, pages))) {
    deps.log(`chunk ${chunk.chunkId} was taken over by another worker; its answers are dropped`);
  }
}

interface ChunkWork {
  chunk: ChunkRow;
  account: Account;
  asked: readonly AskedPage[];
  patience: Patience;
  /** `isUnreached`: a page found no way to the gateway */
  reach: { failedInARow: number; isUnreached: boolean };
  isLost: () => boolean;
}

/**
 * Asks all pages; null when the lease was lost. The client lets as many at once through as the
 * profile allows; twice as many wait here, so that a free connection never goes to a later chunk
 * while this one has pages to ask. A chunk is stored while the next one is asked.
 */
async function askPages(deps: ChunkDeps, work: ChunkWork): Promise<StoredPage[] | null> {
  const { limits } = deps.config.gateway.profile;
  const stored: StoredPage[] = [];
  let next = 0;
  const askInTurn = async (): Promise<void> => {
    for (let page = work.asked[next++]; page && !work.isLost(); page = work.asked[next++]) {
      stored.push(await askedPage(deps, work, page));
    }
  };
  await Promise.all(Array.from({ length: 2 * limits.concurrency }, askInTurn));
  return work.isLost() ? null : stored;
}

async function askedPage(deps: ChunkDeps, work: ChunkWork, page: AskedPage): Promise<StoredPage> {
  const { pageNo, orderNos } = page;
  const { account, chunk, reach } = work;
  const mayGoOn = (): boolean => reach.failedInARow < UNREACHABLE_PAGES_MAX;
  const answer = await askPatiently(work.patience, () =>
    askPage(deps, account, { kind: 'orders', orderNos }, chunk.chunkId, mayGoOn),
  );
  const { attempts } = answer;
  if (answer.kind === 'failed') {
    if (!answer.reachable && attempts > 0) reach.failedInARow += 1;
    reach.isUnreached ||= isWithoutWay(answer, work.patience);
    return { pageNo, orders: orderNos.length, attempts, answered: null, reason: answer.reason };
  }
  reach.failedInARow = 0;
  const { entries, unreadable, body } = answer.result;
  const lines = snapshotLines(deps.config.gateway.profile, work.chunk, page, entries);
  return {
    pageNo,
    orders: orderNos.length,
    attempts,
    reason: null,
    answered: {
      at: answer.at,
      entries: entries.length,
      unasked: lines.unasked,
      copyText: lines.text,
      ...storedBody(body),
    },
    ...(unreadable === undefined ? {} : { unread: unreadOf(page, entries, unreadable) }),
  };
}

/** Orders that an entry without a name may be about: those of its page that have none. */
function unreadOf(
  { pageNo, orderNos }: AskedPage,
  entries: readonly QueryEntry[],
  unreadable: readonly number[],
): NonNullable<StoredPage['unread']> {
  const shown = new Set(entries.map((entry) => entry.orderNo));
  const places = unreadable.map((position) => unreadablePlace(pageNo, position));
  return {
    orderNos: orderNos.filter((orderNo) => !shown.has(orderNo)),
    reason: unreadableReason(places),
  };
}
