// Writes orders of tests into a real database as a night would leave them before its compare: the
// ledger, a run, a snapshot with pages and entries, instructions in any state; by no statement that
// is under test.

import type { CompareRules } from '../../src/compare/verdictsStore.js';
import { PROOFS, refundAfter } from '../../src/core/instructions/instruction.js';
import type { Hundredths } from '../../src/core/money.js';
import { parseAmount } from '../../src/core/money.js';
import type { Verdict } from '../../src/core/orders/decideVerdict.js';
import type { Rules } from '../../src/core/orders/facts.js';
import type { Operation } from '../../src/core/orders/order.js';
import type { BreakKind, ReviewDecision } from '../../src/core/orders/verdict.js';
import type { Database, Db } from '../../src/database/db.js';
import { askRefunds } from '../../src/pull/snapshot/snapshotsStore.js';
import type { StoredEntry, StoredInstruction, StoredOrder } from './orders.js';
import { DATE_END, HOUR_MS, instructionFactsOf, money, SNAPSHOT_AT } from './orders.js';

export interface Snapshot {
  runId: bigint;
  pullId: bigint;
  accountId: string;
}

/** A run of the next free date, with one account in it unless that is the caller's. */
export async function storeRun(
  db: Db,
  accountId: string,
  options: { entered?: boolean } = {},
): Promise<bigint> {
  await db.query(
    "update tieout.runs set state = 'failed', runner_id = null where state = 'running' and not is_dry",
  );
  const { rows } = await db.query<{ run_id: bigint }>(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, runner_id, created_at)
     select day, array[day], $1::timestamptz - interval '1 day', $1, 'running', 'test', '{}', '',
       '0', gen_random_uuid(), $2::timestamptz
     from (select coalesce(max(business_date) + 1, date '2026-11-19') as day
       from tieout.runs) as next
     returning run_id`,
    [DATE_END, SNAPSHOT_AT],
  );
  const runId = rows[0]?.run_id ?? 0n;
  if (options.entered === false) return runId;
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state)
     select run_id, $2, business_date, 'M1', 'running' from tieout.runs where run_id = $1`,
    [runId, accountId],
  );
  return runId;
}

/** One snapshot of orders: each on a page of its own, so that any of them can fail. */
export async function storeSnapshot(
  db: Db,
  runId: bigint,
  accountId: string,
  orders: readonly StoredOrder[],
  kind: 'night' | 'confirm' = 'night',
): Promise<Snapshot> {
  const { rows } = await db.query<{ pull_id: bigint }>(
    `insert into tieout.pulls (run_id, kind, as_of, finished_at) values ($1, $2, $3, $3)
     returning pull_id`,
    [runId, kind, SNAPSHOT_AT],
  );
  const taken = { runId, pullId: rows[0]?.pull_id ?? 0n, accountId };
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger, currency,
       amount, expected, transaction_id, capture_amount, review_decision, placed_at)
     select $1, $2, * from jsonb_to_recordset($3::jsonb) as o (order_no text, page_no int,
       in_ledger boolean, currency text, amount numeric, expected text, transaction_id text,
       capture_amount numeric, review_decision text, placed_at timestamptz)`,
    [taken.pullId, accountId, json(ofAccount(accountId, orders.map(askedRow)))],
  );
  await db.query(
    `insert into tieout.pages (pull_id, account_id, page_no, state, orders, entries, attempts,
       reason, answered_at)
     select $1, $2, page_no, state, 1, case when state = 'answered' then entries end, 1,
       case when state = 'failed' then 'no answer' end,
       case when state = 'answered' then $4::timestamptz end
     from jsonb_to_recordset($3::jsonb) as p (page_no int, state text, entries int)`,
    [taken.pullId, accountId, json(orders.flatMap(pageRow)), SNAPSHOT_AT],
  );
  await storeEntries(db, taken, orders.flatMap(entryRows));
  await askRefunds(db, taken.pullId);
  return taken;
}

export async function storeEntries(
  db: Db,
  taken: Snapshot,
  rows: readonly ReturnType<typeof entryRow>[],
): Promise<void> {
  await db.query(
    `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
       is_asked, transaction_id, currency, amount, amount_text, state, payment_status, found,
       query_result, transaction_at, fraud_rejected)
     select $1, $2, * from jsonb_to_recordset($3::jsonb) as e (page_no int, position int,
       order_no text, is_extra boolean, is_asked boolean, transaction_id text, currency text,
       amount numeric, amount_text text, state text, payment_status text, found boolean,
       query_result text, transaction_at timestamptz, fraud_rejected boolean)`,
    [taken.pullId, taken.accountId, json(ofAccount(taken.accountId, rows))],
  );
}

/**
 * The ledger of an account becomes exactly these orders and their refund requests. `tables`: where
 * views stand in their place, what the names of the tables behind them begin with.
 */
export async function storeLedger(
  db: Db,
  accountId: string,
  orders: readonly StoredOrder[],
  tables = 'ledger.',
): Promise<void> {
  await db.query(`delete from ${tables}orders where account_id = $1`, [accountId]);
  await db.query(`delete from ${tables}refund_requests where account_id = $1`, [accountId]);
  const rows = ofAccount(accountId, orders.map(askedRow)).filter((row) => row.in_ledger);
  await db.query(
    `insert into ${tables}orders (account_id, order_no, currency, amount, expected, transaction_id,
       capture_amount, review_decision, placed_at)
     select $1, * from jsonb_to_recordset($2::jsonb) as o (order_no text, currency text,
       amount numeric, expected text, transaction_id text, capture_amount numeric,
       review_decision text, placed_at timestamptz)`,
    [accountId, json(rows)],
  );
  const requests = orders.flatMap((order) =>
    order.refunds.map((refund) => ({
      refund_id: scoped(order, refund.refundId),
      order_no: order.orderNo,
      refund_amount: money(refund.amount),
      requested_at: refund.requestedAt,
    })),
  );
  await db.query(
    `insert into ${tables}refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at)
     select $1, * from jsonb_to_recordset($2::jsonb) as r (refund_id text, order_no text,
       refund_amount numeric, requested_at timestamptz)`,
    [accountId, json(requests)],
  );
}

/** Instructions in any state, put there without the life that leads to it. */
export async function storeInstructions(
  db: Database,
  runId: bigint,
  accountId: string,
  orders: readonly StoredOrder[],
): Promise<void> {
  const rows = ofAccount(
    accountId,
    orders.flatMap((order) =>
      order.instructions.map((instruction) => instructionRow(order, instruction)),
    ),
  );
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
         currency, amount, refund_id, refund_amount, review_decision, from_state, done_states,
         state, hold_reason, batch_id, created_at, settled_at, settled_run_id, reason, is_refused,
         replan_id, is_part)
       select $1, $2, order_no, operation, transaction_id, currency, amount, refund_id,
         refund_amount, review_decision, from_state, done_states, state,
         case when state = 'held' then 'approval' end,
         case when state in ('queued', 'sending', 'accepted') then 0 end, $4::timestamptz,
         case when state in ('confirmed', 'rejected', 'withdrawn') then $4::timestamptz end,
         case when state in ('confirmed', 'rejected', 'withdrawn') then $1::bigint end,
         case when state in ('unknown', 'withdrawn') then 'test' end, is_refused,
         case when is_replanned then 0 end, is_part
       from jsonb_to_recordset($3::jsonb) as i (order_no text, operation text,
         transaction_id text, currency text, amount numeric, refund_id text,
         refund_amount numeric, review_decision text, from_state text, done_states text[],
         state text, is_refused boolean, is_replanned boolean, is_part boolean)`,
      [runId, accountId, json(rows), SNAPSHOT_AT],
    );
  });
}

export function compareRulesOf(rules: Rules, accountIds: readonly string[]): CompareRules {
  return {
    asOf: rules.asOf,
    dateEnd: rules.dateEnd,
    graceHours: rules.graceMs / HOUR_MS,
    staleDays: rules.staleMs / (24 * HOUR_MS),
    tolerance: rules.tolerance,
    partialCapture: rules.partialCapture,
    off: [...rules.off],
    accounts: accountIds.map((accountId) => ({
      account_id: accountId,
      live_from: rules.liveFrom,
    })),
  };
}

export type StoredVerdict = Omit<Verdict, 'transaction' | 'notCompared'> & {
  notCompared: Verdict['notCompared'] | 'separator' | null;
};

/** The verdicts of a run by order; an order without a row was compared and matched. */
export async function storedVerdicts(db: Db, taken: Snapshot): Promise<Map<string, StoredVerdict>> {
  const { rows } = await db.query<{
    order_no: string;
    not_compared: StoredVerdict['notCompared'];
    kinds: BreakKind[];
    need: Operation | null;
    awaited: boolean;
    tolerated: boolean;
    transaction_id: string;
    ledger_currency: string;
    need_amount: string | null;
    refund_id: string | null;
    refund_amount: string | null;
    review_decision: ReviewDecision | null;
  }>('select * from tieout.verdicts where run_id = $1 and account_id = $2', [
    taken.runId,
    taken.accountId,
  ]);
  return new Map(
    rows.map((row) => [
      row.order_no,
      {
        notCompared: row.not_compared,
        kinds: row.kinds,
        awaited: row.awaited,
        tolerated: row.tolerated,
        need: row.need && {
          operation: row.need,
          transactionId: unscoped(row.transaction_id) ?? '',
          currency: row.ledger_currency,
          amount: exact(row.need_amount) ?? 0n,
          refundId: unscoped(row.refund_id),
          refundAmount: exact(row.refund_amount),
          reviewDecision: row.review_decision,
        },
      },
    ]),
  );
}

/** What two people do: every open break of the order is waived, with the event. */
export async function waiveAll(
  db: Db,
  accountId: string,
  runId: bigint,
  orderNo: string,
): Promise<void> {
  await db.query(
    `update tieout.breaks set waiver_asked_by = 'bert', waiver_asked_for = fingerprint
     where account_id = $1 and order_no = $2 and state = 'open'`,
    [accountId, orderNo],
  );
  await db.query(
    `with waived as (
       update tieout.breaks set state = 'waived', waived_reason = 'known', waived_by = 'anna',
         waived_limit = 0
       where account_id = $1 and order_no = $2 and state = 'open'
       returning break_id, currency, amount, expected, actual)
     insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason,
       currency, amount, expected, actual)
     select break_id, $3, now(), 'waived', 'open', 'anna', 'known', currency, amount, expected,
       actual from waived`,
    [accountId, orderNo, runId],
  );
}

/** Transactions are unique at the gateway; the cases of all accounts have the same few orders. */
function ofAccount<R extends { transaction_id?: string | null }>(
  accountId: string,
  rows: readonly R[],
): R[] {
  return rows.map((row) =>
    row.transaction_id?.includes('/')
      ? { ...row, transaction_id: `${accountId}.${row.transaction_id}` }
      : row,
  );
}

/** Ids are unique in an account; the cases repeat T1 and R1 in every order, which share `*T1`. */
function scoped(order: StoredOrder, id: string | null | undefined): string | null {
  if (id?.startsWith('*')) return `shared/${id.slice(1)}`;
  return id ? `${order.orderNo}/${id}` : (id ?? null);
}

function unscoped(id: string | null): string | null {
  return id?.split('/')[1] ?? null;
}

function askedRow(order: StoredOrder, index: number) {
  const { ledger } = order;
  return {
    order_no: order.orderNo,
    page_no: order.page === 'separator' || order.page === 'unasked' ? null : index,
    in_ledger: ledger !== null,
    currency: ledger?.currency,
    amount: ledger && money(ledger.amount),
    expected: ledger?.expected,
    transaction_id: scoped(order, ledger?.transactionId),
    capture_amount: ledger?.captureAmount && money(ledger.captureAmount),
    review_decision: ledger?.reviewDecision,
    placed_at: ledger?.placedAt,
  };
}

function pageRow(order: StoredOrder, index: number) {
  if (order.page === 'separator') return [];
  // What came unasked stands in some other page that was answered.
  const state = order.page === 'failed' ? 'failed' : 'answered';
  return [{ page_no: index, state, entries: order.entries.length }];
}

function entryRows(order: StoredOrder, index: number) {
  const isAsked = order.page === 'answered';
  return order.entries.map((entry, position) =>
    entryRow(order, entry, {
      page_no: index,
      position,
      is_extra: position > 0 || !isAsked,
      is_asked: isAsked,
    }),
  );
}

/** Where an entry stood in the answers, and whether it is the one that its page was asked for. */
export interface EntryPlace {
  page_no: number;
  position: number;
  is_extra: boolean;
  is_asked: boolean;
}

export function entryRow(order: StoredOrder, entry: StoredEntry, place: EntryPlace) {
  return {
    ...place,
    order_no: order.orderNo,
    transaction_id: scoped(order, entry.transactionId),
    currency: entry.currency,
    amount: entry.amount === null ? null : money(entry.amount),
    amount_text: entry.amountText,
    state: entry.state,
    payment_status: entry.paymentStatus,
    found: entry.found,
    query_result: entry.queryResult,
    transaction_at: entry.transactionAt,
    fraud_rejected: entry.fraudRejected ?? false,
  };
}

function instructionRow(order: StoredOrder, instruction: StoredInstruction) {
  const facts = instructionFactsOf(order, instruction);
  return {
    order_no: order.orderNo,
    operation: facts.operation,
    transaction_id: scoped(order, facts.transactionId),
    currency: facts.currency,
    amount: money(facts.amount),
    refund_id: scoped(order, facts.refundId),
    refund_amount: facts.refundAmount === null ? null : money(facts.refundAmount),
    review_decision: facts.reviewDecision,
    ...proofOf(order, instruction),
    state: facts.state,
    is_refused: facts.isRefused,
    is_replanned: facts.isReplanned,
    is_part: facts.isPart,
  };
}

function proofOf(order: StoredOrder, instruction: StoredInstruction) {
  const { operation, refundAmount, fromState } = instruction;
  if (operation === 'refund') {
    const completes = refundAmount === order.ledger?.amount;
    return { from_state: fromState ?? 'captured', done_states: refundAfter(completes) };
  }
  const decision = operation === 'review' ? (instruction.decision ?? 'accept') : null;
  const proof = PROOFS.find((one) => one.operation === operation && one.decision === decision);
  return { from_state: fromState ?? proof?.before, done_states: proof?.after };
}

function exact(text: string | null): Hundredths | null {
  return text === null ? null : parseAmount(text);
}

function json(rows: unknown): string {
  return JSON.stringify(rows);
}
