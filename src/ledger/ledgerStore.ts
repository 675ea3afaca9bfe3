// The ledger as a whole: what stands behind its names, whether it holds anything, and loading all
// of it at once, for the demo and the bench bring their own merchant. Everything else only reads
// the ledger, or goes through `tieout import`. Neighbours: stagedOrdersStore.ts and the like write
// line by line.

import { copyText } from '../database/copy/copyText.js';
import type { Db, Tx } from '../database/db.js';
import { columnList, named } from '../database/identifiers.js';

const ORDER_COLUMNS = [
  'account_id',
  'order_no',
  'currency',
  'amount',
  'expected',
  'transaction_id',
  'capture_amount',
  'review_decision',
  'placed_at',
  'updated_at',
] as const;
const REFUND_COLUMNS = [
  'account_id',
  'refund_id',
  'order_no',
  'refund_amount',
  'reason',
  'requested_by',
  'requested_at',
] as const;

type Row<K extends string> = Readonly<Record<K, string | null>>;
export type LedgerOrder = Row<(typeof ORDER_COLUMNS)[number]>;
export type LedgerRefund = Row<(typeof REFUND_COLUMNS)[number]>;

/** A merchant may put a view in place of a table; such a one is not ours to write. */
export async function ledgerRelation(db: Db, name: string): Promise<'table' | 'view' | 'missing'> {
  const { rows } = await db.query<{ relkind: string }>(
    `select c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'ledger' and c.relname = $1`,
    [name],
  );
  const kind = rows[0]?.relkind;
  if (kind === undefined) return 'missing';
  return kind === 'r' || kind === 'p' ? 'table' : 'view';
}

/** Nothing keeps a row from standing twice: it is a view, or a table made without its key. */
export async function mayRepeat(db: Db, name: string, key: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select not exists (
       select from pg_constraint
       where conrelid = to_regclass('ledger.' || $1) and contype in ('p', 'u')
         and array(select attname::text from pg_attribute
           where attrelid = conrelid and attnum = any (conkey)) <@ $2::text[]) as may`,
    [name, key],
  );
  return rows[0]?.may ?? true;
}

/** Of these accounts those of which the ledger holds nothing at all. */
export async function accountsWithoutOrders(
  db: Db,
  accountIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select a.account_id from unnest($1::text[]) as a (account_id)
     where not exists (
       select from tieout.ledger_orders('{}', '{}', '') o where o.account_id = a.account_id)
     order by a.account_id`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}

export async function hasOrders(db: Db): Promise<boolean> {
  const { rows } = await db.query('select from ledger.orders limit 1');
  return rows.length > 0;
}

/** Loads orders and refund requests by COPY; refunds are gathered while the orders go in. */
export async function loadLedger(
  tx: Tx,
  rows: Iterable<{ order: LedgerOrder; refunds: readonly LedgerRefund[] }>,
): Promise<{ orders: number; refunds: number }> {
  const refunds: LedgerRefund[] = [];
  function* orderLines(): Generator<string> {
    for (const row of rows) {
      refunds.push(...row.refunds);
      yield line(ORDER_COLUMNS, row.order);
    }
  }
  const orders = await tx.copy(
    named`copy ledger.orders (${columnList(ORDER_COLUMNS)}) from stdin`,
    blocks(orderLines()),
  );
  await tx.copy(
    named`copy ledger.refund_requests (${columnList(REFUND_COLUMNS)}) from stdin`,
    blocks(refunds.map((refund) => line(REFUND_COLUMNS, refund))),
  );
  return { orders, refunds: refunds.length };
}

function line<K extends string>(columns: readonly K[], row: Row<K>): string {
  return `${columns.map((column) => copyText(row[column])).join('\t')}\n`;
}

const BLOCK_LINES = 1_000;

/** Lines joined into blocks, since a write a line would be slow. */
function* blocks(lines: Iterable<string>): Generator<string> {
  let block: string[] = [];
  for (const one of lines) {
    block.push(one);
    if (block.length === BLOCK_LINES) {
      yield block.join('');
      block = [];
    }
  }
  if (block.length > 0) yield block.join('');
}

/** Requests of an account from before its liveFrom: history, which is never sent. */
export async function historyCounts(
  db: Db,
  account: { accountId: string; liveFrom: Date },
): Promise<{ refunds: number; payouts: number }> {
  const { rows } = await db.query<{ refunds: bigint; payouts: bigint }>(
    `select
       (select count(*) from tieout.ledger_refunds() r
         where r.account_id collate "C" = $1 and r.requested_at < $2) as refunds,
       (select count(*) from tieout.ledger_payouts() p
         where p.account_id collate "C" = $1 and p.requested_at < $2) as payouts`,
    [account.accountId, account.liveFrom],
  );
  return { refunds: Number(rows[0]?.refunds ?? 0n), payouts: Number(rows[0]?.payouts ?? 0n) };
}

/** The clock by which the door judges rows of views, too. */
export async function databaseNow(tx: Db): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>('select now()');
  if (!rows[0]) throw new Error('the database told no time');
  return rows[0].now;
}
