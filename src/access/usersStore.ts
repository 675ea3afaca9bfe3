// People of the console: names, password hashes, roles, and the links that let somebody choose a
// password once. Owns the rule that a link works once and that disabling somebody ends all their
// sessions. It never sees a password or a link, only hashes. Neighbour: sessionsStore.ts.

import type { Grant, Role } from '../core/access.js';
import type { Database, Db } from '../database/db.js';

export interface UserRow {
  userId: bigint;
  name: string;
  state: 'active' | 'disabled';
  hasPassword: boolean;
  createdAt: Date;
  createdBy: string;
  grants: Grant[];
  lastSeen: Date | null;
}

interface NewUser {
  name: string;
  passwordHash: string | null;
  grants: readonly Grant[];
  by: string;
  now: Date;
}

export async function listUsers(db: Db): Promise<UserRow[]> {
  const { rows } = await db.query<{
    user_id: bigint;
    name: string;
    state: UserRow['state'];
    has_password: boolean;
    created_at: Date;
    created_by: string;
    grants: Grant[];
    last_seen: Date | null;
  }>(
    `select user_id, name, state, password_hash is not null as has_password, created_at,
       created_by, coalesce((
         select jsonb_agg(jsonb_build_object('role', g.role, 'accountId', g.account_id)
           order by g.role, g.account_id nulls first)
         from tieout.user_roles g where g.user_id = u.user_id), '[]') as grants,
       (select max(seen_at) from tieout.sessions s where s.user_id = u.user_id) as last_seen
     from tieout.users u order by name_key`,
  );
  return rows.map((row) => ({
    userId: row.user_id,
    name: row.name,
    state: row.state,
    hasPassword: row.has_password,
    createdAt: row.created_at,
    createdBy: row.created_by,
    grants: row.grants,
    lastSeen: row.last_seen,
  }));
}

/** The name is taken when it differs in case only. */
export async function addUser(
  db: Database,
  user: NewUser,
): Promise<{ kind: 'added'; userId: bigint } | { kind: 'taken' }> {
  return db.transaction((tx) => insertUser(tx, user));
}

async function insertUser(
  tx: Db,
  user: NewUser,
): Promise<{ kind: 'added'; userId: bigint } | { kind: 'taken' }> {
  const { rows } = await tx.query<{ user_id: bigint }>(
    `insert into tieout.users (name, password_hash, state, created_at, created_by)
     values ($1, $2, 'active', $3, $4) on conflict (name_key) do nothing returning user_id`,
    [user.name, user.passwordHash, user.now, user.by],
  );
  const userId = rows[0]?.user_id;
  if (userId === undefined) return { kind: 'taken' };
  for (const grant of user.grants) await giveRole(tx, userId, grant);
  return { kind: 'added', userId };
}

export async function findUserId(db: Db, name: string): Promise<bigint | null> {
  const { rows } = await db.query<{ user_id: bigint }>(
    'select user_id from tieout.users where name_key = lower($1)',
    [name],
  );
  return rows[0]?.user_id ?? null;
}

/** What a sign-in is checked against; null when nobody of that name may sign in. */
export async function findCredential(
  db: Db,
  name: string,
): Promise<{ userId: bigint; name: string; passwordHash: string } | null> {
  const { rows } = await db.query<{ user_id: bigint; name: string; password_hash: string }>(
    `select user_id, name, password_hash from tieout.users
     where name_key = lower($1) and state = 'active' and password_hash is not null`,
    [name],
  );
  const row = rows[0];
  return row ? { userId: row.user_id, name: row.name, passwordHash: row.password_hash } : null;
}

export async function giveRole(db: Db, userId: bigint, grant: Grant): Promise<void> {
  await db.query(
    `insert into tieout.user_roles (user_id, role, account_id) values ($1, $2, $3)
     on conflict do nothing`,
    [userId, grant.role, grant.accountId],
  );
}

/** Without an account: the role everywhere, also where it was given for one account only. */
export async function takeRole(
  db: Db,
  userId: bigint,
  role: Role,
  accountId: string | null,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from tieout.user_roles where user_id = $1 and role = $2
       and ($3::text is null or account_id = $3)`,
    [userId, role, accountId],
  );
  return rowCount;
}

/** A disabled person is out at once: all sessions end, open links die. */
export async function setUserState(
  db: Database,
  userId: bigint,
  state: UserRow['state'],
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update tieout.users set state = $2 where user_id = $1', [userId, state]);
    if (state === 'disabled') await forget(tx, userId);
  });
}

async function forget(tx: Db, userId: bigint): Promise<void> {
  await tx.query('delete from tieout.sessions where user_id = $1', [userId]);
  await tx.query('delete from tieout.sign_in_links where user_id = $1 and used_at is null', [
    userId,
  ]);
}

/** A new link replaces the ones that are out: of the person, or for the first administrator. */
export async function keepLink(
  db: Database,
  link: { sha256: Buffer; userId: bigint | null; now: Date; expiresAt: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(
      `delete from tieout.sign_in_links
       where user_id is not distinct from $1 and used_at is null`,
      [link.userId],
    );
    await tx.query(
      `insert into tieout.sign_in_links (link_sha256, user_id, created_at, expires_at)
       values ($1, $2, $3, $4)`,
      [link.sha256, link.userId, link.now, link.expiresAt],
    );
  });
}

/** Whom a link is for; null when it opens nothing: unknown, used, too old, needed no more. */
export async function findLink(
  db: Db,
  sha256: Buffer,
  now: Date,
): Promise<{ userId: bigint | null; name: string | null } | null> {
  const { rows } = await db.query<{ user_id: bigint | null; name: string | null }>(
    `select l.user_id, u.name from tieout.sign_in_links l left join tieout.users u using (user_id)
     where link_sha256 = $1 and used_at is null and expires_at > $2
       and coalesce(u.state, 'active') = 'active'`,
    [sha256, now],
  );
  const row = rows[0];
  if (!row || (row.user_id === null && (await hasAdministrator(db)))) return null;
  return { userId: row.user_id, name: row.name };
}

/** Sets the password of the link's person; all older sessions end. */
export async function usePasswordLink(
  db: Database,
  sha256: Buffer,
  passwordHash: string,
  now: Date,
): Promise<{ kind: 'set'; userId: bigint } | { kind: 'gone' }> {
  return db.transaction(async (tx) => {
    const userId = await burn(tx, sha256, now);
    if (userId === undefined || userId === null) return { kind: 'gone' };
    await tx.query('update tieout.users set password_hash = $2 where user_id = $1', [
      userId,
      passwordHash,
    ]);
    await tx.query('delete from tieout.sessions where user_id = $1', [userId]);
    return { kind: 'set', userId };
  });
}

/** Of a person's own choice; all sessions end, and links that are out. */
export async function setPassword(
  db: Database,
  userId: bigint,
  passwordHash: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update tieout.users set password_hash = $2 where user_id = $1', [
      userId,
      passwordHash,
    ]);
    await forget(tx, userId);
  });
}

/** The first administrator, once; where one came another way meanwhile, the link is used up. */
export async function useFirstLink(
  db: Database,
  sha256: Buffer,
  user: NewUser,
): Promise<{ kind: 'added'; userId: bigint } | { kind: 'gone' } | { kind: 'taken' }> {
  const undo = new Error('the name is taken');
  try {
    return await db.transaction(async (tx) => {
      const burnt = await burn(tx, sha256, user.now);
      if (burnt !== null || (await hasAdministrator(tx))) return { kind: 'gone' as const };
      const added = await insertUser(tx, user);
      if (added.kind === 'taken') throw undo;
      return added;
    });
  } catch (error) {
    if (error === undo) return { kind: 'taken' };
    throw error;
  }
}

/** The person of the link, null for the first administrator, undefined when it works no more. */
async function burn(tx: Db, sha256: Buffer, now: Date): Promise<bigint | null | undefined> {
  const { rows } = await tx.query<{ user_id: bigint | null }>(
    `update tieout.sign_in_links set used_at = $2
     where link_sha256 = $1 and used_at is null and expires_at > $2 returning user_id`,
    [sha256, now],
  );
  return rows[0]?.user_id;
}

/** Whether anybody lets people in and out: an administrator of all accounts with a password. */
export async function hasAdministrator(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from tieout.users u join tieout.user_roles g using (user_id)
     where u.state = 'active' and u.password_hash is not null and g.role = 'admin'
       and g.account_id is null
     limit 1`,
  );
  return rows.length > 0;
}
