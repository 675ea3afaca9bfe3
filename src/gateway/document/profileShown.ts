// What the gateway's document shows about each key of the profile, and whether that is enough to
// take the default for an answer of the gateway. For `tieout doctor` and for the person who fills
// a profile in; nothing is decided by it. A test holds it to the keys of profile.ts.

export interface Shown {
  /** True: the default is what the document itself shows. */
  isAnswer: boolean;
  /** What it shows, in words. */
  words: string;
}

const NOT_SHOWN: Shown = { isAnswer: false, words: 'not shown' };
const OWN_CHOICE: Shown = { isAnswer: false, words: 'a choice of tieout, not of the gateway' };
const EXISTENCE: Shown = { isAnswer: false, words: 'only that the operation exists' };
const partly = (words: string): Shown => ({ isAnswer: false, words });
const answer = (words: string): Shown => ({ isAnswer: true, words });

/** By dotted key, as `profileOrigins` names them. */
export const SHOWN: Readonly<Record<string, Shown>> = {
  'signing.algorithm': partly(
    '64 hexadecimal characters in the samples; the algorithm is not shown',
  ),
  'signing.key': NOT_SHOWN,
  'signing.separator': NOT_SHOWN,
  'signing.pairs': NOT_SHOWN,
  'signing.sort': NOT_SHOWN,
  'signing.output': partly('64 lower-case hexadecimal characters in the samples'),
  'signing.inBody': answer('encryption_data in every request body'),
  'signing.headers': NOT_SHOWN,
  'signing.fields': NOT_SHOWN,
  'signing.responses': partly('batch and direct payment answers bear encryption_data'),
  'signing.responseMode': NOT_SHOWN,
  'signing.responseFields': NOT_SHOWN,
  'query.select': NOT_SHOWN,
  'query.orderList.field': NOT_SHOWN,
  'query.orderList.separator': NOT_SHOWN,
  'query.window.from': NOT_SHOWN,
  'query.window.to': NOT_SHOWN,
  'query.window.format': NOT_SHOWN,
  'query.window.timezone': NOT_SHOWN,
  'query.window.page': NOT_SHOWN,
  'query.window.firstPage': NOT_SHOWN,
  'query.window.size': NOT_SHOWN,
  'query.found': answer('query_result 1'),
  'statuses.payment': partly('the code 3000, without its meaning'),
  'statuses.recurring': partly('recurring_status 1, without its meaning'),
  'statuses.risk': partly('risk_action ACCEPT, without its meaning'),
  'results.accepted': answer('1 in capture_, cancel_, review_ and refund_status'),
  'payments.notDone': partly('HTTP 400 and 404 of authorise and checkout, without conditions'),
  'payments.accepted': answer('order_status 1 together with 0000:Success'),
  bodies: partly('JSON declared, form-urlencoded in the samples; which holds is not resolved'),
  siteField: answer('the field "the service"; a name with a space is worth a question'),
  'transactionDate.timezone': partly('the shape YYYYMMDDhhmmss, without its timezone'),
  'reviewFlags.accept': partly('review_flag 1, without its meaning'),
  'reviewFlags.reject': NOT_SHOWN,
  partialCapture: NOT_SHOWN,
  refundReasonTag: OWN_CHOICE,
  currencies: answer('amounts of two decimals'),
  'payout.unit': partly('integer-looking amounts, without their unit'),
  'payout.statuses.done': answer('COMPLETED'),
  'payout.statuses.pending': NOT_SHOWN,
  'payout.statuses.failed': partly('failure_type and failure_reason; no status of a failure'),
  'operations.searchRefund': EXISTENCE,
  'operations.cancelSubscription': EXISTENCE,
  'operations.optimisePaymentMethods': EXISTENCE,
  'limits.timeoutMs': NOT_SHOWN,
  'limits.requestsPerSecond': NOT_SHOWN,
  'limits.concurrency': NOT_SHOWN,
  'limits.maxResponseBytes': OWN_CHOICE,
};
