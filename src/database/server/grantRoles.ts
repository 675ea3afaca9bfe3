// Three roles of a database: the owner migrates, the writer is whom the program signs in as, the
// reader is for auditors. The writer takes no guard away and empties no table; what a night needs
// of the owner's rights it has by functions (migrations/0340_database_roles.sql). Roles are made
// by whoever runs the server: it must never make one, nor set a password. Neighbour: migrate.ts.

import { TieoutError } from '../../core/errors.js';
import { asOperatingFailure, type Connection, openClient } from '../connection.js';
import type { Db } from '../db.js';
import { statement } from '../statements.js';

/** Names of roles that the server knows. */
export interface DatabaseRoles {
  writer?: string;
  reader?: string;
}

const NO_SUCH_ROLE = '42704';

/** For the embedded server, where nobody else does it: nothing happens where it was done before. */
export async function ensureWriter(owner: Connection, writer: string): Promise<void> {
  const client = await openClient(owner, 'tieout migrate');
  try {
    const { rows } = await client.query<{ may: boolean }>(
      `select has_schema_privilege($1, 'tieout', 'usage') as may`,
      [writer],
    );
    if (rows[0]?.may === true) return;
  } catch (error) {
    throw asOperatingFailure(error, owner);
  } finally {
    await client.end().catch(() => {});
  }
  await grantRoles(owner, { writer });
}

/** Whether whom we sign in as may change the tables themselves, as restore has to. */
export async function isOwner(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select pg_has_role(relowner, 'usage') as may from pg_class
     where oid = to_regclass('tieout.runs')`,
  );
  return rows[0]?.may === true;
}

/** What the owner keeps to himself: migrations/0360_redactions.sql takes it from each writer. */
const KEPT_TO_OWNER = [
  'fact_sources',
  'installation',
  'redactions',
  'redacted_texts',
  'redacted_links',
];

interface MissingRights {
  role: string;
  /** a table, sequence or schema */
  relation: string;
  rights: string[];
}

/** What a writer is given of the schema tieout and whom we sign in as has not. */
export async function missingRights(db: Db): Promise<MissingRights[]> {
  const { rows } = await db.query<MissingRights>(statement('database/server/missingRights'), [
    KEPT_TO_OWNER,
  ]);
  return rows;
}

/** By the owner; again at any time. Throws a TieoutError where the server has no such role. */
export async function grantRoles(owner: Connection, roles: DatabaseRoles): Promise<void> {
  const { writer = null, reader = null } = roles;
  if (writer === null && reader === null) return;
  const client = await openClient(owner, 'tieout migrate');
  try {
    // One at a time: two that change the rights of one table fail. It ends with its transaction.
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtext('tieout.grant_roles'))`);
    await client.query('select tieout.grant_roles($1, $2)', [writer, reader]);
    await client.query('commit');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NO_SUCH_ROLE) {
      throw new TieoutError(
        `${error.message}: \`create role NAME login password '...'\` makes one`,
      );
    }
    throw asOperatingFailure(error, owner);
  } finally {
    await client.end().catch(() => {});
  }
}
