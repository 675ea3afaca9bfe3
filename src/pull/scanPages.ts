// The pull where orders cannot be named one by one (profile query.select: window or none): the
// pages of a window are scanned until an empty one. Nothing says how many there are, so a page that
// repeats, overlaps another, is short in the middle, or never ends makes the whole snapshot
// of the account incomplete: it is never taken for "the gateway has no more".

import { createHash } from 'node:crypto';
import { unreadablePlace, unreadableReason } from '../core/runs/unreadable.js';
import type { Account } from '../gateway/account.js';
import { QUERY_ORDERS_MAX } from '../gateway/document/messages.js';
import type { QueryEntry } from '../gateway/query/decode.js';
import type { QuerySelection } from '../gateway/query/querySelection.js';
import type { RunDeps } from '../runs/deps.js';
import type { PageAnswer, PageDeps } from './askPage.js';
import { askPage, storedBody } from './askPage.js';
import { leaveToOthers } from './otherWorkers.js';
import type { OutageDeps, Patience } from './outage.js';
import { askPatiently, isForOthers, isWithoutWay, openPatience } from './outage.js';
import type { StoredPage } from './snapshot/pagesStore.js';
import { beginScan, finishScan, scanRange, storeScanned } from './snapshot/scansStore.js';
import type { ChunkRow } from './snapshot/snapshotsStore.js';
import { snapshotLines } from './snapshotLines.js';

export type ScanDeps = Pick<RunDeps, 'config' | 'db' | 'now'> & PageDeps & OutageDeps;

/** A window of more pages is taken for one that never ends. */
const SCAN_PAGES_MAX = 200_000;

/** Scans an account's pages and ends its chunk; the page that stands for the scan is number 0. */
export async function scanPages(
  deps: ScanDeps,
  { chunk, token, account, isLost }: Omit<ScanWork, 'patience'> & { token: string },
): Promise<void> {
  await beginScan(deps.db, chunk);
  const state: Scan = {
    pages: 0,
    seen: new Set(),
    isShort: false,
    isUnreached: false,
    at: deps.now(),
    unreadable: [],
  };
  const patience = openPatience(deps, chunk, account, isLost);
  const problem = await scan(deps, { chunk, account, patience, isLost }, state);
  if (problem !== null && (await isForOthers(deps, chunk, patience, state))) {
    await leaveToOthers(deps, chunk, token);
    return;
  }
  const unread = state.unreadable.length === 0 ? null : unreadableReason(state.unreadable);
  await finishScan(deps.db, chunk, token, { problem, at: state.at, unread });
}

interface Scan {
  pages: number;
  /** digests of the pages so far */
  seen: Set<string>;
  /** a page was not full: only an empty one may follow */
  isShort: boolean;
  /** it ended where the gateway was not reached */
  isUnreached: boolean;
  at: Date;
  /** where entries stand that name no order */
  unreadable: string[];
}

interface ScanWork {
  chunk: ChunkRow;
  account: Account;
  patience: Patience;
  isLost: () => boolean;
}

/** Null when the window was scanned to its end; else why it cannot be relied on. */
async function scan(deps: ScanDeps, work: ScanWork, state: Scan): Promise<string | null> {
  const { concurrency } = deps.config.gateway.profile.limits;
  const { lookbackDays } = deps.config.reconcile;
  const range = await scanRange(deps.db, work.chunk, lookbackDays);
  const isPaged = deps.config.gateway.profile.query.select === 'window';
  while (state.pages < SCAN_PAGES_MAX) {
    const ahead = isPaged ? concurrency : 1;
    const answers = await Promise.all(
      Array.from({ length: ahead }, (_, place) =>
        askPatiently(work.patience, () =>
          askPage(
            deps,
            work.account,
            selectionAt(isPaged, range, state.pages + place),
            work.chunk.chunkId,
          ),
        ),
      ),
    );
    const taken: StoredPage[] = [];
    const end = takePages(deps, work, state, answers, taken);
    const overlaps = await storeScanned(deps.db, work.chunk, taken);
    if (overlaps > 0) return `${overlaps} entries stand on more than one page: the pages shifted`;
    if (end.kind === 'problem') return end.reason;
    if (end.kind === 'done') return null;
    if (work.isLost()) return 'taken over';
    if (!isPaged) return notWhole(answers[0]);
  }
  return `more than ${SCAN_PAGES_MAX} pages: the window does not end`;
}

function selectionAt(
  isPaged: boolean,
  range: { from: Date; to: Date },
  pageNo: number,
): QuerySelection {
  return isPaged ? { kind: 'window', ...range, pageNo } : { kind: 'all' };
}

type End = { kind: 'more' } | { kind: 'done' } | { kind: 'problem'; reason: string };

/** Takes pages in their order until the end, or the first thing that is not as it should be. */
function takePages(
  deps: ScanDeps,
  work: ScanWork,
  state: Scan,
  answers: readonly PageAnswer[],
  taken: StoredPage[],
): End {
  let isOver = false;
  for (const answer of answers) {
    const pageNo = state.pages + 1;
    if (answer.kind === 'failed') {
      if (isOver) return { kind: 'done' };
      state.isUnreached = isWithoutWay(answer, work.patience);
      return { kind: 'problem', reason: answer.reason };
    }
    const { entries, unreadable = [] } = answer.result;
    if (isOver && entries.length > 0) {
      return { kind: 'problem', reason: `page ${pageNo} holds entries after an empty one` };
    }
    if (entries.length === 0) {
      isOver = true;
      continue;
    }
    const problem = pageProblem(state, entries, pageNo);
    if (problem !== null) return { kind: 'problem', reason: problem };
    state.pages += 1;
    state.unreadable.push(...unreadable.map((position) => unreadablePlace(pageNo, position)));
    taken.push(scannedPage(deps, work, pageNo, answer));
  }
  return isOver ? { kind: 'done' } : { kind: 'more' };
}

function pageProblem(state: Scan, entries: readonly QueryEntry[], pageNo: number): string | null {
  const ids = entries.map((entry) => `${entry.orderNo}\n${entry.transactionId}`).join('\n\n');
  const digest = createHash('sha256').update(ids).digest('base64');
  if (state.seen.has(digest)) return `page ${pageNo} repeats an earlier one`;
  state.seen.add(digest);
  if (state.isShort) return `a page before page ${pageNo} was not full`;
  // Pages count orders, and an order may have several entries. More than was asked for is no gap.
  state.isShort = new Set(entries.map((entry) => entry.orderNo)).size < QUERY_ORDERS_MAX;
  return null;
}

/** Without a selection there is one answer; a full one may be a part of more. */
function notWhole(answer: PageAnswer | undefined): string | null {
  const entries = answer?.kind === 'answered' ? answer.result.entries.length : 0;
  if (entries < QUERY_ORDERS_MAX) return null;
  return `the gateway answered ${entries} orders, which may not be all (query.select: none)`;
}

function scannedPage(
  deps: ScanDeps,
  work: ScanWork,
  pageNo: number,
  answer: Extract<PageAnswer, { kind: 'answered' }>,
): StoredPage {
  const { entries, body } = answer.result;
  const page = { pageNo, orderNos: [] };
  const lines = snapshotLines(deps.config.gateway.profile, work.chunk, page, entries);
  const kept = storedBody(body);
  return {
    pageNo,
    orders: 0,
    attempts: answer.attempts,
    reason: null,
    answered: { at: answer.at, entries: entries.length, unasked: 0, copyText: lines.text, ...kept },
  };
}
