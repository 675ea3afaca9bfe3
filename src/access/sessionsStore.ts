// Who is signed in, failed sign-ins, and the record of what was done in the console. A session is
// found by the digest of the browser's secret and carries the person's roles as they are now, so
// that a role taken away or a person disabled counts from the next request on. Neighbour:
// usersStore.ts.

import type { Grant } from '../core/access.js';
import type { ConsoleEvent } from '../core/securityEvents.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database, Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** What was typed into a form before the password was asked for, or before it was refused. */
export interface Draft {
  /** of the page that the form stood on */
  path: string;
  typed: Readonly<Record<string, string>>;
  /** why the form was refused, in words */
  problem?: string;
}

export interface SessionRow {
  /** by which records name the session; nobody signs in with it */
  mark: string;
  userId: bigint;
  name: string;
  grants: Grant[];
  createdAt: Date;
  confirmedAt: Date;
  draft: Draft | null;
}

export interface SessionLimits {
  now: Date;
  /** Sessions that were not used since then are over. */
  seenAfter: Date;
  /** Sessions that began before it are over, however busy. */
  createdAfter: Date;
}

const MARK_CHARS = 16;

/** The beginning of what a session is kept under. */
export function sessionMark(sha256: Buffer): string {
  return sha256.toString('hex').slice(0, MARK_CHARS);
}

export async function openSession(
  db: Db,
  session: { sha256: Buffer; userId: bigint; now: Date; address: string; draft?: Draft | null },
): Promise<void> {
  const { sha256, userId, now, address, draft } = session;
  await db.query(
    `insert into tieout.sessions (session_sha256, user_id, created_at, seen_at, confirmed_at,
       address, draft) values ($1, $2, $3, $3, $3, $4, $5)`,
    [sha256, userId, now, address, draft ?? null],
  );
}

/** Keeps what was typed, in place of what was kept before; null forgets it. */
export async function keepDraft(db: Db, sha256: Buffer, draft: Draft | null): Promise<void> {
  await db.query('update tieout.sessions set draft = $2 where session_sha256 = $1', [
    sha256,
    draft,
  ]);
}

/** The session as it stands, and marks it seen; at most one write a minute. */
export async function findSession(
  db: Db,
  sha256: Buffer,
  limits: SessionLimits,
): Promise<SessionRow | null> {
  const { rows } = await db.query<{
    user_id: bigint;
    name: string;
    grants: Grant[];
    created_at: Date;
    confirmed_at: Date;
    draft: Draft | null;
    is_old: boolean;
  }>(
    `select s.user_id, u.name, s.created_at, s.confirmed_at, s.draft,
       s.seen_at < $4::timestamptz - interval '1 minute' as is_old,
       coalesce((select jsonb_agg(jsonb_build_object('role', g.role, 'accountId', g.account_id))
         from tieout.user_roles g where g.user_id = s.user_id), '[]') as grants
     from tieout.sessions s join tieout.users u using (user_id)
     where s.session_sha256 = $1 and u.state = 'active'
       and s.seen_at > $2 and s.created_at > $3`,
    [sha256, limits.seenAfter, limits.createdAfter, limits.now],
  );
  const row = rows[0];
  if (!row) return null;
  if (row.is_old) {
    await db.query('update tieout.sessions set seen_at = $2 where session_sha256 = $1', [
      sha256,
      limits.now,
    ]);
  }
  return {
    mark: sessionMark(sha256),
    userId: row.user_id,
    name: row.name,
    grants: row.grants,
    createdAt: row.created_at,
    confirmedAt: row.confirmed_at,
    draft: row.draft,
  };
}

/** A browser in which somebody is signed in. */
export interface OpenSession {
  mark: string;
  createdAt: Date;
  seenAt: Date;
  address: string;
}

/** Those of one person that count, the one used last first. */
export async function openSessions(
  db: Db,
  userId: bigint,
  limits: SessionLimits,
): Promise<OpenSession[]> {
  const { rows } = await db.query<Omit<OpenSession, 'mark'> & { sha256: Buffer }>(
    `select session_sha256 as sha256, created_at as "createdAt", seen_at as "seenAt", address
     from tieout.sessions where user_id = $1 and seen_at > $2 and created_at > $3
     order by seen_at desc, created_at desc limit 100`,
    [userId, limits.seenAfter, limits.createdAfter],
  );
  return rows.map(({ sha256, ...one }) => ({ ...one, mark: sessionMark(sha256) }));
}

/** The person's session of this mark; null: all but the one of `own`. Answers how many ended. */
export async function endSessions(
  db: Db,
  userId: bigint,
  { mark, own }: { mark: string | null; own: string },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from tieout.sessions
     where user_id = $1 and case when $2::text is null
       then left(encode(session_sha256, 'hex'), $4) <> $3
       else left(encode(session_sha256, 'hex'), $4) = $2 end`,
    [userId, mark, own, MARK_CHARS],
  );
  return rowCount ?? 0;
}

export async function closeSession(db: Db, sha256: Buffer): Promise<void> {
  await db.query('delete from tieout.sessions where session_sha256 = $1', [sha256]);
}

/** Rows that can never matter again. */
export async function sweepSessions(db: Db, limits: SessionLimits): Promise<void> {
  await db.query('delete from tieout.sessions where seen_at <= $1 or created_at <= $2', [
    limits.seenAfter,
    limits.createdAfter,
  ]);
  await db.query('delete from tieout.sign_in_failures where at <= $1', [limits.createdAfter]);
  await db.query('delete from tieout.sign_in_links where expires_at <= $1', [limits.createdAfter]);
}

interface SignInTry {
  name: string;
  address: string;
  /** of who is signed in and gives the password again; null: somebody signs in */
  session: Buffer | null;
  now: Date;
}

interface TryLimits {
  /** Tries older than this are forgotten. */
  windowMs: number;
  /** Of one name from one address, or of one session. */
  ownMax: number;
  /** Of these so many wait for nothing; the next one so long, each after it twice as long. */
  ownAtOnce: number;
  waitSeconds: number;
  ofAddressMax: number;
  /** From all addresses, save those from which the name signed in within `knownMs`. */
  ofNameMax: number;
  knownMs: number;
}

/** Counts the try as failed before it is checked; null where it has to wait. */
export async function reserveTry(
  db: Database,
  one: SignInTry,
  limits: TryLimits,
): Promise<bigint | null> {
  const { name, address, session, now } = one;
  return db.transaction(async (tx) => {
    // One after the other: tries that come together would all count the same few before them.
    await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.sign_in_failures'))`);
    const { rows } = await tx.query<{ failure_id: bigint }>(statement('access/reserveTry'), [
      now,
      name,
      address,
      session,
      new Date(now.getTime() - limits.windowMs),
      limits.ownMax,
      limits.ownAtOnce,
      limits.waitSeconds,
      limits.ofAddressMax,
      limits.ofNameMax,
      new Date(now.getTime() - limits.knownMs),
    ]);
    return rows[0]?.failure_id ?? null;
  });
}

/** The password was right after all, or nobody looked at it. */
export async function forgiveTry(db: Db, failureId: bigint): Promise<void> {
  await db.query('delete from tieout.sign_in_failures where failure_id = $1', [failureId]);
}

export async function recordEvent(db: Db, event: ConsoleEvent): Promise<void> {
  await db.query(
    `insert into tieout.console_events (who, action, account_id, subject, outcome, address)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      // A name that nobody has: somebody typed it into the wrong field.
      withoutCards(event.who),
      event.action,
      event.accountId ?? null,
      event.subject ?? '',
      event.outcome,
      event.address,
    ],
  );
}

interface EventRow {
  at: Date;
  who: string;
  action: string;
  subject: string;
  outcome: string;
  address: string;
}

/** Newest first; `text` is a part of who, what or about what. */
export async function listEvents(
  db: Db,
  text: string | null,
  limit: number,
  offset: number,
): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select at, who, action, subject, outcome, address from tieout.console_events
     where $1::text is null or position(lower($1) in lower(who)) > 0
       or position(lower($1) in lower(action)) > 0 or position(lower($1) in lower(subject)) > 0
     order by event_id desc limit $2 offset $3`,
    [text, limit, offset],
  );
  return rows;
}
