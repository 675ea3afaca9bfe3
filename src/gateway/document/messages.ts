// The messages of the gateway with the field names that its document prints, and the table of the
// batch operations. Shapes only: nothing here decides, signs or sends. Read by the builders and
// readers of this folder and by the sandbox, which speaks the same wire.

import { BATCH_ENTRIES_MAX } from '../../core/instructions/batch.js';
import type { Operation } from '../../core/orders/order.js';

/** In every message (document, "Identifiers used across operations"). */
export interface WireIdentity {
  merchant_id: string;
  account_id: string;
}

/** Every request bears a signature (document, "Authentication" 1). */
export interface WireSigned {
  encryption_data: string;
}

/**
 * POST /v1/retrievalTrans. The document prints these three fields and does not show how orders are
 * named, so the name of any further field comes from the profile's `query`.
 */
export type QueryRequest = WireIdentity & WireSigned & Record<string, string>;

/** One element of `orders_list` (document, "Query request and response"). */
export interface QueryEntryWire {
  amount: string;
  currency: string;
  delivery_information: {
    delivery_address: string;
    delivery_city: string;
    delivery_country: string;
    delivery_firstname: string;
    delivery_lastname: string;
    delivery_postal_code: string;
    delivery_state: string;
  };
  antifraud_provider: string;
  fraud_check_result: { check_items: string; status: string }[];
  /** `0` in the sample. */
  is3ds: string;
  order_no: string;
  payment_status: string;
  query_result: string;
  reference_no: string;
  shopper_email: string;
  shopper_phone: string;
  subscription_result: {
    contract_name: string;
    recurring_deduction_period: string;
    recurring_deduction_time: string;
    recurring_id: string;
    recurring_status: string;
  };
  /** Sample shape YYYYMMDDhhmmss; its timezone is not shown. */
  transaction_date: string;
  transaction_id: string;
  // One more field, the merchant's web site, is named by the profile's `siteField`.
}

/** The answer to a query bears no signature (document, "Authentication" 1). */
export interface QueryResponse extends WireIdentity {
  return_status: string;
  return_message: string;
  orders_list: QueryEntryWire[];
}

/** The four fields of every batch request entry (document, "Batch operation messages"). */
export interface BatchEntryWire {
  transaction_id: string;
  order_no: string;
  currency: string;
  amount: string;
}

export type CaptureEntryWire = BatchEntryWire;
export type CancelEntryWire = BatchEntryWire;

export interface ReviewEntryWire extends BatchEntryWire {
  /** `1` is shown; which value accepts and which rejects is the profile's `reviewFlags`. */
  review_flag: string;
}

export interface RefundEntryWire extends BatchEntryWire {
  /** May be smaller than `amount`. */
  refund_amount: string;
  refund_reason: string;
}

export type AnyEntryWire = CaptureEntryWire | ReviewEntryWire | RefundEntryWire;

export interface CaptureResultWire extends BatchEntryWire {
  capture_status: string;
  /** An empty string when there is no error. */
  error_message: string;
}

export interface CancelResultWire extends BatchEntryWire {
  cancel_status: string;
  error_message: string;
}

export interface ReviewResultWire extends ReviewEntryWire {
  review_status: string;
  error_message: string;
}

/** The only result entry that is printed without `error_message`. */
export interface RefundResultWire extends RefundEntryWire {
  /** `<code>:<text>`, V0000:OK when it went well. */
  refund_message: string;
  refund_reference: string;
  /** `<transaction_id>-<two digits>`. */
  refund_reference_id: string;
  refund_status: string;
}

/** What a batch answer adds to the array of results. */
export interface BatchResponse extends WireIdentity, WireSigned {
  return_status: string;
  return_message: string;
}

/** At most this many orders a query (document, "Limits"). */
export const QUERY_ORDERS_MAX = 100;
export const QUERY_PATH = '/v1/retrievalTrans';

export interface BatchShape {
  path: string;
  /** Name of the array, the same in request and response. */
  array: string;
  /** Name of the status field of a result entry. */
  status: string;
  /** At most this many orders a request (document, "Limits"). */
  entriesMax: number;
}

/** The batch operations as printed in "Batch operation messages", "Endpoints" and "Limits". */
export const BATCH_SHAPES = {
  capture: shapeOf('capture'),
  cancel: shapeOf('cancel'),
  refund: shapeOf('refund'),
  review: shapeOf('review'),
} as const satisfies Record<Operation, BatchShape>;

function shapeOf(name: Operation): BatchShape {
  return {
    path: `/v1/${name}`,
    array: `${name}_orders`,
    status: `${name}_status`,
    entriesMax: BATCH_ENTRIES_MAX[name],
  };
}
