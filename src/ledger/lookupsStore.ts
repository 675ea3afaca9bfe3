// Whether an order of the ledger is found by an index. A view over tables of the merchant's is
// looked up by text and by bytes (collate "C"), which an index of the table's own collation does
// not serve: then all of the table is read, several times for each instruction that is sent.
// Neighbour: cli/setup/checks/ledgerChecks.ts says it.

import type { Db } from '../database/db.js';
import { identifier, named } from '../database/identifiers.js';

interface WholeRead {
  /** of the ledger */
  relation: string;
  /** the table that is read whole, with its schema; of a partitioned one all of it */
  table: string;
  /** as the server estimates them */
  rows: number;
  /** the columns of an index that would serve, by the names that they have in the ledger */
  index: string;
}

/** A table with no more is read whole in a few hundredths of a second. */
const ROWS_MIN = 50_000;
const LOOKED_UP = { orders: 'order_no', refund_requests: 'order_no' };

/**
 * Large tables that are read whole to find one row of these accounts: a view may have an account as
 * a constant, so that of another one nothing is read at all. Plans each lookup, and makes none.
 */
export async function wholeReads(db: Db, accountIds: readonly string[]): Promise<WholeRead[]> {
  const found: WholeRead[] = [];
  for (const [relation, key] of Object.entries(LOOKED_UP)) {
    const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      named`explain (format json, verbose) select from ledger.${identifier(relation)}
        where account_id::text collate "C" = any ($1)
          and ${identifier(key)}::text collate "C" = '-'`,
      [accountIds],
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    const tables = plan === undefined ? [] : scannedBy(plan);
    const index = tables.length === 0 ? '' : await indexFor(db, relation, ['account_id', key]);
    for (const one of await largeOnes(db, tables)) found.push({ relation, ...one, index });
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
    `select whole.oid::regclass::text as "table", sum(c.reltuples)::float8 as rows
     from (select distinct * from unnest($1::text[], $2::text[]) as t (schema, name)) t
     join pg_namespace n on n.nspname = t.schema
     join pg_class c on c.relnamespace = n.oid and c.relname = t.name
     cross join lateral (
       select coalesce(pg_partition_root(c.oid)::oid, c.oid) as oid
     ) whole
     group by 1 having sum(c.reltuples) > $3 order by 1`,
    [tables.map(([schema]) => schema), tables.map(([, name]) => name), ROWS_MIN],
  );
  return rows;
}

/** What is no text is looked up as one. */
async function indexFor(db: Db, relation: string, columns: readonly string[]): Promise<string> {
  const { rows } = await db.query<{ index: string }>(
    `select string_agg(case when y.typcategory = 'S' and y.typname <> 'bpchar' then a.attname
         else format('(%s::text)', a.attname) end || ' collate "C"', ', ' order by t.nth) as index
     from unnest($2::text[]) with ordinality as t (name, nth)
     join pg_attribute a on a.attrelid = to_regclass('ledger.' || $1) and a.attname = t.name
     join pg_type y on y.oid = a.atttypid`,
    [relation, columns],
  );
  return rows[0]?.index ?? '';
}
