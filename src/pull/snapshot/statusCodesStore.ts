// The gateway's status codes: every status and result code it ever used, kept a row a run. Written
// from whole snapshots and whole runs; read for the people who have to give a new code its meaning.

import type { EndedSubscriptions, NewCodeFacts } from '../../core/runs/codeNotices.js';
import type { Db } from '../../database/db.js';
import { relationsOf } from '../../database/monthPartitions.js';
import { statement } from '../../database/statements.js';
import type { Snapshot } from './snapshotsStore.js';

export interface SeenCode {
  accountId: string;
  field: string;
  word: string;
  /** a state, "found", accepted, rejected, active or ended; null: none */
  meaning: string | null;
  /** the run since which it means that, and the digest of the profile that said so */
  meaningSince: string;
  meaningProfile: string;
  firstSeen: string;
  lastSeen: string;
  nights: number;
  /** in all nights, and in the newest one that showed it */
  entries: number;
  newestEntries: number;
  newestMoney: Record<string, string>;
  samples: string[];
}

/** Keeps the codes of a snapshot; of a second one only those that the run's own did not show. */
export async function noteStatusCodes(
  db: Db,
  runId: bigint,
  snapshot: Pick<Snapshot, 'pullId' | 'kind'>,
  { sha256, recurring }: { sha256: string; recurring: Readonly<Record<string, string>> },
  now: Date,
): Promise<void> {
  await db.query(statement('pull/snapshot/noteStatusCodes', relationsOf(db, snapshot.pullId)), [
    runId,
    snapshot.pullId,
    sha256,
    now,
    snapshot.kind === 'night',
    JSON.stringify(recurring),
  ]);
}

/** Codes that mean accepted, whatever else an answer says: as a status, as a refund_message. */
interface AcceptedCodes {
  status: readonly string[];
  refundMessage: readonly string[];
}

/** Keeps the codes of the answers to what a run sent. */
export async function noteAnswerCodes(
  db: Db,
  runId: bigint,
  profileSha256: string,
  now: Date,
  accepted: AcceptedCodes,
): Promise<void> {
  await db.query(statement('pull/snapshot/noteAnswerCodes'), [
    runId,
    profileSha256,
    now,
    accepted.status,
    accepted.refundMessage,
  ]);
}

export async function statusCodesSeen(
  db: Db,
  accountIds: readonly string[] | null,
): Promise<SeenCode[]> {
  type Raw = Omit<SeenCode, 'nights' | 'entries' | 'newestEntries'> &
    Record<'nights' | 'entries' | 'newestEntries', bigint | string>;
  const { rows } = await db.query<Raw>(statement('pull/snapshot/statusCodes'), [accountIds]);
  return rows.map((row) => ({
    ...row,
    nights: Number(row.nights),
    entries: Number(row.entries),
    newestEntries: Number(row.newestEntries),
  }));
}

/**
 * Codes of a run that no earlier run of the account has shown. In the first run all are new: only
 * those without a meaning are told then, while the newest look of the run still shows them.
 */
export async function newCodes(db: Db, runId: bigint): Promise<NewCodeFacts[]> {
  const { rows } = await db.query<Omit<NewCodeFacts, 'entries'> & { entries: bigint }>(
    statement('pull/snapshot/newCodes'),
    [runId],
  );
  return rows.map((row) => ({ ...row, entries: Number(row.entries) }));
}

/** Subscriptions that a run was the first to see ended, by account. */
export async function endedSubscriptions(db: Db, runId: bigint): Promise<EndedSubscriptions[]> {
  type Raw = Omit<EndedSubscriptions, 'subscriptions'> & { subscriptions: bigint };
  const { rows } = await db.query<Raw>(statement('pull/snapshot/endedSubscriptions'), [runId]);
  return rows.map((row) => ({ ...row, subscriptions: Number(row.subscriptions) }));
}
