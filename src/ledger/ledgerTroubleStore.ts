// What is wrong with the relations of a merchant's ledger, in words: rows that name nothing,
// columns of a type that nobody can read, and, where a view itself fails, for which row. The first
// is asked every run; the others once a run has failed, and by doctor. Neighbours:
// ledgerStore.ts, and the door that reads each row, migrations/0053 and 0067.

import { DatabaseAwayError, messageOf, TieoutError } from '../core/errors.js';
import type { ZonelessColumn } from '../core/ledger/zoneless.js';
import type { UnusableRows } from '../core/runs/notices.js';
import { cutText } from '../core/text/heldText.js';
import { refusedRight } from '../database/connection.js';
import type { Database, Db } from '../database/db.js';
import { identifier, named, type Quoted } from '../database/identifiers.js';
import { ASKED_LIMITS } from '../database/limits.js';
import { gaveUpWaiting } from '../database/server/lockWaits.js';
import { statement } from '../database/statements.js';
import { keptTotals } from './ledgerFeedStore.js';
import { ledgerRelation } from './ledgerStore.js';

/** How the door reads a column, whatever its type is; of no row, and all the same it is planned. */
const READ = {
  text: (column: Quoted, from: Quoted) => named`select ${column}::text from ${from} limit 0`,
  amount: (column: Quoted, from: Quoted) =>
    named`select tieout.amount_in(${column}) from ${from} limit 0`,
  instant: (column: Quoted, from: Quoted) =>
    named`select tieout.instant_in(${column}) from ${from} limit 0`,
  payload: (column: Quoted, from: Quoted) =>
    named`select tieout.payload_in(${column}) from ${from} limit 0`,
};

const TAKES: Record<keyof typeof READ, string> = {
  text: 'a text',
  amount: 'a number, or the text of one',
  instant: 'a time, or the text of one with its zone',
  payload: 'jsonb, json or a text',
};

interface Relation {
  name: string;
  key: string;
  columns: Readonly<Record<string, keyof typeof READ>>;
}

const RELATIONS: readonly Relation[] = [
  {
    name: 'orders',
    key: 'order_no',
    columns: {
      account_id: 'text',
      order_no: 'text',
      currency: 'text',
      amount: 'amount',
      expected: 'text',
      transaction_id: 'text',
      capture_amount: 'amount',
      review_decision: 'text',
      placed_at: 'instant',
    },
  },
  {
    name: 'refund_requests',
    key: 'refund_id',
    columns: {
      account_id: 'text',
      refund_id: 'text',
      order_no: 'text',
      refund_amount: 'amount',
      reason: 'text',
      requested_by: 'text',
      requested_at: 'instant',
    },
  },
  {
    name: 'payout_requests',
    key: 'request_id',
    columns: {
      account_id: 'text',
      request_id: 'text',
      payload: 'payload',
      requested_at: 'instant',
    },
  },
  {
    name: 'disputes',
    key: 'dispute_id',
    columns: {
      account_id: 'text',
      dispute_id: 'text',
      order_no: 'text',
      transaction_id: 'text',
      currency: 'text',
      amount: 'amount',
      stage: 'text',
      at: 'instant',
    },
  },
  {
    name: 'control_totals',
    key: 'business_date',
    columns: {
      account_id: 'text',
      business_date: 'text',
      currency: 'text',
      count: 'amount',
      amount: 'amount',
      complete_at: 'instant',
    },
  },
];

/** Rows without a name, or with one that no index of a snapshot holds. */
export async function unusableRows(db: Db, accountIds: readonly string[]): Promise<UnusableRows[]> {
  const { rows } = await db.query<{
    relation: string;
    account_id: string;
    rows: bigint;
    sample: string;
  }>(statement('ledger/unusableRows'), [accountIds]);
  return rows.map(({ relation, account_id: accountId, rows: count, sample }) => {
    return { relation, accountId, rows: Number(count), sample };
  });
}

/** Times whose type has no zone, a domain over one included; no row says which it means. */
export async function zonelessColumns(db: Db): Promise<ZonelessColumn[]> {
  const times = RELATIONS.flatMap(({ name, columns }) =>
    Object.entries(columns).flatMap(([column, kind]) =>
      kind === 'instant' ? [{ relation: name, column }] : [],
    ),
  );
  const { rows } = await db.query<ZonelessColumn>(
    `select t.relation, t.name as "column"
     from unnest($1::text[], $2::text[]) with ordinality as t (relation, name, nth)
     join pg_attribute a on a.attrelid = to_regclass('ledger.' || t.relation)
       and a.attname = t.name and not a.attisdropped
     join pg_type y on y.oid = a.atttypid
     where coalesce(nullif(y.typbasetype, 0), y.oid)
       in ('timestamp without time zone'::regtype, 'date'::regtype)
     order by t.nth`,
    [times.map(({ relation }) => relation), times.map(({ column }) => column)],
  );
  return rows;
}

/** Why the ledger cannot be read as a whole, and what to do; null: it can. */
export async function ledgerTrouble(db: Database): Promise<string | null> {
  for (const relation of RELATIONS) {
    if (await isDispensable(db, relation)) continue;
    const trouble =
      (await wholeTrouble(db, relation)) ??
      (await shapeTrouble(db, relation)) ??
      (await rowTrouble(db, relation));
    if (trouble !== null) return trouble;
  }
  return null;
}

/** Control totals that nobody keeps need not be there. */
async function isDispensable(db: Database, { name }: Relation): Promise<boolean> {
  if (name !== 'control_totals' || (await ledgerRelation(db, name)) !== 'missing') return false;
  return !(await keptTotals(db, null));
}

/** A relation that is not there, or that nobody is let into: of a view its owner has to be. */
async function wholeTrouble(db: Database, { name }: Relation): Promise<string | null> {
  const problem = await failureOf(db, named`select from ${identifier('ledger', name)} limit 0`);
  if (problem === null) return null;
  return (
    `ledger.${name} cannot be read: ${problem}. Bring the relation back, or give the right back ` +
    "(a view reads by its owner's rights), and run again"
  );
}

/** A column that is not there, or of a type that the door does not take. */
async function shapeTrouble(db: Database, relation: Relation): Promise<string | null> {
  const { name, columns } = relation;
  for (const [column, kind] of Object.entries(columns)) {
    const read = READ[kind](identifier(column), identifier('ledger', name));
    const problem = await failureOf(db, read);
    if (problem === null) continue;
    return (
      `ledger.${name} cannot be read: its column ${column} must be ${TAKES[kind]} ` +
      `(${problem}). Correct the view, or bring the relation back, and run again`
    );
  }
  return null;
}

/** A view that raises an error for one of its rows. */
async function rowTrouble(db: Database, relation: Relation): Promise<string | null> {
  const { name, columns } = relation;
  if ((await ledgerRelation(db, name)) !== 'view') return null;
  const view = identifier('ledger', name);
  if ((await failureOf(db, named`select count(whole::text) from ${view} as whole`)) === null) {
    return null;
  }
  for (const column of Object.keys(columns)) {
    const problem = await failureOf(
      db,
      named`select count(${identifier(column)}::text) from ${view}`,
    );
    if (problem === null) continue;
    const row = await firstFailing(db, relation, column);
    const where = row === null ? '' : ` of ${relation.key} ${cutText(row, 64)}`;
    return (
      `the view ledger.${name} fails for its column ${column}${where}: ${problem}. ` +
      'No row of it can be read before that one is corrected, there or in the view; then run again'
    );
  }
  return null;
}

/** Each step leaves half of what is left. */
const STEPS_MAX = 48;

/** The first key whose column cannot be read; null: the key itself cannot, or it reads by now. */
async function firstFailing(db: Database, relation: Relation, column: string) {
  const [value, key] = [identifier(column), identifier(relation.key)];
  const view = identifier('ledger', relation.name);
  let after: string | null = null;
  let upTo: string | null = null;
  for (let step = 0; step < STEPS_MAX; step++) {
    const bounds: readonly unknown[] = [after, upTo];
    const middle: { middle: string | null; keys: bigint } | null = await readOrNull(
      db,
      named`select percentile_disc(0.5) within group (order by key) as middle, count(*) as keys
       from (
         select distinct key from (select ${key}::text collate "C" as key from ${view}) as row
         where ($1::text is null or key > $1) and ($2::text is null or key <= $2)
       ) as one`,
      bounds,
    );
    if (middle === null || middle.middle === null) return null;
    if (middle.keys === 1n) return middle.middle;
    const half = await failureOf(
      db,
      named`select count(value)
       from (select ${value}::text as value, ${key}::text collate "C" as key from ${view}) as row
       where ($1::text is null or key > $1) and ($2::text is null or key <= $2)`,
      [after, middle.middle],
    );
    if (half === null) after = middle.middle;
    else upTo = middle.middle;
  }
  return null;
}

async function readOrNull<Row extends object>(
  db: Database,
  text: string,
  values: readonly unknown[],
): Promise<Row | null> {
  try {
    return (
      (await db.transaction((tx) => tx.query<Row>(text, values), ASKED_LIMITS)).rows[0] ?? null
    );
  } catch (error) {
    if (error instanceof DatabaseAwayError || gaveUpWaiting(error)) throw error;
    return null;
  }
}

/** What the server says of a statement; null where it answers it. */
async function failureOf(
  db: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<string | null> {
  try {
    await db.transaction((tx) => tx.query(text, values), ASKED_LIMITS);
    return null;
  } catch (error) {
    // Of a table that somebody has locked nothing is known.
    if (error instanceof DatabaseAwayError || gaveUpWaiting(error)) throw error;
    return refusedRight(error) ?? messageOf(error);
  }
}

/** Classes of SQLSTATE by which a view fails, or is not what it should be: data, names, raise. */
const LEDGER_CLASSES: readonly string[] = ['21', '22', '42', 'P0'];

/** Whether an error is one that the ledger may be the cause of. */
export function mayBeLedger(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (refusedRight(error) !== null) return true;
  return (
    'code' in error &&
    typeof error.code === 'string' &&
    LEDGER_CLASSES.includes(error.code.slice(0, 2))
  );
}

/** Before the first migration there is no relation that could be brought back. */
async function isLaidOut(db: Database): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>(
    `select to_regclass('tieout.runs') is not null as is`,
  );
  return rows[0]?.is === true;
}

interface Asked {
  db: Database;
  heldUpBy?: () => string | null;
}

/** The error, or where the ledger or a lock is its cause, what is wrong and what to do. */
export async function inLedgerWords({ db, heldUpBy }: Asked, error: unknown): Promise<unknown> {
  if (gaveUpWaiting(error)) {
    const words = heldUpBy?.() ?? messageOf(error);
    return new TieoutError(`${words}; it is no longer waited for`, { cause: error });
  }
  if (!mayBeLedger(error)) return error;
  const trouble = await isLaidOut(db)
    .then((isThere) => (isThere ? ledgerTrouble(db) : null))
    .catch(() => null);
  return trouble === null ? error : new TieoutError(trouble, { cause: error });
}
