// Was a file imported before? The same bytes, read the same way, change nothing, whenever they
// come and whatever they are called: yesterday's export does not undo today's. Neighbours:
// ledger/imports/importedFilesStore.ts is the memory, tableImport.ts leaves out what is known.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { ColumnMap } from '../../core/mapping/columnMap.js';
import type { Db } from '../../database/db.js';
import type { FileMark, KnownFile } from './importedFilesStore.js';
import { knownFile, rememberFile } from './importedFilesStore.js';

export interface FileBefore {
  readonly file: string;
  readonly mark: FileMark;
  /** null: these bytes are new, or they were asked for once more. */
  readonly known: KnownFile | null;
}

export async function filesBefore(
  tx: Db,
  relation: string,
  files: readonly string[],
  { map, allowOlder }: { map?: ColumnMap; allowOlder?: boolean },
): Promise<FileBefore[]> {
  const mapSha256 = map === undefined ? '' : textDigest(JSON.stringify(map));
  const found: FileBefore[] = [];
  for (const file of files) {
    const mark = { relation, sha256: await fileDigest(file), mapSha256 };
    found.push({ file, mark, known: allowOlder === true ? null : await knownFile(tx, mark) });
  }
  return found;
}

export async function rememberFiles(
  tx: Db,
  before: readonly FileBefore[],
  lines: readonly number[],
): Promise<void> {
  for (const [at, { file, mark, known }] of before.entries()) {
    if (known === null) await rememberFile(tx, mark, { name: file, lines: lines[at] ?? 0 });
  }
}

export function knownWarnings(before: readonly FileBefore[]): string[] {
  return before.flatMap(({ file, known }) => {
    if (known === null) return [];
    const at = known.importedAt.toISOString().replace(/\.\d+Z$/, 'Z');
    return [
      `${file}: the same bytes were imported on ${at}, and change nothing now; ` +
        'after a lost ledger --allow-older takes them once more',
    ];
  });
}

export async function fileDigest(file: string): Promise<string> {
  const hash = createHash('sha256');
  const pieces: AsyncIterable<Buffer> = createReadStream(file);
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
