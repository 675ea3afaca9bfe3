// The journals of permits as the database knows them, and what the database says of itself: which
// server it is, and whether what it acknowledges is on disk. Judges nothing
// (night/journalGuard.ts).

import type { Db } from './db.js';
import type { JournalPosition } from './permitSegments.js';

export interface KnownJournal {
  journalId: string;
  host: string;
  place: string;
  /** null: nothing of it counts as read */
  verified: JournalPosition | null;
  /** the server that knew all permits up to there */
  verifiedSystem: string | null;
  releasedAt: Date | null;
}

export async function findJournal(db: Db, journalId: string): Promise<KnownJournal | null> {
  const { rows } = await db.query<{
    host: string;
    place: string;
    verified_file: number | null;
    verified_bytes: bigint;
    verified_system: string | null;
    released_at: Date | null;
  }>(
    `select host, place, verified_file, verified_bytes, verified_system, released_at
     from tieout.journals where journal_id = $1`,
    [journalId],
  );
  const row = rows[0];
  if (!row) return null;
  return {
    journalId,
    host: row.host,
    place: row.place,
    verified:
      row.verified_file === null
        ? null
        : { segment: row.verified_file, bytes: Number(row.verified_bytes) },
    verifiedSystem: row.verified_system,
    releasedAt: row.released_at,
  };
}

export interface JournalPlace {
  journalId: string;
  host: string;
  place: string;
}

export async function enterJournal(db: Db, journal: JournalPlace): Promise<void> {
  await db.query(
    `insert into tieout.journals (journal_id, host, place) values ($1, $2, $3)
     on conflict (journal_id) do nothing`,
    [journal.journalId, journal.host, journal.place],
  );
}

/** Journals that stood at this place and had permits, and that no person has let go. */
export async function journalsLostAt(db: Db, journal: JournalPlace): Promise<string[]> {
  const { rows } = await db.query<{ journal_id: string }>(
    `select journal_id from tieout.journals j
     where host = $2 and place = $3 and journal_id <> $1 and exists (
       select from tieout.attempts t where t.journal_id = j.journal_id
         and (j.released_at is null or t.claimed_at > j.released_at))`,
    [journal.journalId, journal.host, journal.place],
  );
  return rows.map((row) => row.journal_id);
}

/** Those of these attempts that the database does not know. */
export async function unknownAttempts(db: Db, attemptIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ attempt_id: string }>(
    `select wanted.attempt_id from unnest($1::uuid[]) as wanted (attempt_id)
     where not exists (
       select from tieout.attempts t where t.attempt_id = wanted.attempt_id)`,
    [attemptIds],
  );
  return rows.map((row) => row.attempt_id);
}

/** Where it stands now belongs to how far it was read: a copy elsewhere is read from its start. */
export async function noteVerified(
  db: Db,
  { journalId, host, place }: JournalPlace,
  { segment, bytes }: JournalPosition,
  { system, timeline }: Pick<DatabaseFacts, 'system' | 'timeline'>,
): Promise<void> {
  await db.query(
    `update tieout.journals set verified_at = clock_timestamp(), verified_file = $2,
       verified_bytes = $3, verified_system = $4, verified_timeline = $5, host = $6, place = $7
     where journal_id = $1`,
    [journalId, segment, bytes, system, timeline, host, place],
  );
}

/**
 * A person has looked into it: what the journals know up to now is no reason to stop any more, and
 * which server it is counts from now on.
 */
export async function releaseJournals(db: Db): Promise<void> {
  await db.query(
    `insert into tieout.journals (journal_id, host, place)
     select j.* from tieout.standing_brakes b, jsonb_to_recordset(b.found -> 'journals')
       as j ("journalId" uuid, host text, place text)
     where b.kind = 'freeze'
     on conflict (journal_id) do nothing`,
  );
  await db.query(
    `update tieout.journals set released_at = clock_timestamp(), verified_file = null,
       verified_bytes = 0, verified_system = null`,
  );
}

/**
 * The same for the journals of hosts that have not held theirs against this timeline, and may never
 * come back to do so. Answers their names.
 */
export async function releaseUnverified(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ host: string }>(
    `update tieout.journals j set released_at = clock_timestamp(), verified_file = null,
       verified_bytes = 0, verified_system = null
     from (select ${RUNNING}) facts where ${IS_UNVERIFIED} returning j.host`,
  );
  return [...new Set(rows.map((row) => row.host))].sort();
}

export interface DatabaseFacts {
  /** which cluster, by the number it was born with; '' where the server does not tell */
  system: string;
  /** counts up with every failover and every restore to a point in time */
  timeline: string;
  startedAt: string;
  isReplica: boolean;
  /** less ours */
  skewMs: number;
  /** settings that let the server forget what it has acknowledged; none on a sound one */
  unsafe: string[];
}

export async function databaseFacts(db: Db, wallClock: () => Date): Promise<DatabaseFacts> {
  const asked = wallClock().getTime();
  const { rows } = await db.query<{
    timeline: string | null;
    started_at: string;
    is_replica: boolean;
    now: Date;
    unsafe: string[];
  }>(`select ${RUNNING}, clock_timestamp() as now, ${UNSAFE}`);
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  return {
    system: await systemOf(db),
    timeline: row.timeline ?? '',
    startedAt: row.started_at,
    isReplica: row.is_replica,
    skewMs: skewOf(row.now, asked, wallClock),
    unsafe: row.unsafe,
  };
}

/** Half of the way there and back is the server's time. */
function skewOf(theirs: Date, asked: number, wallClock: () => Date): number {
  return theirs.getTime() - (asked + wallClock().getTime()) / 2;
}

/** Settings that are off, and with which a server forgets what it has acknowledged. */
const UNSAFE = `array(
  select name || ' = off' from unnest('{fsync,full_page_writes,synchronous_commit}'::text[]) as name
  where current_setting(name) = 'off'
    -- set by the servers that tests start and throw away
    and current_setting('tieout.throwaway', true) is distinct from 'on') as unsafe`;

const RUNNING = `pg_is_in_recovery() as is_replica,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end
    as timeline,
  pg_postmaster_start_time()::text as started_at`;

async function systemOf(db: Db): Promise<string> {
  try {
    const { rows } = await db.query<{ system: string }>(
      'select system_identifier::text as system from pg_control_system()',
    );
    return rows[0]?.system ?? '';
  } catch {
    // Some hosted servers do not tell.
    return '';
  }
}

export interface ClaimFacts {
  startedAt: string;
  timeline: string;
  isReplica: boolean;
  /** the newest permit of this process is still there */
  knowsNewest: boolean;
  /** hosts whose journals were in use lately, but not held against this timeline yet */
  unverified: string[];
  /** a setting may be changed under a server that runs */
  unsafe: string[];
  /** as in DatabaseFacts: a clock may be set while we run */
  skewMs: number;
}

/** Journals that were not used for so long do not hold anybody up. */
const JOURNAL_DAYS_MAX = 30;

const IS_UNVERIFIED = `j.verified_timeline is distinct from facts.timeline
  and j.verified_at > clock_timestamp() - interval '${JOURNAL_DAYS_MAX} days'
  and (j.released_at is null or j.released_at < j.verified_at)`;

/** Asked in the transaction of each claim, hence small. */
export async function claimFacts(
  db: Db,
  newest: string | null,
  wallClock: () => Date,
): Promise<ClaimFacts> {
  const asked = wallClock().getTime();
  const { rows } = await db.query<{
    timeline: string | null;
    started_at: string;
    is_replica: boolean;
    knows_newest: boolean;
    unverified: string[];
    unsafe: string[];
    now: Date;
  }>(
    `select facts.*, clock_timestamp() as now, ${UNSAFE}, $1::uuid is null or exists (
         select from tieout.attempts where attempt_id = $1::uuid) as knows_newest,
       array(select j.host from tieout.journals j where ${IS_UNVERIFIED}) as unverified
     from (select ${RUNNING}) facts`,
    [newest],
    'claimFacts',
  );
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  return {
    startedAt: row.started_at,
    timeline: row.timeline ?? '',
    isReplica: row.is_replica,
    knowsNewest: row.knows_newest,
    unverified: row.unverified,
    unsafe: row.unsafe,
    skewMs: skewOf(row.now, asked, wallClock),
  };
}

/** What became of a transaction whose COMMIT was not answered; null: too old to say. */
export async function transactionStatus(db: Db, xid: string): Promise<string | null> {
  const { rows } = await db.query<{ status: string | null }>(
    'select pg_xact_status($1::text::xid8) as status',
    [xid],
  );
  return rows[0]?.status ?? null;
}
