// Whether an order of the ledger is found by an index. A view over tables of the merchant's is
// looked up by text and by bytes (collate "C"), which an index of the table's own collation does
// not serve: then all of the table is read, several times for each instruction that is sent.
// Neighbour: cli/setup/checks/ledgerChecks.ts says it.

import type { Db } from '../database/db.js';
import { identifier, named } from '../database/identifiers.js';

interface WholeRead {
  /** of the ledger */
  relation: string;
  /** by which it is looked up, beside the account */
  key: string;
  /** the table that is read whole, with its schema */
  table: string;
  /** as the server estimates them */
  rows: number;
}

/** A table with no more is read whole in a few hundredths of a second. */
const ROWS_MIN = 50_000;
const LOOKED_UP = {
  orders: 'order_no',
  refund_requests: 'order_no',
  payout_requests: 'request_id',
};

/** Large tables that are read whole to find one row. Plans each lookup, and makes none. */
export async function wholeReads(db: Db): Promise<WholeRead[]> {
  const found: WholeRead[] = [];
  for (const [relation, key] of Object.entries(LOOKED_UP)) {
    const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      named`explain (format json, verbose) select from ledger.${identifier(relation)}
        where account_id::text collate "C" = '-' and ${identifier(key)}::text collate "C" = '-'`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    const tables = plan === undefined ? [] : scannedBy(plan);
    for (const { table, rows: count } of await largeOnes(db, tables)) {
      found.push({ relation, key, table, rows: count });
    }
  }
  return found;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Schema?: string;
  Plans?: PlanNode[];
}

function scannedBy(node: PlanNode): [schema: string, name: string][] {
  const { Schema: schema, 'Relation Name': name, Plans: below = [] } = node;
  const isWhole = node['Node Type'] === 'Seq Scan' && schema !== undefined && name !== undefined;
  return [...(isWhole ? [[schema, name] as [string, string]] : []), ...below.flatMap(scannedBy)];
}

async function largeOnes(
  db: Db,
  tables: readonly (readonly [schema: string, name: string])[],
): Promise<{ table: string; rows: number }[]> {
  const { rows } = await db.query<{ table: string; rows: number }>(
    `select distinct format('%I.%I', n.nspname, c.relname) as "table", c.reltuples::float8 as rows
     from unnest($1::text[], $2::text[]) as t (schema, name)
     join pg_namespace n on n.nspname = t.schema
     join pg_class c on c.relnamespace = n.oid and c.relname = t.name
     where c.reltuples > $3 order by 1`,
    [tables.map(([schema]) => schema), tables.map(([, name]) => name), ROWS_MIN],
  );
  return rows;
}
