// Everything an account holds in one lasting sequence, so that a query without order numbers can be
// answered page by page: the seeded orders by position, then those paid for since. A million orders
// cost four bytes each: only positions are kept, the orders are drawn again when they are shown.
// An order stands under the date of its first transaction and never changes its place.

import { heldAt } from '../seed/seed.js';
import { placeOf, type SeedPlan } from '../seed/seedPlan.js';
import { type Book, type Draft, draftOf, findOrder } from './book.js';
import type { SandboxOrder } from './order.js';

/** A time span in milliseconds since the epoch: `from` belongs to it, `to` does not. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const ALWAYS: Span = { from: -Infinity, to: Infinity };

export interface Listing {
  readonly size: number;
  /** Orders `first` up to `end` (excluded) in the sequence; past the size there are none. */
  slice(first: number, end: number): SandboxOrder[];
}

/** A position of the night and which of the two orders that may stand there. */
const codeOf = (index: number, isGatewayOnly: boolean): number =>
  index * 2 + (isGatewayOnly ? 1 : 0);

const remembered = new WeakMap<SeedPlan, Map<string, Uint32Array>>();

/** The orders of an account whose first transaction lies in a span. */
export function listingOf(book: Book, accountId: string, span: Span): Listing {
  const draft = draftOf(book);
  const seeded = positionsOf(book.plan).get(accountId) ?? new Uint32Array();
  const first = lowerBound(book.plan, seeded, span.from);
  const seededSize = lowerBound(book.plan, seeded, span.to) - first;
  const paid = paidIn(draft, accountId, span);
  const orderAt = (place: number): SandboxOrder | null => {
    if (place < seededSize) return seededOrder(draft, seeded[first + place] ?? 0);
    return findOrder(draft, accountId, paid[place - seededSize] ?? '');
  };
  const size = seededSize + paid.length;
  return {
    size,
    slice(from, end) {
      const orders: SandboxOrder[] = [];
      for (let place = Math.max(0, from); place < Math.min(size, end); place += 1) {
        const order = orderAt(place);
        if (order !== null) orders.push(order);
      }
      return orders;
    },
  };
}

/** Drawn once a night, at the first query that needs it: about a third of a second a million. */
function positionsOf(plan: SeedPlan): Map<string, Uint32Array> {
  const known = remembered.get(plan);
  if (known !== undefined) return known;
  const codes = new Map<string, number[]>();
  const note = (accountId: string, code: number): void => {
    const own = codes.get(accountId);
    if (own === undefined) codes.set(accountId, [code]);
    else own.push(code);
  };
  for (let index = 0; index < plan.settings.orders; index += 1) {
    const { kind, account } = placeOf(plan, index);
    // Only what was planted can be missing at the gateway or bring a gateway-only order.
    if (kind === null || heldAt(plan, index, 'order') !== null) {
      note(account.accountId, codeOf(index, false));
    }
    if (kind !== null && heldAt(plan, index, 'gatewayOnly') !== null) {
      note(account.accountId, codeOf(index, true));
    }
  }
  const positions = new Map<string, Uint32Array>();
  for (const [accountId, own] of codes) {
    positions.set(accountId, Uint32Array.from(inTime(plan, own)));
  }
  remembered.set(plan, positions);
  return positions;
}

/** Positions follow the clock, save in a night of more than four days. */
function inTime(plan: SeedPlan, codes: number[]): number[] {
  const isSorted = codes.every(
    (code, at) => at === 0 || timeOf(plan, codes[at - 1] ?? 0) <= timeOf(plan, code),
  );
  if (isSorted) return codes;
  return codes.sort((a, b) => timeOf(plan, a) - timeOf(plan, b) || a - b);
}

function timeOf(plan: SeedPlan, code: number): number {
  return placeOf(plan, code >>> 1).at;
}

function lowerBound(plan: SeedPlan, codes: Uint32Array, time: number): number {
  let [low, high] = [0, codes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(plan, codes[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function seededOrder(draft: Draft, code: number): SandboxOrder | null {
  const seeded = heldAt(draft.book.plan, code >>> 1, code % 2 === 0 ? 'order' : 'gatewayOnly');
  if (seeded === null || draft.book.changed.size === 0) return seeded;
  return findOrder(draft, seeded.accountId, seeded.orderNo);
}

function paidIn(draft: Draft, accountId: string, span: Span): readonly string[] {
  const paid = draft.book.paid.get(accountId) ?? [];
  if (span === ALWAYS) return paid;
  return paid.filter((orderNo) => {
    const at = findOrder(draft, accountId, orderNo)?.transactions[0]?.at ?? Number.NaN;
    return at >= span.from && at < span.to;
  });
}
