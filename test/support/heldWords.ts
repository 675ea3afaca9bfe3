// Where a word stands in the database, whatever the column is: also packed, and inside of bytes.

import { gunzipSync } from 'node:zlib';
import type { Database } from '../../src/database/db.js';

/** Columns of ours and of the ledger that hold it, as `tieout.breaks.note`, in order. */
export async function columnsHolding(db: Database, word: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('tieout', 'ledger')`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: all } = await db.query<Record<string, unknown>>(`select * from ${name}`);
    const held = all.flatMap(Object.entries).filter(([, value]) => textOf(value).includes(word));
    found.push(...held.map(([column]) => `${name}.${column}`));
  }
  return [...new Set(found)].sort();
}

const GZIP = 0x1f8b;

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Buffer.isBuffer(value)) {
    return JSON.stringify(value, (_, of) => (typeof of === 'bigint' ? String(of) : of)) ?? '';
  }
  const isPacked = value.length > 2 && value.readUInt16BE(0) === GZIP;
  return (isPacked ? gunzipSync(value) : value).toString('latin1');
}
