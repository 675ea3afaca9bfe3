// What a gateway of tests answers to a snapshot: the entries of generated orders, in the pages that were
// asked for or in a walk through a window, and in whatever order.

import type { StoredOrder } from './orders.js';
import type { EntryPlace } from './snapshotStore.js';
import { entryRow } from './snapshotStore.js';

/** How orders are asked: by number, the same with everything turned about, or not at all. */
export type Way = 'numbers' | 'shuffled' | 'window';

export interface Answer {
  pages: { page_no: number; failed: boolean }[];
  entries: ReturnType<typeof entryRow>[];
}

/** Asked by number: a page fails with any of its orders, and gateway-only orders come in some other page. */
export function paged(
  orders: readonly StoredOrder[],
  asked: ReadonlyMap<string, number>,
  way: Way,
  mixing: readonly number[],
): Answer {
  const failed = new Set(
    orders
      .filter((order) => order.page === 'failed')
      .map((order) => asked.get(order.orderNo))
      .filter((page) => page !== undefined),
  );
  const pages = [...new Set(asked.values())].map((page) => {
    return { page_no: page, failed: failed.has(page) };
  });
  const answered = pages.filter((page) => !page.failed).map((page) => page.page_no);
  const host = way === 'shuffled' ? answered.at(-1) : answered[0];
  const entries = orders.flatMap((order, index) => {
    const own = asked.get(order.orderNo);
    const page = own ?? (order.ledger === null ? host : undefined);
    if (page === undefined || failed.has(page)) return [];
    const list = way === 'shuffled' ? turned(order.entries, mixing[index] ?? 0) : order.entries;
    return list.map((entry, position) => entryRow(order, entry, placeOf(page, position, own)));
  });
  return { pages, entries: way === 'shuffled' ? turned(entries, mixing[0] ?? 0) : entries };
}

function placeOf(page: number, position: number, asked: number | undefined): EntryPlace {
  const isAsked = asked !== undefined;
  return { page_no: page, position, is_extra: position > 0 || !isAsked, is_asked: isAsked };
}

/** A walk through a window brings everything there is; page 0 says whether it came to its end. */
export function scanned(
  orders: readonly StoredOrder[],
  asked: ReadonlyMap<string, number>,
): Answer {
  const isCut = orders.some((order) => order.page === 'failed');
  const entries = orders.flatMap((order) =>
    order.entries.map((entry, position) =>
      entryRow(order, entry, {
        page_no: 1,
        position,
        is_extra: position > 0,
        is_asked: asked.has(order.orderNo),
      }),
    ),
  );
  return { pages: [{ page_no: 0, failed: isCut }], entries };
}

function turned<T>(list: readonly T[], by: number): T[] {
  const from = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(from), ...list.slice(0, from)].reverse();
}
