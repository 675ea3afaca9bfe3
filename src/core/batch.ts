// How instructions are cut into batches: one account, one operation, at most what the document
// allows in a request. Partial refunds have batches of their own and smaller ones, since an answer
// that is lost leaves each of them to a person. How many are left so is, on average, the share of
// answers that are lost, whatever the size; the size decides how many at a stroke, and two strokes
// in a row stop the account.

import type { Operation } from './order.js';

/** Entries in one request (gateway-interface, Limits). */
export const BATCH_ENTRIES_MAX: Record<Operation, number> = {
  capture: 50,
  cancel: 50,
  refund: 50,
  review: 100,
};

/** Entries in one request of partial refunds; ours, see above. */
export const PARTIAL_REFUND_ENTRIES_MAX = 10;

/** Orders in one query (gateway-interface, Limits). */
export const PAGE_ORDERS_MAX = 100;
