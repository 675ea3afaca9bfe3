// Answered and failed pages into tieout.pages by COPY in its binary format: the body of an answer
// goes over as it is, where as text each byte of it would be two letters to write, send and read.
// Neighbours: snapshotsStore.ts and scansStore.ts store chunks of pages, copyIn.ts carries the
// bytes.

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

/** In the order of `fieldsOf`, which knows their types. */
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
  await tx.copy(
    named`copy ${into} (${COLUMNS}) from stdin (format binary)`,
    rowsOf(snapshot, pages),
  );
  for (const { pageNo, unread } of pages) {
    if (unread) await leaveUnread(tx, snapshot, pageNo, unread);
  }
}

const HEAD = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const END = int2(-1);

function* rowsOf(snapshot: Snapshot, pages: readonly StoredPage[]): Generator<Buffer> {
  yield HEAD;
  for (const page of pages) {
    const fields = fieldsOf(snapshot, page);
    yield Buffer.concat([int2(fields.length), ...fields.flatMap(withLength)]);
  }
  yield END;
}

function fieldsOf({ pullId, accountId }: Snapshot, page: StoredPage): (Buffer | null)[] {
  const { answered } = page;
  return [
    int8(pullId),
    text(accountId),
    int4(page.pageNo),
    text(answered ? 'answered' : 'failed'),
    int4(page.orders),
    int4(page.attempts),
    page.reason === null ? null : text(page.reason),
    answered ? int4(answered.entries) : null,
    answered ? int4(answered.unasked) : null,
    answered ? instant(answered.at) : null,
    answered ? Buffer.from(answered.bodySha256, 'hex') : null,
    answered ? answered.bodyGzip : null,
  ];
}

function withLength(field: Buffer | null): Buffer[] {
  return field === null ? [int4(-1)] : [int4(field.length), field];
}

/** A NUL cannot be stored and is written as U+FFFD, as copyText.ts does. */
function text(value: string): Buffer {
  return Buffer.from(value.replaceAll('\0', '\uFFFD'));
}

/** PostgreSQL counts microseconds since 2000. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

function instant(at: Date): Buffer {
  return int8(BigInt(at.getTime() - EPOCH_MS) * 1_000n);
}

function int2(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int4(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int8(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}
