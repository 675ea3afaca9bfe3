// The long statements, each a file that can be run by hand and stands beside the *Store.ts that
// asks it. It owns how they are found; it must never put one together from pieces. Neighbour:
// migrate.ts finds the migrations through packageRoot().

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const loaded = new Map<string, string>();
let root: string | null = null;

/** The text of src/<name>.sql, read once: `compare/compare` is src/compare/compare.sql. */
export function statement(name: string): string {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = join(packageRoot(), 'src', `${name}.sql`);
  if (!/^[A-Za-z0-9/]+$/.test(name) || !existsSync(file)) {
    throw new Error(`there is no statement file ${file}`);
  }
  const text = readFileSync(file, 'utf8');
  loaded.set(name, text);
  return text;
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
