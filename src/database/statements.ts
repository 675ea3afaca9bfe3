// The long statements, each a file that can be run by hand and stands beside the *Store.ts that
// asks it. Relations that lie in the partition of a month, or in a scratch schema, it names with a
// colon, as psql does: `psql -v verdicts=tieout.verdicts -f compare/assignClasses.sql`. It owns how
// they are found and these names put in; no statement is put together from pieces. Neighbours:
// relations.ts says where the relations lie; migrate.ts finds the migrations through packageRoot().

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Relations } from './relations.js';

/** Texts and, between them, the relations that are named with a colon. */
const loaded = new Map<string, readonly string[]>();
let root: string | null = null;

/** The text of src/<name>.sql, read once: `compare/compare` is src/compare/compare.sql. */
export function statement(name: string, relations?: Relations): string {
  const pieces = loaded.get(name) ?? piecesOf(name);
  return pieces.map((piece, at) => (at % 2 === 0 ? piece : nameOf(piece, relations))).join('');
}

function nameOf(relation: string, relations?: Relations): string {
  const found = relations?.[relation as keyof Relations];
  if (found === undefined) throw new Error(`nobody says where :${relation} lies`);
  return String(found);
}

/** A name behind one colon: two of them say a type. */
const RELATION = /(?<!:):([a-z_]+)\b/;

function piecesOf(name: string): readonly string[] {
  const file = join(packageRoot(), 'src', `${name}.sql`);
  if (!/^[A-Za-z0-9/]+$/.test(name) || !existsSync(file)) {
    throw new Error(`there is no statement file ${file}`);
  }
  const pieces = readFileSync(file, 'utf8').split(RELATION);
  loaded.set(name, pieces);
  return pieces;
}

/** The folder of package.json: the same from the sources and from dist. */
export function packageRoot(): string {
  root ??= folderOfManifest(dirname(fileURLToPath(import.meta.url)));
  return root;
}

function folderOfManifest(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${start}`);
    folder = parent;
  }
  return folder;
}
