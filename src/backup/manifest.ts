// What a backup says of itself, and whether that can be so: it may come from anybody. Names are
// those of our schemas, files those that a backup has, numbers are numbers; whatever else it says
// is refused before anything is done by it. Pure. Neighbour: backupFiles.ts reads and writes it.

import { z } from 'zod';

export const FORMAT = 'tieout backup 1';
const TABLES_MAX = 1_000;
const COLUMNS_MAX = 1_600;
const LIST_MAX = 10_000;

const relation = z.string().regex(/^(?:tieout|ledger)\.[a-z_][a-z0-9_]{0,62}$/);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);

const tableSchema = z
  .strictObject({
    /** schema and name */
    table: relation,
    columns: z.array(z.string().max(130)).min(1).max(COLUMNS_MAX),
    rows: count,
    file: z.string().max(200),
    bytes: count,
    sha256: digest,
  })
  .refine(({ table, file }) => [`${table}.copy.gz`, `${table}.copy.gz.sealed`].includes(file));

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  /** the moment that all of it shows, by the database's clock */
  takenAt: z.iso.datetime(),
  version: z.string().max(100),
  migrations: z.array(z.string().max(200)).max(LIST_MAX),
  /** the first day of each month that the snapshots are in; an old backup has none */
  months: z
    .array(z.string().regex(/^\d{4}-\d\d-01$/))
    .max(LIST_MAX)
    .optional(),
  tables: z
    .array(tableSchema)
    .max(TABLES_MAX)
    .refine((tables) => new Set(tables.map(({ table }) => table)).size === tables.length),
  sequences: z
    .array(z.strictObject({ sequence: relation, lastValue: z.string().regex(/^\d{1,19}$/) }))
    .max(LIST_MAX),
  /** views that a merchant put in place of tables of the ledger: their rows live elsewhere */
  views: z.array(z.string().max(200)).max(LIST_MAX),
  /** where it is encrypted: by which key, and the salt of this backup */
  sealing: z
    .strictObject({
      salt: z.string().regex(/^[0-9a-f]{32}$/),
      keyMark: z.string().regex(/^[0-9a-f]{16}$/),
    })
    .optional(),
});

export type BackupManifest = z.infer<typeof manifestSchema>;
export type BackupTable = BackupManifest['tables'][number];

/** The manifest, or the first place of it that cannot be. */
export function checkManifest(
  given: unknown,
): { kind: 'manifest'; manifest: BackupManifest } | { kind: 'refused'; at: string } {
  const read = manifestSchema.safeParse(given);
  if (read.success) return { kind: 'manifest', manifest: read.data };
  return { kind: 'refused', at: (read.error.issues[0]?.path ?? []).join('.') };
}
