// One page of a query, asked until it is answered or the tries are used up, and the keeping of what
// came. A query moves nothing, so asking again is safe.

import { createHash } from 'node:crypto';
import { constants, gzipSync } from 'node:zlib';
import type { Account } from '../gateway/account.js';
import type { QueryResult } from '../gateway/query/query.js';
import type { QuerySelection } from '../gateway/query/querySelection.js';
import type { RunDeps } from '../runs/deps.js';

export type PageDeps = Pick<RunDeps, 'gateway' | 'now' | 'sleep'>;

/** A page is asked so often before it counts as failed. */
const PAGE_ATTEMPTS_MAX = 4;
const RETRY_FIRST_MS = 250;

type Page = Extract<QueryResult, { kind: 'page' }>;

export type PageAnswer =
  | {
      kind: 'answered';
      attempts: number;
      at: Date;
      result: Page;
    }
  | { kind: 'failed'; attempts: number; reason: string; reachable: boolean; isSilent: boolean };

/** Pages of the lowest `rank` go first; `mayGoOn` is asked before each try: false ends it early. */
export async function askPage(
  deps: PageDeps,
  account: Account,
  selection: QuerySelection,
  rank: bigint,
  mayGoOn: () => boolean = () => true,
): Promise<PageAnswer> {
  let failure: { reason: string; reachable: boolean; isSilent?: true } = {
    reason: 'the gateway cannot be reached; the page was not asked',
    reachable: false,
  };
  let attempts = 0;
  let said: string | null = null;
  while (attempts < PAGE_ATTEMPTS_MAX && mayGoOn()) {
    if (attempts > 0) await deps.sleep(RETRY_FIRST_MS * 2 ** (attempts - 1));
    attempts += 1;
    const at = deps.now();
    const result = await deps.gateway.queryPage(account, selection, rank);
    if (result.kind === 'page') {
      const others = othersOnly(selection, result);
      if (others === null || others === said) return { kind: 'answered', attempts, at, result };
      said = others;
      failure = { reason: 'the answer names none of the orders asked for', reachable: true };
      continue;
    }
    failure = result;
  }
  const { reason, reachable, isSilent = false } = failure;
  return { kind: 'failed', attempts, reason, reachable, isSilent };
}

/**
 * The orders of an answer that names others and none of those that were asked for; null: it is no
 * such answer. It may belong to another page, exchanged on the way: asked again, the page is
 * answered. A gateway that says the same once more means it: they are missing there, and it shows
 * what nobody asked for.
 */
function othersOnly(selection: QuerySelection, { entries, unreadable }: Page): string | null {
  if (selection.kind !== 'orders' || unreadable !== undefined) return null;
  const named = new Set(entries.map(({ orderNo }) => orderNo));
  if (named.size === 0 || selection.orderNos.some((orderNo) => named.has(orderNo))) return null;
  return JSON.stringify([...named].sort());
}

/**
 * The body of an answer as it is kept: compressed once a page, with its digest. At this level a
 * page takes a quarter of a millisecond, less than handing it to another thread costs.
 */
export function storedBody(body: Buffer): { bodySha256: string; bodyGzip: Buffer } {
  return {
    bodySha256: createHash('sha256').update(body).digest('hex'),
    // A copy of its own length: the compressor hands out a piece of a buffer twice as large.
    bodyGzip: Buffer.from(gzipSync(body, { level: constants.Z_BEST_SPEED })),
  };
}
