// The state of the sandbox and what each operation does to it. An operation is worked out against
// a draft and changes nothing by itself: the caller writes the effects down first and then lets
// the draft become true. Permissive where the document promises nothing: asked twice it refunds
// twice, but never more than was captured. Neighbours: arrivals.ts adds payments, batches.ts asks,
// journal.ts remembers, listing.ts pages.

import { formatAmount, type Hundredths, parseAmount } from '../../core/money.js';
import type { GatewayState, Operation } from '../../core/orders/order.js';
import { seededAtGateway, seedOrder } from '../seed/seed.js';
import type { SeedPlan } from '../seed/seedPlan.js';
import type { PaymentDetails, SandboxOrder, SandboxTransaction } from './order.js';

export interface Book {
  readonly plan: SeedPlan;
  /** Orders that are no longer as seeded, and those that came by a payment. */
  readonly changed: Map<string, SandboxOrder>;
  /** Order numbers that came by a payment, by account, in the sequence of their coming. */
  readonly paid: Map<string, string[]>;
  /** Names of refunds and payouts that were done, so that a strict sandbox knows them again. */
  readonly marks: Set<string>;
}

/** What one request would change; lookups see the book through it. */
export interface Draft {
  readonly book: Book;
  readonly changed: Map<string, SandboxOrder>;
  readonly marks: Set<string>;
}

/** One entry of a batch request with its fields as printed; absent ones are empty. */
export type RequestEntry = Readonly<Record<string, string>>;
/** One entry of a batch answer. */
export type ResultEntry = Record<string, string>;

/** What really happened to one transaction, with all that is needed to do it again. */
export interface Effect {
  readonly operation: Operation | 'authorise' | 'complete' | 'payout';
  readonly account_id: string;
  readonly order_no: string;
  readonly transaction_id: string;
  readonly currency: string;
  readonly amount: string;
  readonly refund_amount?: string;
  readonly decision?: 'accept' | 'reject';
  readonly refund_reference_id?: string;
  /** Of an authorise: when the payment was made, in milliseconds since the epoch. */
  readonly authorised_at?: number;
  /** Of an authorise or a complete: what it came to; absent: authorised. */
  readonly state?: GatewayState;
  readonly details?: PaymentDetails;
  /** Of a refund or payout: what a strict sandbox knows the same request by. */
  readonly mark?: string;
}

export type Moved =
  | { readonly kind: 'done'; readonly effect: Effect }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string };

const MAX_REFUNDS = 99;

export function createBook(plan: SeedPlan): Book {
  return { plan, changed: new Map(), paid: new Map(), marks: new Set() };
}

export function draftOf(book: Book): Draft {
  return { book, changed: new Map(), marks: new Set() };
}

/** Makes a draft true. */
export function settle({ book, changed, marks }: Draft): void {
  for (const [key, order] of changed) {
    if (!book.changed.has(key)) noteArrival(book, order);
    book.changed.set(key, order);
  }
  for (const mark of marks) book.marks.add(mark);
}

export function findOrder(draft: Draft, accountId: string, orderNo: string): SandboxOrder | null {
  const { book } = draft;
  if (draft.changed.size > 0 || book.changed.size > 0) {
    const key = keyOf(accountId, orderNo);
    const known = draft.changed.get(key) ?? book.changed.get(key);
    if (known !== undefined) return known;
  }
  return seededAtGateway(book.plan, accountId, orderNo);
}

/** Puts an order into a draft, in place of the one that has its number. */
export function putOrder(draft: Draft, order: SandboxOrder): void {
  draft.changed.set(keyOf(order.accountId, order.orderNo), order);
}

/** Puts one transaction of an order into a draft, in place of the one that has its id. */
export function putTransaction(draft: Draft, order: SandboxOrder, next: SandboxTransaction): void {
  const transactions = order.transactions.map((one) =>
    one.transactionId === next.transactionId ? next : one,
  );
  putOrder(draft, { ...order, transactions });
}

/** Every order of the book as it stands: the seeded ones first, then those paid for since. */
export function* allOrders(book: Book): Generator<SandboxOrder> {
  const draft = draftOf(book);
  for (let index = 0; index < book.plan.settings.orders; index += 1) {
    const { gateway, gatewayOnly } = seedOrder(book.plan, index);
    for (const seeded of [gateway, gatewayOnly]) {
      if (seeded !== null) yield findOrder(draft, seeded.accountId, seeded.orderNo) ?? seeded;
    }
  }
  for (const [accountId, orderNos] of book.paid) {
    for (const orderNo of orderNos) {
      const order = findOrder(draft, accountId, orderNo);
      if (order !== null) yield order;
    }
  }
}

/** Tries one entry of a batch; what it would change is in the draft afterwards. */
export function move(
  draft: Draft,
  operation: Operation,
  accountId: string,
  entry: RequestEntry,
  decision: 'accept' | 'reject' | null,
): Moved {
  const order = findOrder(draft, accountId, entry.order_no ?? '');
  const found = order?.transactions.find((one) => one.transactionId === entry.transaction_id);
  if (order === null || found === undefined) return refused('E1001', 'no such transaction');
  if (found.currency !== entry.currency) return refused('E1002', 'currency differs');
  const amount = parseAmount(entry.amount ?? '');
  const shown = parseAmount(found.amount);
  if (amount === null || amount === 0n || shown === null) return refused('E1003', 'invalid amount');
  const next = nextOf(operation, found, amount, shown, entry, decision);
  if ('kind' in next) return next;
  putTransaction(draft, order, next);
  return { kind: 'done', effect: effectOf(operation, order, found, next, amount, decision) };
}

function nextOf(
  operation: Operation,
  found: SandboxTransaction,
  amount: Hundredths,
  shown: Hundredths,
  entry: RequestEntry,
  decision: 'accept' | 'reject' | null,
): SandboxTransaction | Extract<Moved, { kind: 'refused' }> {
  if (operation === 'refund') return afterRefund(found, amount, shown, entry);
  const needs = operation === 'review' ? 'in_review' : 'authorised';
  if (found.state !== needs) return refused('E1004', `the transaction is not ${needs}`);
  if (operation === 'capture') {
    if (amount > shown) return refused('E1005', 'more than was authorised');
    return { ...found, state: 'captured', amount: formatAmount(amount) };
  }
  if (amount !== shown) return refused('E1006', 'amount differs');
  if (operation === 'cancel') return { ...found, state: 'cancelled' };
  if (decision === null) return refused('E1007', 'unknown review flag');
  return { ...found, state: decision === 'accept' ? 'authorised' : 'declined' };
}

function afterRefund(
  found: SandboxTransaction,
  amount: Hundredths,
  shown: Hundredths,
  entry: RequestEntry,
): SandboxTransaction | Extract<Moved, { kind: 'refused' }> {
  if (found.state !== 'captured' && found.state !== 'partially_refunded') {
    return refused('E2002', 'nothing captured to refund');
  }
  if (amount !== shown) return refused('E2003', 'amount differs');
  const back = parseAmount(entry.refund_amount ?? '');
  if (back === null || back === 0n) return refused('E2004', 'invalid refund amount');
  const refunded = found.refunded + back;
  if (refunded > shown) return refused('E2001', 'more than was captured');
  if (found.refundCount >= MAX_REFUNDS) return refused('E2005', 'too many refunds');
  const state: GatewayState = refunded === shown ? 'refunded' : 'partially_refunded';
  return { ...found, state, refunded, refundCount: found.refundCount + 1 };
}

function effectOf(
  operation: Operation,
  order: SandboxOrder,
  before: SandboxTransaction,
  after: SandboxTransaction,
  amount: Hundredths,
  decision: 'accept' | 'reject' | null,
): Effect {
  const effect = {
    operation,
    account_id: order.accountId,
    order_no: order.orderNo,
    transaction_id: after.transactionId,
    currency: after.currency,
    amount: formatAmount(amount),
  };
  if (operation === 'review' && decision !== null) return { ...effect, decision };
  if (operation !== 'refund') return effect;
  return {
    ...effect,
    refund_amount: formatAmount(after.refunded - before.refunded),
    refund_reference_id: `${after.transactionId}-${String(after.refundCount).padStart(2, '0')}`,
  };
}

/** The first payment of an order number that the seed knows nothing of. */
function noteArrival(book: Book, { accountId, orderNo }: SandboxOrder): void {
  if (seededAtGateway(book.plan, accountId, orderNo) !== null) return;
  const known = book.paid.get(accountId);
  if (known === undefined) book.paid.set(accountId, [orderNo]);
  else known.push(orderNo);
}

/** The separator cannot be part of an account id that came over the wire as a form or JSON text. */
function keyOf(accountId: string, orderNo: string): string {
  return `${accountId.length}:${accountId}${orderNo}`;
}

function refused(code: string, reason: string): Extract<Moved, { kind: 'refused' }> {
  return { kind: 'refused', code, reason };
}
