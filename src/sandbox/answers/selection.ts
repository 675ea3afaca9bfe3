// How a query names its orders. The document does not show it (Endpoints, note 4), so the sandbox
// understands all three ways that a profile can choose, told apart by the fields that are there: a
// list of order numbers, a window of transaction dates, or neither. Knows no signature and no HTTP.

import { instantOf } from '../../core/mapping/mappedTimes.js';
import { QUERY_ORDERS_MAX } from '../../gateway/document/messages.js';
import type { Profile } from '../../gateway/document/profile.js';
import { printedTime } from '../../gateway/query/querySelection.js';
import { type Book, draftOf, findOrder } from '../book/book.js';
import { ALWAYS, type Listing, listingOf, type Span } from '../book/listing.js';
import type { SandboxOrder } from '../book/order.js';

type Message = Readonly<Record<string, unknown>>;

export type Selected =
  | { readonly kind: 'orders'; readonly orders: readonly SandboxOrder[] }
  | { readonly kind: 'refused'; readonly reason: string };

const PAGE_NO_MAX = 1_000_000;

/** The orders that a query asks for; `shift` leaves so many out before the page begins. */
export function selectOrders(
  book: Book,
  query: Profile['query'],
  accountId: string,
  message: Message,
  shift: number,
): Selected {
  const list = message[query.orderList.field];
  if (list !== undefined) return selectList(book, query, accountId, list);
  const page = readPage(query.window, message);
  if (typeof page === 'string') return refused(page);
  const span = readSpan(query.window, message);
  if (span === null) return refused('invalid window');
  const listing = listingOf(book, accountId, span);
  if (page.no === null && span === ALWAYS) return orders(newest(listing, page.size));
  const first = ((page.no ?? query.window.firstPage) - query.window.firstPage) * page.size + shift;
  return orders(listing.slice(first, first + page.size));
}

function selectList(
  book: Book,
  { orderList }: Profile['query'],
  accountId: string,
  list: unknown,
): Selected {
  const texts = typeof list === 'string' ? list.split(orderList.separator) : [];
  const orderNos = texts.filter((orderNo) => orderNo !== '');
  if (orderNos.length === 0) return refused('no orders named');
  if (orderNos.length > QUERY_ORDERS_MAX) return refused('too many orders');
  const draft = draftOf(book);
  const found: SandboxOrder[] = [];
  for (const orderNo of new Set(orderNos)) {
    const order = findOrder(draft, accountId, orderNo);
    if (order === null) continue;
    found.push(order);
    for (const rider of order.riders) {
      const beside = findOrder(draft, accountId, rider);
      if (beside !== null) found.push(beside);
    }
  }
  return orders(found);
}

function newest(listing: Listing, size: number): SandboxOrder[] {
  return listing.slice(listing.size - size, listing.size).reverse();
}

/** Page numbers begin at `firstPage`; no number and no window: the newest orders. */
function readPage(
  window: Profile['query']['window'],
  message: Message,
): { no: number | null; size: number } | string {
  const size = wholeNumber(message[window.size], QUERY_ORDERS_MAX);
  if (size === null || size < 1 || size > QUERY_ORDERS_MAX) {
    return `${window.size} is 1 to ${QUERY_ORDERS_MAX}`;
  }
  if (message[window.page] === undefined) return { no: null, size };
  const no = wholeNumber(message[window.page], window.firstPage);
  if (no === null || no < window.firstPage || no > PAGE_NO_MAX) {
    return `${window.page} begins at ${window.firstPage}`;
  }
  return { no, size };
}

function wholeNumber(value: unknown, whenAbsent: number): number | null {
  if (value === undefined) return whenAbsent;
  const text = typeof value === 'number' ? `${value}` : value;
  return typeof text === 'string' && /^\d{1,7}$/.test(text) ? Number(text) : null;
}

/** Either end may be absent; null: one of them is no moment, or they are the wrong way round. */
function readSpan(window: Profile['query']['window'], message: Message): Span | null {
  const [begin, end] = [message[window.from], message[window.to]];
  if (begin === undefined && end === undefined) return ALWAYS;
  const from = begin === undefined ? -Infinity : momentOf(window, begin);
  const to = end === undefined ? Infinity : momentOf(window, end);
  return from === null || to === null || from > to ? null : { from, to };
}

/** A moment as the profile writes it, in its zone; null: there is no such moment. */
export function momentOf(
  { format, timezone }: Profile['query']['window'],
  value: unknown,
): number | null {
  if (typeof value !== 'string') return null;
  const at = Date.parse(instantOf({ timezone, times: [format] }, value) ?? '');
  return !Number.isNaN(at) && printedTime(new Date(at), format, timezone) === value ? at : null;
}

function orders(found: readonly SandboxOrder[]): Selected {
  return { kind: 'orders', orders: found };
}

function refused(reason: string): Selected {
  return { kind: 'refused', reason };
}
