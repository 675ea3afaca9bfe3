// Draws the orders of a night: both sides of each, the ledger's and the gateway's, from the seed
// and the position alone. The same settings give the same night, in any process, one order at a
// time. It never looks at a clock. night.ts says where an order stands, kinds.ts how it differs.

import { formatAmount, type Hundredths } from '../../core/money.js';
import type { ExpectedState } from '../../core/orders/order.js';
import type { SandboxOrder, SandboxTransaction } from '../book/order.js';
import { plainSketch, type Sketch, type SketchedAttempt } from './kinds.js';
import { type Draw, drawsAt, pick } from './random.js';
import {
  type Place,
  placeOf,
  planSeed,
  plantedCounts,
  type SeedPlan,
  type SeedSettings,
} from './seedPlan.js';

/** One row of ledger.orders, all as text; times as ISO 8601 in UTC. */
interface LedgerOrderRow {
  readonly account_id: string;
  readonly order_no: string;
  readonly currency: string;
  readonly amount: string;
  readonly expected: ExpectedState;
  readonly transaction_id: string | null;
  readonly capture_amount: string | null;
  readonly review_decision: 'accept' | 'reject' | null;
  readonly placed_at: string;
  readonly updated_at: string | null;
}

/** One row of ledger.refund_requests. */
interface LedgerRefundRow {
  readonly account_id: string;
  readonly refund_id: string;
  readonly order_no: string;
  readonly refund_amount: string;
  readonly reason: string | null;
  readonly requested_by: string | null;
  readonly requested_at: string;
}

/** One order of a night. */
export interface SeededOrder {
  /** The name of what was planted (kinds.ts), or `plain`. */
  readonly kind: string;
  /** What a first snapshot makes of it, see kinds.ts. */
  readonly leadsTo: string;
  /** Null: the gateway never heard of it. */
  readonly gateway: SandboxOrder | null;
  /** An order of the gateway alone, whose entry rides along with this one. */
  readonly gatewayOnly: SandboxOrder | null;
  readonly ledger: LedgerOrderRow;
  readonly refunds: readonly LedgerRefundRow[];
}

interface SeededBooks {
  readonly gateway: SandboxOrder[];
  readonly ledger: { readonly orders: LedgerOrderRow[]; readonly refunds: LedgerRefundRow[] };
  readonly planted: Record<string, number>;
}

interface Drawn {
  readonly place: Place;
  readonly orderNo: string;
  readonly currency: string;
  readonly amount: Hundredths;
  readonly sketch: Sketch;
  readonly draw: Draw;
}

const ORDER_NO = /^(SO|PHONE)-\d{8}-(\d{6,8})$/;
const SERIAL_DIGITS = 6;
const ODD_CURRENCIES = ['PLN', 'USD', 'JPY'] as const;
const REASONS = ['Returned', 'Damaged in transit', 'Wrong size', 'Zwrot towaru'] as const;

/** A whole night at once; for a large one take `seedOrders` and let each order go. */
export function seedAll(settings: SeedSettings): SeededBooks {
  const plan = planSeed(settings);
  const gateway: SandboxOrder[] = [];
  const orders: LedgerOrderRow[] = [];
  const refunds: LedgerRefundRow[] = [];
  for (const seeded of seedOrders(plan)) {
    if (seeded.gateway !== null) gateway.push(seeded.gateway);
    if (seeded.gatewayOnly !== null) gateway.push(seeded.gatewayOnly);
    orders.push(seeded.ledger);
    refunds.push(...seeded.refunds);
  }
  return { gateway, ledger: { orders, refunds }, planted: plantedCounts(plan) };
}

/** The orders of a night in the sequence in which they were placed. */
export function* seedOrders(plan: SeedPlan): Generator<SeededOrder> {
  for (let index = 0; index < plan.settings.orders; index += 1) yield seedOrder(plan, index);
}

/** One order of a night by its position. */
export function seedOrder(plan: SeedPlan, index: number): SeededOrder {
  const drawn = drawOrder(plan, index);
  const gateway = gatewaySide(drawn);
  const end = plan.settings.dayEnd.getTime();
  return {
    kind: drawn.place.kind?.name ?? 'plain',
    leadsTo: drawn.place.kind?.leadsTo ?? 'matched',
    gateway,
    gatewayOnly: gatewayOnlyOrder(drawn),
    ledger: ledgerRow(drawn, gateway, end),
    refunds: refundRows(drawn, plan.settings),
  };
}

/** What the gateway holds under an order number of the night; null: nothing. */
export function seededAtGateway(
  plan: SeedPlan,
  accountId: string,
  orderNo: string,
): SandboxOrder | null {
  const [, prefix, serial] = ORDER_NO.exec(orderNo) ?? [];
  if (serial === undefined) return null;
  const index = Number(serial) - 1;
  if (index < 0 || index >= plan.settings.orders) return null;
  const drawn = drawOrder(plan, index);
  const found = prefix === 'SO' ? gatewaySide(drawn) : gatewayOnlyOrder(drawn);
  return found?.orderNo === orderNo && found.accountId === accountId ? found : null;
}

/** What the gateway holds at a position: the order itself, or the gateway-only order beside it. */
export function heldAt(
  plan: SeedPlan,
  index: number,
  which: 'order' | 'gatewayOnly',
): SandboxOrder | null {
  const drawn = drawOrder(plan, index);
  return which === 'order' ? gatewaySide(drawn) : gatewayOnlyOrder(drawn);
}

function drawOrder(plan: SeedPlan, index: number): Drawn {
  const place = placeOf(plan, index);
  const draw = drawsAt(plan.settings.seed, index);
  const serial = String(index + 1).padStart(SERIAL_DIGITS, '0');
  const at = draw();
  const currency = at < 0.78 ? 'EUR' : pick(ODD_CURRENCIES, (at - 0.78) / 0.22);
  const amount = drawAmount(currency, draw);
  const sketch = place.kind?.sketch(amount, draw) ?? plainSketch(place.zone, draw);
  return { place, orderNo: `SO-${place.day}-${serial}`, currency, amount, sketch, draw };
}

/** Mostly small carts, now and then a large one; whole units where money has no hundredths. */
function drawAmount(currency: string, draw: Draw): Hundredths {
  const skewed = draw() ** 3;
  const hundredths = BigInt(499 + Math.floor(skewed * 95_000));
  return currency === 'JPY' ? (hundredths / 100n + 1n) * 10_000n : hundredths;
}

function gatewaySide(drawn: Drawn): SandboxOrder | null {
  const { place, orderNo, sketch } = drawn;
  if (sketch.attempts.length === 0) return null;
  return {
    accountId: place.account.accountId,
    orderNo,
    transactions: sketch.attempts.map((attempt, number) => seededAttempt(drawn, attempt, number)),
    riders: sketch.gatewayOnly === true ? [gatewayOnlyNo(orderNo)] : [],
  };
}

function seededAttempt(drawn: Drawn, attempt: SketchedAttempt, number: number): SandboxTransaction {
  const printed = formatAmount(attempt.amount ?? drawn.amount);
  const refunded = attempt.refunded ?? 0n;
  return {
    transactionId: transactionId(drawn, number),
    currency: attempt.currency ?? drawn.currency,
    amount: attempt.oddAmount === true ? printed.slice(0, -1) : printed,
    state: attempt.state,
    at: drawn.place.at,
    refunded,
    refundCount: refunded > 0n ? 1 : 0,
  };
}

function gatewayOnlyOrder(drawn: Drawn): SandboxOrder | null {
  if (drawn.sketch.gatewayOnly !== true) return null;
  return {
    accountId: drawn.place.account.accountId,
    orderNo: gatewayOnlyNo(drawn.orderNo),
    transactions: [seededAttempt(drawn, { state: 'captured' }, 9)],
    riders: [],
  };
}

/** Taken by telephone, entered in the portal, never booked. */
function gatewayOnlyNo(orderNo: string): string {
  return `PHONE${orderNo.slice('SO'.length)}`;
}

/** The letter keeps it from ever looking like a card number. */
function transactionId({ place }: Drawn, attempt: number): string {
  return `T${place.day}${String(place.index + 1).padStart(7, '0')}${attempt}`;
}

function ledgerRow(drawn: Drawn, gateway: SandboxOrder | null, end: number): LedgerOrderRow {
  const { place, sketch, amount, draw } = drawn;
  const named = draw() < 0.6;
  const updated = draw();
  return {
    account_id: place.account.accountId,
    order_no: drawn.orderNo,
    currency: drawn.currency,
    amount: formatAmount(amount),
    expected: sketch.expected,
    transaction_id: namedTransaction(drawn, gateway, named),
    capture_amount: sketch.captureAmount === undefined ? null : formatAmount(sketch.captureAmount),
    review_decision: sketch.decision ?? null,
    placed_at: new Date(place.at).toISOString(),
    updated_at:
      sketch.expected === 'authorised'
        ? null
        : new Date(between(place.at, end, updated)).toISOString(),
  };
}

function namedTransaction(
  drawn: Drawn,
  gateway: SandboxOrder | null,
  usually: boolean,
): string | null {
  if (drawn.sketch.names === 'foreign') return transactionId(drawn, 8);
  if (drawn.sketch.names === 'none' || !usually) return null;
  return gateway?.transactions.at(-1)?.transactionId ?? null;
}

/** Requested on the business date itself: what customer service asked for since last night. */
function refundRows(drawn: Drawn, plan: SeedSettings): LedgerRefundRow[] {
  const amounts = drawn.sketch.refunds ?? [];
  const begin = Math.max(drawn.place.at, plan.dayStart.getTime());
  const end = plan.dayEnd.getTime();
  return amounts.map((amount, number) => ({
    account_id: drawn.place.account.accountId,
    refund_id: `RF-${String(drawn.place.index + 1).padStart(SERIAL_DIGITS, '0')}-${number + 1}`,
    order_no: drawn.orderNo,
    refund_amount: formatAmount(amount),
    reason: pick(REASONS, drawn.draw()),
    requested_by: 'customer service',
    requested_at: new Date(between(begin, end, (number + 1) / (amounts.length + 1))).toISOString(),
  }));
}

function between(from: number, to: number, at: number): number {
  return Math.floor(from + (to - from) * at);
}
