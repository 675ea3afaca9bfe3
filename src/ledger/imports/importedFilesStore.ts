// The memory of files that were imported: which bytes went into which table of the ledger, read
// through which map, and when first. Neighbour: ledger/imports/tableImport.ts asks before it reads
// a file.

import type { Db } from '../../database/db.js';

/** What makes a file the same again. */
export interface FileMark {
  readonly relation: string;
  readonly sha256: string;
  /** Empty where the file has the ledger's own columns. */
  readonly mapSha256: string;
}

export interface KnownFile {
  readonly lines: number;
  readonly importedAt: Date;
}

/** When these bytes were imported first; null where they never were. */
export async function knownFile(db: Db, mark: FileMark): Promise<KnownFile | null> {
  const { rows } = await db.query<{ lines: bigint; imported_at: Date }>(
    `select lines, imported_at from tieout.imported_files
     where relation = $1 and sha256 = $2 and map_sha256 = $3`,
    [mark.relation, mark.sha256, mark.mapSha256],
  );
  const [row] = rows;
  return row === undefined ? null : { lines: Number(row.lines), importedAt: row.imported_at };
}

/** The first time stays. */
export async function rememberFile(
  db: Db,
  mark: FileMark,
  { name, lines }: { name: string; lines: number },
): Promise<void> {
  await db.query(
    `insert into tieout.imported_files (relation, sha256, map_sha256, name, lines)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [mark.relation, mark.sha256, mark.mapSha256, name, lines],
  );
}
