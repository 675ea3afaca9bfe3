// The stored answers of a run's snapshots, unpacked and decoded again by the profile that the
// night used, into the scratch table of entries. An answer that is not what it was, or cannot be
// read any more, is named and leaves its orders without entries. Neighbours: snapshotLines.ts,
// verifyRun.ts.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Database, Tx } from '../database/db.js';
import type { Account } from '../gateway/account.js';
import type { Profile } from '../gateway/document/profile.js';
import { decodeQueryAnswer } from '../gateway/query/decode.js';
import type { KeptPage, StoredSnapshot } from '../pull/snapshot/storedPagesStore.js';
import { keptPages } from '../pull/snapshot/storedPagesStore.js';
import { snapshotLines } from '../pull/snapshotLines.js';
import type { Difference } from './scratchStore.js';
import { fillEntries, fillScanned } from './scratchStore.js';

/** An answer that unpacks to more than this was never one of ours. */
const BODY_BYTES_MAX = 1 << 28;

interface Decoding {
  /** where pages are read from: not the transaction that is being filled */
  pages: Database;
  profile: Profile;
  account: Account;
  progress: (pages: number) => void;
}

export async function decodeAgain(
  tx: Tx,
  snapshot: StoredSnapshot,
  decoding: Decoding,
): Promise<Difference[]> {
  const found: Difference[] = [];
  if (snapshot.isScan) {
    for await (const pages of keptPages(decoding.pages, snapshot)) {
      await fillScanned(
        tx,
        pages.map((page) => linesOf(snapshot, page, decoding, found)),
      );
      decoding.progress(pages.length);
    }
    return found;
  }
  await fillEntries(tx, textsOf(snapshot, decoding, found));
  return found;
}

async function* textsOf(
  snapshot: StoredSnapshot,
  decoding: Decoding,
  found: Difference[],
): AsyncGenerator<string> {
  for await (const pages of keptPages(decoding.pages, snapshot)) {
    for (const page of pages) yield linesOf(snapshot, page, decoding, found);
    decoding.progress(pages.length);
  }
}

function linesOf(
  snapshot: StoredSnapshot,
  page: KeptPage,
  { profile, account }: Decoding,
  found: Difference[],
): string {
  const differs = (was: string, is: string): void => {
    const what = `answer of page ${page.pageNo} of look ${snapshot.pullId}`;
    found.push({ accountId: snapshot.accountId, orderNo: null, what, was, is });
  };
  const body = unpacked(page.bodyGzip);
  if (body === null) {
    differs(page.bodySha256, 'cannot be unpacked');
    return '';
  }
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (sha256 !== page.bodySha256) differs(page.bodySha256, sha256);
  const answer = { status: 200, contentType: null, contentEncoding: null, body };
  const decoded = decodeQueryAnswer(account, answer);
  if (decoded.kind === 'failed') {
    differs('readable', decoded.reason);
    return '';
  }
  return snapshotLines(profile, snapshot, page, decoded.entries).text;
}

function unpacked(gzip: Buffer): Buffer | null {
  try {
    return gunzipSync(gzip, { maxOutputLength: BODY_BYTES_MAX });
  } catch {
    return null;
  }
}
