// The figures of a run, read from what its steps recorded (docs/CONTRACT.md section 7). Nothing is
// counted in the program: each function is one statement. That each order is in one class and that
// the open breaks carry over, total.ts holds by them.

import { NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import type { ConfirmedMoney } from '../core/orders/totals.js';
import type { MoneyTie } from '../core/runs/reporting.js';
import type { AccountSummary, CurrencyTotals, PullFigures, Tie } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf, relationsOfRun } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

/**
 * What the newest snapshot of an account brought; it changes no more once the snapshot is finished.
 */
export interface SnapshotFigures {
  accountId: string;
  pull: PullFigures;
  /** asked orders with at least one entry; `pull.answered` counts those that came unasked, too */
  askedAnswered: number;
  ledger: number;
  gatewayOnly: number;
  gateway: number;
  /** of its orders in the ledger */
  currencies: readonly string[];
  /** live orders and gateway-only orders of the pull, counted apart from the classes */
  orders: number;
}

export interface AccountFigures extends SnapshotFigures {
  /** of the snapshots after sending, orders that left their page too; `pull` is the first alone */
  failedLater: number;
  /** of these, pages */
  pagesLater: number;
  /** orders by class; `matched` is what the compare counted plus what became matched since */
  classes: Record<string, number>;
}

/** An account that nobody configured: it has breaks, and nothing else. */
export function onlyBreaks(accountId: string): AccountFigures {
  const pull = { pages: 0, failedPages: 0, asked: 0, answered: 0, unanswered: 0, unasked: 0 };
  const orders = { ledger: 0, gatewayOnly: 0, gateway: 0, orders: 0, askedAnswered: 0 };
  return { accountId, pull, ...orders, currencies: [], failedLater: 0, pagesLater: 0, classes: {} };
}

export async function snapshotFigures(db: Db, runId: bigint): Promise<SnapshotFigures[]> {
  const { rows } = await db.query<{
    account_id: string;
    pages: bigint;
    failed_pages: bigint;
    asked: bigint;
    answered: bigint;
    asked_answered: bigint;
    unanswered: bigint;
    unasked: bigint;
    ledger: bigint;
    gateway_only: bigint;
    gateway: bigint;
    currencies: string[];
  }>(statement('total/snapshotFigures', await relationsOfRun(db, runId)), [runId]);
  return rows.map((row) => ({
    accountId: row.account_id,
    pull: {
      pages: Number(row.pages),
      failedPages: Number(row.failed_pages),
      asked: Number(row.asked),
      answered: Number(row.answered),
      unanswered: Number(row.unanswered),
      unasked: Number(row.unasked),
    },
    askedAnswered: Number(row.asked_answered),
    ledger: Number(row.ledger),
    gatewayOnly: Number(row.gateway_only),
    gateway: Number(row.gateway),
    currencies: row.currencies,
    orders: Number(row.ledger) + Number(row.gateway_only),
  }));
}

/** The figures of the snapshots with what their orders and later snapshots have come to. */
export async function accountFigures(
  db: Db,
  runId: bigint,
  snapshots: readonly SnapshotFigures[],
): Promise<AccountFigures[]> {
  const { rows } = await db.query<{
    account_id: string;
    failed_later: bigint;
    pages_later: bigint;
    classes: Record<string, number>;
  }>(statement('total/classFigures', await relationsOfRun(db, runId)), [runId]);
  const found = new Map(rows.map((row) => [row.account_id, row]));
  return snapshots.map((snapshot) => {
    const row = found.get(snapshot.accountId);
    const failedLater = Number(row?.failed_later ?? 0);
    const pagesLater = Number(row?.pages_later ?? 0);
    return { ...snapshot, failedLater, pagesLater, classes: row?.classes ?? {} };
  });
}

/** Until the transaction ends nobody decides about an instruction, and nobody changes a break. */
export async function holdDecisionsStill(tx: Db): Promise<void> {
  await tx.query('lock table tieout.breaks, tieout.decisions in share mode');
}

/** Open breaks of each account by kind. */
export async function openBreaks(
  db: Db,
  accountIds: readonly string[],
): Promise<Map<string, Record<string, number>>> {
  const { rows } = await db.query<{ account_id: string; kind: string; count: bigint }>(
    named`select account_id, kind, count(*) as count from ${relationsOf(db).breaks}
     where state = 'open' and account_id = any ($1) group by account_id, kind
     order by account_id, kind`,
    [accountIds],
  );
  const breaks = new Map<string, Record<string, number>>();
  for (const row of rows) {
    const kinds = breaks.get(row.account_id) ?? {};
    kinds[row.kind] = Number(row.count);
    breaks.set(row.account_id, kinds);
  }
  return breaks;
}

export interface KindTieRow extends Tie {
  accountId: string;
  kind: string;
}

/** What happened to breaks since the run before, by account and kind; up to its end if it ended. */
export async function tieByKind(db: Db, runId: bigint, hasEnded = false): Promise<KindTieRow[]> {
  const { rows } = await db.query<{
    account_id: string;
    kind: string;
    open_before: bigint;
    opened: bigint;
    reopened: bigint;
    waived: bigint;
    resolved: bigint;
    open_after: bigint;
  }>(statement('total/tieByKind', relationsOf(db)), [runId, hasEnded]);
  return rows.map((row) => ({
    accountId: row.account_id,
    kind: row.kind,
    openBefore: Number(row.open_before),
    new: Number(row.opened),
    reopened: Number(row.reopened),
    waived: Number(row.waived),
    resolved: Number(row.resolved),
    openAfter: Number(row.open_after),
  }));
}

/** The same in money: what the breaks opened with, by account and currency. */
export async function tieByMoney(db: Db, runId: bigint, hasEnded = false): Promise<MoneyTie[]> {
  const { rows } = await db.query<{
    account_id: string;
    currency: string;
    open_before: string;
    opened: string;
    reopened: string;
    waived: string;
    resolved: string;
    open_after: string;
  }>(statement('total/tieByMoney', relationsOf(db)), [runId, hasEnded]);
  return rows.map((row) => ({
    accountId: row.account_id,
    currency: row.currency,
    openBefore: row.open_before,
    new: row.opened,
    reopened: row.reopened,
    waived: row.waived,
    resolved: row.resolved,
    openAfter: row.open_after,
  }));
}

/** Instructions by account, operation and state: carried ones and those of this run. */
export async function instructionFigures(
  db: Db,
  runId: bigint,
): Promise<Map<string, Pick<AccountSummary, 'instructions' | 'heldBySetting'>>> {
  const { rows } = await db.query<{
    account_id: string;
    operation: string;
    state: string;
    count: bigint;
    by_setting: bigint;
  }>(statement('total/instructionFigures', relationsOf(db)), [runId, NOT_APPROVABLE]);
  const figures = new Map<string, Pick<AccountSummary, 'instructions' | 'heldBySetting'>>();
  for (const row of rows) {
    const account = figures.get(row.account_id) ?? { instructions: {} };
    const states = account.instructions[row.operation] ?? {};
    states[row.state] = Number(row.count);
    account.instructions[row.operation] = states;
    if (row.by_setting > 0n) {
      account.heldBySetting ??= {};
      account.heldBySetting[row.operation] = Number(row.by_setting);
    }
    figures.set(row.account_id, account);
  }
  return figures;
}

/**
 * Instructions that are neither settled nor in somebody's hands: of this run, and those of earlier
 * ones that are still to be sent, or were accepted and no snapshot said so yet; a payout shows in
 * none. An unknown one of an earlier run is a break.
 */
export async function unfinishedOfRun(db: Db, runId: bigint): Promise<Map<string, number>> {
  const { instructions, run_accounts: accounts } = relationsOf(db);
  const { rows } = await db.query<{ account_id: string; count: bigint }>(
    named`select i.account_id, count(*) as count from ${instructions} i
     join ${accounts} ra on ra.run_id = $1 and ra.account_id = i.account_id
     where i.is_open and (i.state in ('planned', 'queued', 'sending')
       or (i.state = 'accepted' and i.operation <> 'payout')
       or (i.state = 'unknown' and i.run_id = $1))
     group by i.account_id`,
    [runId],
  );
  return new Map(rows.map((row) => [row.account_id, Number(row.count)]));
}

/** What this run confirmed, of whatever account: the totals have to come to just that. */
export async function confirmedMoney(db: Db, runId: bigint): Promise<ConfirmedMoney[]> {
  const { rows } = await db.query<Omit<ConfirmedMoney, 'accountId'> & { account_id: string }>(
    named`select account_id, currency, operation,
       sum(coalesce(refund_amount, amount))::numeric(40, 2)::text as amount
     from ${relationsOf(db).instructions}
     where settled_run_id = $1 and state = 'confirmed' and is_in_totals and operation <> 'review'
     group by account_id, currency, operation order by account_id, currency, operation`,
    [runId],
  );
  return rows.map(({ account_id: accountId, ...row }) => ({ accountId, ...row }));
}

export async function currencyTotals(
  db: Db,
  runId: bigint,
  snapshots: readonly SnapshotFigures[],
): Promise<Map<string, CurrencyTotals[]>> {
  type Row = Omit<CurrencyTotals, 'paidOut' | 'payoutFees'> & {
    account_id: string;
    paidOut: string | null;
    payoutFees: string | null;
  };
  const inLedger = snapshots.flatMap(({ accountId, currencies }) =>
    currencies.map((currency) => ({ account_id: accountId, currency })),
  );
  const { rows } = await db.query<Row>(statement('total/currencyTotals', relationsOf(db)), [
    runId,
    JSON.stringify(inLedger),
  ]);
  const totals = new Map<string, CurrencyTotals[]>();
  for (const { account_id: accountId, ...row } of rows) {
    const account = totals.get(accountId) ?? [];
    const { paidOut, payoutFees, ...moved } = row;
    account.push({
      ...moved,
      ...(paidOut !== null && { paidOut }),
      ...(payoutFees !== null && { payoutFees }),
    });
    totals.set(accountId, account);
  }
  return totals;
}
