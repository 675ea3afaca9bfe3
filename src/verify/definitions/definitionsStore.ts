// Asks the catalogue of the database what the schema is made of, and holds it against what is
// shipped beside the migrations. Neighbour: definitions.ts compares.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../database/db.js';
import { packageRoot, statement } from '../../database/statements.js';
import type { Definition, Definitions, DefinitionsFinding } from './definitions.js';
import { compareDefinitions } from './definitions.js';

/** What a function of somebody else's could stand before is looked up in the server's own first. */
export async function trustNobodysNames(tx: Db): Promise<void> {
  await tx.query('set local search_path = pg_catalog, pg_temp');
}

/** In a transaction that trusts nobody's names. */
export async function readDefinitions(tx: Db): Promise<Definitions> {
  const { rows } = await tx.query<Definition>(statement('verify/definitions/catalogue'));
  const server = await tx.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  );
  return { major: server.rows[0]?.major ?? 0, objects: rows };
}

export async function checkDefinitions(tx: Db): Promise<DefinitionsFinding> {
  const path = join(packageRoot(), 'migrations', 'definitions.tsv');
  return compareDefinitions(await readDefinitions(tx), readFileSync(path, 'utf8'));
}
