// The journals of permits as the database knows them, and what the database says of itself: which
// server it is, and whether what it acknowledges is on disk. Judges nothing
// (send/journal/journalGuard.ts).

import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { Mark } from './journalMark.js';
import type { JournalPosition } from './permitSegments.js';

export interface KnownJournal {
  journalId: string;
  host: string;
  place: string;
  /** null: nothing of it counts as read */
  verified: JournalPosition | null;
  /** the database that knew all permits up to there, as DatabaseFacts.base has it */
  verifiedBase: string | null;
  releasedAt: Date | null;
  /** as in Mark */
  marks: number;
  released: string | null;
}

export async function findJournal(db: Db, journalId: string): Promise<KnownJournal | null> {
  const { rows } = await db.query<{
    host: string;
    place: string;
    verified_file: number | null;
    verified_bytes: bigint;
    verified_system: string | null;
    released_at: Date | null;
    marks: bigint;
    released: string | null;
  }>(
    `select host, place, verified_file, verified_bytes, verified_system, released_at, marks,
       extract(epoch from released_at)::text as released
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
    verifiedBase: row.verified_system,
    releasedAt: row.released_at,
    marks: Number(row.marks),
    released: row.released,
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

/**
 * Journals that stood at this place and that no person has let go: those that had permits, and
 * those that were held against the database lately, for which every other host would wait.
 */
export async function journalsLostAt(db: Db, journal: JournalPlace): Promise<string[]> {
  const { rows } = await db.query<{ journal_id: string }>(
    statement('send/journal/journalsLostAt'),
    [journal.journalId, journal.host, journal.place],
  );
  return rows.map((row) => row.journal_id);
}

/** Those of these permits, of attempts and of calls by hand, that the database does not know. */
export async function unknownPermits(db: Db, permitIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ permit_id: string }>(
    `select wanted.permit_id from unnest($1::uuid[]) as wanted (permit_id)
     where not tieout.knows_permit(wanted.permit_id)`,
    [permitIds],
  );
  return rows.map((row) => row.permit_id);
}

/**
 * Held against this server as it was started now. Where it stands now belongs to how far it was
 * read: a copy elsewhere is read from its start.
 */
export async function noteVerified(
  db: Db,
  { journalId, host, place }: JournalPlace,
  { segment, bytes }: JournalPosition,
  { timeline, startedAt, base }: DatabaseFacts,
): Promise<Mark> {
  const { rows } = await db.query<CountedRow>(
    `update tieout.journals set verified_at = clock_timestamp(), verified_file = $2,
       verified_bytes = $3, verified_system = $4, verified_timeline = $5, verified_start = $6,
       host = $7, place = $8, marks = marks + 1
     where journal_id = $1 returning marks, extract(epoch from released_at)::text as released`,
    [journalId, segment, bytes, base, timeline, startedAt, host, place],
  );
  const [row] = rows;
  if (!row) throw new Error(`the journal ${journalId} is not entered`);
  return markOf(row, base);
}

interface CountedRow {
  marks: bigint;
  released: string | null;
}

const markOf = ({ marks, released }: CountedRow, base: string): Mark => ({
  base,
  marks: Number(marks),
  released,
});

/**
 * Counts a sign of life, where the journal was held against this very server since its start; null
 * where it was not, and then nothing is counted.
 */
export async function countMark(db: Db, journalId: string, base: string): Promise<Mark | null> {
  const { rows } = await db.query<CountedRow>(
    `update tieout.journals j set marks = marks + 1 from tieout.server_facts facts
     where j.journal_id = $1 and j.verified_start = facts.started_at
       and j.verified_timeline = facts.timeline
       and tieout.is_this_base(j.verified_system, facts.database)
     returning j.marks, extract(epoch from released_at)::text as released`,
    [journalId],
  );
  const [row] = rows;
  return row ? markOf(row, base) : null;
}

/** Whether the server counts another timeline than when a journal was last held against it. */
export async function changedOver(db: Db, timeline: string): Promise<boolean> {
  const { rows } = await db.query<{ before: string }>(
    `select verified_timeline as before from tieout.journals
     where verified_timeline is not null order by verified_at desc limit 1`,
  );
  const [newest] = rows;
  return newest !== undefined && newest.before !== timeline;
}

/**
 * A person has looked into it: what the journals that were found to differ know up to now is no
 * reason to stop any more, which server it is counts from now on, and nobody is waited for.
 */
export async function releaseJournals(db: Db): Promise<void> {
  await db.query(statement('send/journal/releaseJournals'));
}

/** Whether a freeze that stands was said because of this journal. */
export async function isFrozenBy(db: Db, journalId: string): Promise<boolean> {
  const { rows } = await db.query<{ yes: boolean }>(
    `select exists (
       select from tieout.brakes b
       where b.kind = 'freeze' and b.is_on
         and b.found -> 'journals' @> jsonb_build_array(jsonb_build_object('journalId', $1::text))
         and b.seq > coalesce((
           select max(seq) from tieout.brakes where kind = 'freeze' and not is_on), 0)) as yes`,
    [journalId],
  );
  return rows[0]?.yes === true;
}

/**
 * The hosts that have not held their journals against this server yet may never come back to do so:
 * the others go on without them. Answers their names; what they know counts when they come.
 * `own`: of who says so, and thus not away.
 */
export async function excuseAbsent(db: Db, own: JournalHome | null): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `update tieout.journals j set excused_at = clock_timestamp()
     from tieout.absent_journals absent
     where absent.journal_id = j.journal_id
       and (j.host, j.place) is distinct from ($1::text, $2::text)
     returning absent.name`,
    [own?.host ?? null, own?.place ?? null],
  );
  return [...new Set(rows.map(({ name }) => name))].sort();
}

/** Names of the hosts that nobody may send without; `own`: the journal of who asks. */
export async function absentHosts(
  db: Db,
  own: { journalId: string | null; place?: JournalHome | null },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select distinct j.name from tieout.absent_journals j
     where j.journal_id is distinct from $1::uuid
       and (j.host, j.place) is distinct from ($2::text, $3::text)
     order by 1`,
    [own.journalId, own.place?.host ?? null, own.place?.place ?? null],
    'absentHosts',
  );
  return rows.map(({ name }) => name);
}

/** Where a journal stands. */
export type JournalHome = Omit<JournalPlace, 'journalId'>;

export interface DatabaseFacts {
  /** which cluster, by the number it was born with; '' where the server does not tell */
  system: string;
  /** the cluster, where the server tells it, and the database in it as it was last filled */
  base: string;
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
    database: string;
  }>('select *, clock_timestamp() as now from tieout.server_facts');
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  const system = await systemOf(db);
  return {
    system,
    base: `${system}/${row.database}`,
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
  /** the database in the cluster, as it was last filled */
  database: string;
  startedAt: string;
  timeline: string;
  isReplica: boolean;
  /** the newest permit of this process is still there */
  knowsNewest: boolean;
  /** as of absentHosts */
  absent: string[];
  /** a setting may be changed under a server that runs */
  unsafe: string[];
  /** as in DatabaseFacts: a clock may be set while we run */
  skewMs: number;
}

/** Asked in the transaction of each claim, hence small. */
export async function claimFacts(
  db: Db,
  { newest, journalId }: { newest: string | null; journalId: string | null },
  wallClock: () => Date,
): Promise<ClaimFacts> {
  const asked = wallClock().getTime();
  const { rows } = await db.query<{
    database: string;
    timeline: string | null;
    started_at: string;
    is_replica: boolean;
    knows_newest: boolean;
    absent: string[];
    unsafe: string[];
    now: Date;
  }>(
    `select facts.*, clock_timestamp() as now, $1::uuid is null or
         tieout.knows_permit($1::uuid) as knows_newest,
       array(select j.name from tieout.absent_journals j
         where j.journal_id is distinct from $2::uuid) as absent
     from tieout.server_facts facts`,
    [newest, journalId],
    'claimFacts',
  );
  const row = rows[0];
  if (!row) throw new Error('the database says nothing of itself');
  return {
    database: row.database,
    startedAt: row.started_at,
    timeline: row.timeline ?? '',
    isReplica: row.is_replica,
    knowsNewest: row.knows_newest,
    absent: row.absent,
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

/** Whether any host has let something go lately, or has it on its way. */
export async function isSentByAnybody(
  db: Db,
  { endedMs, openMs }: { endedMs: number; openMs: number },
): Promise<boolean> {
  const { rows } = await db.query<{ is_sent: boolean }>(
    `select exists (
       select from tieout.journals join tieout.attempts t using (journal_id)
       where t.claimed_at > clock_timestamp() - make_interval(secs => $2)
         and (t.outcome is null or (t.outcome <> 'not_sent'
           and t.finished_at > clock_timestamp() - make_interval(secs => $1)))
     ) as is_sent`,
    [endedMs / 1000, openMs / 1000],
  );
  return rows[0]?.is_sent === true;
}
