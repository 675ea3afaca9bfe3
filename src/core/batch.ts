// How instructions are cut into batches: one account, one operation, at most what the document
// allows in a request. Partial refunds travel alone, since an answer that is lost leaves each of
// them to a person: the fewer in a batch, the fewer people-decisions a broken line costs.

import type { Operation } from './order.js';

/** Entries in one request (gateway-interface, Limits). */
export const BATCH_ENTRIES_MAX: Record<Operation, number> = {
  capture: 50,
  cancel: 50,
  refund: 50,
  review: 100,
};

/** Entries in one request of partial refunds; ours, see above. */
export const PARTIAL_REFUND_ENTRIES_MAX = 1;

/** Orders in one query (gateway-interface, Limits). */
export const PAGE_ORDERS_MAX = 100;
