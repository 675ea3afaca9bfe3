// Odd rows of a ledger whose relations are the merchant's own views, as SQL in place of a column of
// an order that is due to be captured, or as a further refund request of it. `alone`: also tried in
// a night of its own, since one such row once stopped a night or a batch.

export interface PoisonCase {
  name: string;
  /** what the order's row has in place of its own values */
  order?: Record<string, string>;
  /** the row stands there a second time, with these */
  again?: Record<string, string>;
  /** a refund request of it */
  refund?: Record<string, string>;
  /** the same request once more */
  refundAgain?: boolean;
  /** a piece of what is said of it */
  says: string;
  alone?: boolean;
}

/** Random, so that nothing compresses it: an index row holds 2,700 bytes. */
const LONG_ID = `(select string_agg(md5(n::text), '') from generate_series(1, 125) n)`;

export const POISON_CASES: readonly PoisonCase[] = [
  { name: 'placed long ago', order: { placed_at: `'-infinity'` }, says: 'placed_at', alone: true },
  { name: 'placed never', order: { placed_at: `'infinity'` }, says: 'placed_at', alone: true },
  { name: 'placed in 9999', order: { placed_at: `'9999-12-31'` }, says: 'placed_at' },
  { name: 'placed before Christ', order: { placed_at: `'0044-03-15 BC'` }, says: 'placed_at' },
  { name: 'updated never', order: { updated_at: `'infinity'` }, says: '' },
  { name: 'no amount', order: { amount: 'null' }, says: 'amount' },
  { name: 'not a number', order: { amount: `'NaN'` }, says: 'NaN' },
  { name: '1e20', order: { amount: '1e20' }, says: '18 digits', alone: true },
  { name: 'below zero', order: { amount: '-5' }, says: '-5 is not above zero' },
  { name: 'five decimals', order: { amount: '1.00001' }, says: '1.00001' },
  { name: 'takes NaN', order: { capture_amount: `'NaN'` }, says: 'capture_amount', alone: true },
  {
    name: 'a long transaction',
    order: { transaction_id: LONG_ID },
    says: 'longer than 512',
    alone: true,
  },
  {
    name: 'a long word',
    order: { expected: `repeat('captured', 100000)` },
    says: 'no known state',
  },
  { name: 'half a yen', order: { currency: `'JPY'`, amount: '10.50' }, says: 'no decimals' },
  { name: 'twice', again: { amount: '1.00' }, says: 'more than once', alone: true },
  { name: 'refund 1e20', refund: { refund_amount: '1e20' }, says: '18 digits', alone: true },
  { name: 'refund NaN', refund: { refund_amount: `'NaN'` }, says: 'NaN', alone: true },
  { name: 'refund below zero', refund: { refund_amount: '-1' }, says: '-1 is not', alone: true },
  { name: 'refund of nothing', refund: { refund_amount: 'null' }, says: 'is missing', alone: true },
  { name: 'refund of dust', refund: { refund_amount: '0.001' }, says: '0.001' },
  {
    name: 'refund without an id',
    refund: { refund_id: 'null' },
    says: 'no refund_id',
    alone: true,
  },
  {
    name: 'refund with a long id',
    refund: { refund_id: LONG_ID },
    says: 'longer than 512',
    alone: true,
  },
  { name: 'refund at no time', refund: { requested_at: 'null' }, says: 'no requested_at' },
  {
    name: 'refund at the end of time',
    refund: { requested_at: `'infinity'` },
    says: 'requested_at',
    alone: true,
  },
  { name: 'refund twice', refund: {}, refundAgain: true, says: 'more than once' },
  {
    name: 'refund for a long reason',
    refund: { reason: `repeat('because ', 200)` },
    says: 'longer than 1,000',
  },
];

const ORDER_TYPES: Record<string, string> = {
  account_id: 'text',
  order_no: 'text',
  currency: 'text',
  amount: 'numeric',
  expected: 'text',
  transaction_id: 'text',
  capture_amount: 'numeric',
  review_decision: 'text',
  placed_at: 'timestamptz',
  updated_at: 'timestamptz',
};

/** Puts views in place of orders and refund requests, which show each case in its own order. */
export function poisonViews(placed: ReadonlyMap<string, PoisonCase>): string {
  const columns = Object.entries(ORDER_TYPES).map(([name, type]) => {
    const cases = [...placed].flatMap(([orderNo, { order }]) =>
      order?.[name] === undefined ? [] : [`when '${orderNo}' then (${order[name]})::${type}`],
    );
    const own = `o.${name}::${type}`;
    const shown = cases.length === 0 ? own : `case o.order_no ${cases.join(' ')} else ${own} end`;
    return `${shown} as ${name}`;
  });
  const again = [...placed].flatMap(([orderNo, { again: change }]) =>
    change === undefined
      ? []
      : [
          `union all select ${Object.entries(ORDER_TYPES)
            .map(([name, type]) => `${change[name] ?? name}::${type}`)
            .join(', ')} from ledger.shop_orders where order_no = '${orderNo}'`,
        ],
  );
  const refunds = [...placed].flatMap(([orderNo, { refund, refundAgain }], at) => {
    if (refund === undefined) return [];
    const row = {
      refund_id: `'RF-${at}'`,
      refund_amount: '1.00',
      reason: 'null',
      requested_at: 'now()',
      ...refund,
    };
    const select = `union all select account_id::text, (${row.refund_id})::text, order_no::text,
      (${row.refund_amount})::numeric, (${row.reason})::text, null::text,
      (${row.requested_at})::timestamptz from ledger.shop_orders where order_no = '${orderNo}'`;
    return refundAgain ? [select, select] : [select];
  });
  return `
    alter table ledger.orders rename to shop_orders;
    alter table ledger.refund_requests rename to shop_refunds;
    create view ledger.orders as select ${columns.join(', ')} from ledger.shop_orders o
      ${again.join('\n')};
    create view ledger.refund_requests as select account_id::text, refund_id::text,
      order_no::text, refund_amount::numeric, reason, requested_by, requested_at
      from ledger.shop_refunds ${refunds.join('\n')};`;
}
