// Somebody rewrites single columns of the ledger while what they ask for is held, queued, sent or
// unknown: requests are raised, split, dated anew, told with another reason or replaced; orders name
// another transaction, currency, amount, decision or wish. Rows come and go in edits.mjs.

const REQUEST = 'account_id = $1 and refund_id = $2';
const ORDER = 'account_id = $1 and order_no = $2';
const REQUESTS = 'ledger.refund_requests';

/** [weight, name, statement]; `$1` is the account, `$2` the request or the order. */
const OF_REQUESTS = [
  [
    2,
    'a request raised',
    `update ${REQUESTS} set refund_amount = refund_amount + 1 where ${REQUEST}`,
  ],
  [
    2,
    'a request split in two',
    `with half as (
       update ${REQUESTS} set refund_amount = refund_amount - round(refund_amount / 2, 2)
       where ${REQUEST} and refund_amount > 1 and refund_amount < 1e15
       returning account_id, order_no, refund_amount, reason, requested_at)
     insert into ${REQUESTS} (account_id, refund_id, order_no, refund_amount, reason, requested_at)
     select account_id, $2 || '-half', order_no, refund_amount, reason, requested_at from half
     on conflict do nothing`,
  ],
  [
    1,
    'two requests made one',
    `with gone as (
       delete from ${REQUESTS} g using ${REQUESTS} stays
       where stays.account_id = $1 and stays.refund_id = $2 and g.account_id = $1
         and g.order_no = stays.order_no and g.refund_id <> $2
         and g.refund_amount > 0 and g.refund_amount < 1e15
       returning g.refund_amount)
     update ${REQUESTS} set refund_amount = refund_amount + (select sum(refund_amount) from gone)
     where ${REQUEST} and exists (select from gone)`,
  ],
  [
    2,
    'a request replaced by one of another id',
    `with gone as (delete from ${REQUESTS} where ${REQUEST} returning *)
     insert into ${REQUESTS} (account_id, refund_id, order_no, refund_amount, reason, requested_at)
     select account_id, 'new-' || refund_id, order_no, refund_amount, reason, clock_timestamp()
     from gone on conflict do nothing`,
  ],
  [
    1,
    'a request told with another reason',
    `update ${REQUESTS} set reason = 'spoilt' where ${REQUEST}`,
  ],
  [
    1,
    'a request dated later',
    `update ${REQUESTS} set requested_at = requested_at + interval '5 hours' where ${REQUEST}`,
  ],
  [
    1,
    'a request dated before the account was live',
    `update ${REQUESTS} set requested_at = requested_at - interval '60 hours' where ${REQUEST}`,
  ],
  [
    1,
    'a request of more than is left',
    `insert into ${REQUESTS} (account_id, refund_id, order_no, refund_amount, reason, requested_at)
     select r.account_id, 'more-' || r.refund_id, r.order_no, o.amount, 'all of it', clock_timestamp()
     from ${REQUESTS} r join ledger.orders o using (account_id, order_no)
     where r.account_id = $1 and r.refund_id = $2 and o.amount > 0 and o.amount < 1e15
     on conflict do nothing`,
  ],
];

const OF_ORDERS = [
  [
    2,
    'an order that names no transaction, or another',
    `update ledger.orders set transaction_id = case when transaction_id is null
       then $2 || '-strange' end where ${ORDER}`,
  ],
  [
    2,
    'an order that is to be captured in part, or whole again',
    `update ledger.orders set capture_amount = case when capture_amount is null
       then round(amount / 2, 2) end where ${ORDER} and amount > 1 and amount < 1e15`,
  ],
  [
    1,
    'an order in another currency',
    `update ledger.orders set currency = case currency when 'EUR' then 'USD' else 'EUR' end
     where ${ORDER}`,
  ],
  [
    1,
    'an order of another amount',
    `update ledger.orders set amount = amount + 1 where ${ORDER} and amount < 1e15`,
  ],
  [
    1,
    'a review decided otherwise',
    `update ledger.orders set review_decision = case review_decision when 'accept' then 'reject'
       when 'reject' then null else 'accept' end where ${ORDER}`,
  ],
  [
    2,
    'an order wanted otherwise',
    `update ledger.orders set expected = case expected when 'captured' then 'authorised'
       when 'authorised' then 'cancelled' else 'captured' end where ${ORDER}`,
  ],
];

/** What every full run has to have drawn. */
export const REWRITES = [...OF_REQUESTS, ...OF_ORDERS].map(([, name]) => name);

/** One column, or one request, of one order; counts it where a row was touched. */
export async function rewriteLedger({ db, list, tally, rewriter: random }) {
  const order = random.pick(random.pick(list).layout.orders);
  const refund = order.refunds.length === 0 ? null : random.pick(order.refunds);
  const isOfRequest = refund !== null && random.chance(0.7);
  const table = isOfRequest ? OF_REQUESTS : OF_ORDERS;
  const [name, text] = random.weighted(table.map(([weight, ...one]) => [weight, one]));
  const key = isOfRequest ? refund.refund_id : order.order_no;
  const { rowCount } = await db.query(text, [order.account_id, key]);
  if (rowCount > 0) tally.count(name);
}
