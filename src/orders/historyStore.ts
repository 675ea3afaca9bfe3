// One order's whole history: the ledger, every snapshot, what we sent and what came back, its
// breaks. Read only, one order at a time.

import { findBreaks } from '../breaks/breaksStore.js';
import type { Config } from '../config/config.js';
import { breakSentence } from '../core/breaks/sentence.js';
import {
  type Referenced,
  type RefundGap,
  refundGaps,
} from '../core/instructions/refundOrdinals.js';
import type { Coverage } from '../core/orders/coverage.js';
import type { Removal } from '../core/runs/removal.js';
import { maskCardNumbers } from '../core/text/masking.js';
import { wasEnded } from '../database/connection.js';
import type { Database, Db } from '../database/db.js';
import { type Limits, SHORT_LIMITS } from '../database/limits.js';
import { statement } from '../database/statements.js';
import type { Profile } from '../gateway/document/profile.js';
import type { SeenDispute } from '../instructions/decisionsStore.js';
import { callsOfOrder } from '../instructions/gatewayCallsStore.js';
import type { LostPermit } from '../instructions/instructionListStore.js';
import { lostPermitsOfOrder } from '../instructions/instructionListStore.js';
import type { CoverageRow } from '../pull/snapshot/coverageStore.js';
import { coverageOfOrder } from '../pull/snapshot/coverageStore.js';
import { removals } from '../runs/runRecordStore.js';
import type { OrderMoney } from './orderMoneyStore.js';
import { orderMoney } from './orderMoneyStore.js';
import { type ShownRecord, shownRecords } from './shownRecord.js';

export interface OrderHistory {
  ledger: Record<string, unknown> | null;
  refundRequests: Record<string, unknown>[];
  disputes: (SeenDispute & { problem: string | null })[];
  ledgerChanges: Record<string, unknown>[];
  looks: Record<string, unknown>[];
  /** months since the order was placed whose looks are gone */
  removed: Removal[];
  breaks: Record<string, unknown>[];
  instructions: Record<string, unknown>[];
  /** sent, or perhaps, as a journal says, by a database that was put back and has forgotten it */
  lostPermits: LostPermit[];
  /** numbers of refunds at the gateway that none of ours bears */
  refundGaps: RefundGap[];
  /** what the newest whole page showed beside state and money; null: none was kept */
  shown: { at: string; entries: ShownRecord[] } | null;
  /** what a person called by hand */
  calls: Record<string, unknown>[];
  /** where tieout.yaml has the section: what moved, and what the acquirer settled of it */
  settlement?: OrderMoney;
}

/** Looks older than the newest so many pulls are not searched. */
const PULLS_MAX = 200;

/** By what an order was found: its number, a part of it, or another number that leads to it. */
export type FoundBy =
  | 'order'
  | 'part'
  | 'transaction'
  | 'refund'
  | 'refund_reference'
  | 'gateway_reference'
  | 'shown';

export interface FoundOrder {
  accountId: string;
  orderNo: string;
  by: FoundBy;
}

interface FoundOrders {
  orders: FoundOrder[];
  /** parts of numbers could not be looked for in the time there is */
  isCut: boolean;
}

/** Nights of which what the gateway showed is searched for a transaction. */
const SHOWN_NIGHTS = 3;

/** A search that goes through everything holds up nobody, and is given up after so long. */
const SEARCH_LIMITS: Limits = { ...SHORT_LIMITS, statementMs: 5_000 };

/** At most so many orders of these accounts that have this number, or a part of it. */
export async function findOrders(
  db: Database,
  accountIds: readonly string[],
  number: string,
  limit: number,
  limits: Limits = SEARCH_LIMITS,
): Promise<FoundOrders> {
  const spelled = [...new Set([number, number.toUpperCase(), number.toLowerCase()])];
  const exact = [accountIds, spelled, limit];
  const { rows } = await db.query<FoundOrder>(statement('orders/findOrders'), exact);
  if (rows.length > 0) return { orders: rows, isCut: false };
  const byPart = [accountIds, number, limit, spelled];
  const parts = await within(db, limits, statement('orders/findOrdersByPart'), byPart);
  if (parts !== null && parts.length > 0) return { orders: parts, isCut: false };
  const also = [...exact, SHOWN_NIGHTS];
  const shown = await within(db, limits, statement('orders/findOrdersShown'), also);
  return { orders: shown ?? [], isCut: parts === null || shown === null };
}

/** Whether ledger or gateway gave this whole number to an order, transaction or refund of these. */
export async function isGivenNumber(
  db: Database,
  accountIds: readonly string[],
  number: string,
): Promise<boolean> {
  const exact = [accountIds, [number], 1];
  const { rows } = await db.query<FoundOrder>(statement('orders/findOrders'), exact);
  if (rows.length > 0) return true;
  const also = [...exact, SHOWN_NIGHTS];
  const shown = await within(db, SHORT_LIMITS, statement('orders/findOrdersShown'), also);
  return shown !== null && shown.length > 0;
}

/** Null: not found out in the time there is. */
async function within(
  db: Database,
  limits: Limits,
  text: string,
  values: unknown[],
): Promise<FoundOrder[] | null> {
  try {
    const found = await db.transaction((tx) => tx.query<FoundOrder>(text, values), limits);
    return found.rows;
  } catch (error) {
    if (wasEnded(error)) return null;
    throw error;
  }
}

export async function orderHistory(
  db: Db,
  accountId: string,
  orderNo: string,
  { settlement, gateway }: Pick<Config, 'settlement'> & Partial<Pick<Config, 'gateway'>> = {
    settlement: null,
  },
): Promise<OrderHistory | null> {
  const { rows } = await db.query<{ history: OrderHistory }>(statement('orders/orderHistory'), [
    accountId,
    orderNo,
    PULLS_MAX,
  ]);
  const history = rows[0]?.history;
  if (!history) return null;
  hideCards(history);
  history.shown = gateway ? await shownBeside(db, gateway.profile, accountId, orderNo) : null;
  await sayBreaks(db, accountId, history.breaks);
  history.calls = await callsOfOrder(db, accountId, orderNo);
  history.lostPermits = await lostPermitsOfOrder(db, accountId, orderNo);
  const made = history.instructions as unknown as Referenced[];
  history.refundGaps = refundGaps(made, refundedByHand(history.calls));
  const money = settlement === null ? null : await orderMoney(db, accountId, orderNo);
  if (money !== null) history.settlement = money;
  const placed = String(history.ledger?.placed_at ?? '').slice(0, 10);
  history.removed = (await removals(db)).filter(({ lastDate }) => lastDate >= placed);
  const isKnown =
    history.ledger ??
    history.looks[0] ??
    history.breaks[0] ??
    history.instructions[0] ??
    history.calls[0] ??
    history.lostPermits[0] ??
    money?.movements[0] ??
    money?.lines[0];
  if (isKnown === undefined) return null;
  const pulls = history.looks.map((snapshot) => String(snapshot.pull));
  const covered = await coverageOfOrder(db, accountId, orderNo, pulls);
  for (const snapshot of history.looks) snapshot.coverage = coverageOf(snapshot, covered);
  return history;
}

/** Texts of the shop's own tables came through no door of ours. */
function hideCards(history: OrderHistory): void {
  const changes = history.ledgerChanges.flatMap(({ before, after }) => [before, after ?? {}]);
  const rows = [
    history.ledger ?? {},
    ...history.refundRequests,
    ...(changes as Record<string, unknown>[]),
  ];
  for (const row of rows) {
    const { account_id, order_no, transaction_id, refund_id, transaction } = row;
    const ids = [account_id, order_no, transaction_id, refund_id, transaction].map(String);
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== 'string' || /amount$/i.test(name)) continue;
      row[name] = maskCardNumbers(value, ids);
    }
  }
  for (const one of history.disputes) {
    if (one.problem === null) continue;
    one.problem = maskCardNumbers(one.problem, one.disputeId === null ? [] : [one.disputeId]);
  }
}

/** Each is said, and stands, as on its own page. */
async function sayBreaks(
  db: Db,
  accountId: string,
  breaks: Record<string, unknown>[],
): Promise<void> {
  if (breaks.length === 0) return;
  const ids = breaks.map(({ id }) => String(id));
  const page = { limit: ids.length, offset: 0 };
  const found = await findBreaks(db, { ids, accountIds: [accountId] }, page);
  for (const one of breaks) {
    const same = found.find(({ breakId }) => breakId === String(one.id));
    if (same === undefined) continue;
    const { kind, expected, actual, settledRefunds, refused, waiverAskedBy } = same;
    one.sentence = breakSentence(kind, expected, actual, settledRefunds ?? [], refused);
    one.waiverAskedBy = waiverAskedBy;
  }
}

/** What the newest whole page showed of an order; null: none of the last pulls was kept. */
export async function shownBeside(
  db: Db,
  profile: Profile,
  accountId: string,
  orderNo: string,
): Promise<OrderHistory['shown']> {
  const { rows } = await db.query<{ at: Date; body_gzip: Buffer }>(
    `select g.answered_at as at, g.body_gzip
     from (select pull_id from tieout.pulls order by pull_id desc limit $3) p
     join tieout.asked_orders a on a.pull_id = p.pull_id and a.account_id = $1 and a.order_no = $2
     join tieout.pages g
       on g.pull_id = a.pull_id and g.account_id = a.account_id and g.page_no = a.page_no
     where g.state = 'answered' and g.body_gzip is not null
     order by p.pull_id desc limit 1`,
    [accountId, orderNo, PULLS_MAX],
  );
  const [page] = rows;
  if (page === undefined) return null;
  return { at: page.at.toISOString(), entries: shownRecords(profile, orderNo, page.body_gzip) };
}

/** Transactions of refunds that a person made, or perhaps made; one stands as often as it was. */
function refundedByHand(calls: OrderHistory['calls']): string[] {
  const madeNot = ['rejected', 'not_sent'];
  return calls
    .filter(
      ({ operation, outcome }) => operation === 'refund' && !madeNot.includes(String(outcome)),
    )
    .flatMap(({ entries }) => entries as { transaction_id?: string }[])
    .flatMap(({ transaction_id }) => transaction_id ?? []);
}

/** From when on looks are searched for an order; null: all that are kept are. */
export async function looksSince(db: Db): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date }>(
    `select as_of as at from tieout.pulls
     where exists (select from tieout.pulls offset $1)
     order by pull_id desc limit 1 offset $1 - 1`,
    [PULLS_MAX],
  );
  return rows[0]?.at ?? null;
}

/** What the snapshot said of the order, in the words of core/orders/coverage.ts. */
function coverageOf(snapshot: Record<string, unknown>, covered: readonly CoverageRow[]): Coverage {
  return covered.find((row) => String(row.pullId) === String(snapshot.pull))?.how ?? 'answered';
}
