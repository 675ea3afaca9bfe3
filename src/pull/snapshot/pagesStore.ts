// Answered and failed pages into tieout.pages by COPY. Neighbours: snapshotsStore.ts and
// scansStore.ts store chunks of pages.

import { copyText } from '../../database/copy/copyText.js';
import type { Tx } from '../../database/db.js';
import { columnList, named } from '../../database/identifiers.js';
import { partitionOf } from '../../database/monthPartitions.js';
import { leaveUnread } from './unreadableStore.js';

/** One page as it is stored; `entries` is COPY text for tieout.look_entries, one line an entry. */
export interface StoredPage {
  pageNo: number;
  orders: number;
  attempts: number;
  answered: {
    at: Date;
    entries: number;
    unasked: number;
    copyText: string;
    bodyGzip: Buffer;
    bodySha256: string;
  } | null;
  /** why it failed; null when it was answered */
  reason: string | null;
  /** orders without an entry on a page with one that names no order */
  unread?: { orderNos: readonly string[]; reason: string };
}

/** In the order of `columnsOf`. */
const COLUMNS = columnList([
  ...['pull_id', 'account_id', 'page_no', 'state', 'orders', 'attempts', 'reason', 'entries'],
  ...['unasked', 'answered_at', 'body_sha256', 'body_gzip'],
]);

interface Snapshot {
  pullId: bigint;
  accountId: string;
}

export async function copyPages(
  tx: Tx,
  snapshot: Snapshot,
  pages: readonly StoredPage[],
): Promise<void> {
  const into = partitionOf('pages', snapshot.pullId);
  await tx.copy(named`copy ${into} (${COLUMNS}) from stdin`, linesOf(snapshot, pages));
  for (const { pageNo, unread } of pages) {
    if (unread) await leaveUnread(tx, snapshot, pageNo, unread);
  }
}

function* linesOf(snapshot: Snapshot, pages: readonly StoredPage[]): Generator<string> {
  for (const page of pages) yield `${columnsOf(snapshot, page).map(copyText).join('\t')}\n`;
}

function columnsOf({ pullId, accountId }: Snapshot, page: StoredPage): (string | null)[] {
  const { answered } = page;
  return [
    String(pullId),
    accountId,
    String(page.pageNo),
    answered ? 'answered' : 'failed',
    String(page.orders),
    String(page.attempts),
    page.reason,
    answered && String(answered.entries),
    answered && String(answered.unasked),
    answered ? answered.at.toISOString() : null,
    answered && `\\x${answered.bodySha256}`,
    answered && `\\x${answered.bodyGzip.toString('hex')}`,
  ];
}
