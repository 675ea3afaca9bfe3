// Cardholders who take their payment back, or try to, at any moment: between the plan of a refund and
// its first byte, after an approval, after the refund. A dispute becomes known by a row of the
// ledger, and the bank names the order or only the transaction; or by a line of the acquirer's
// settlement, a chargeback, which another line may reverse.

const STAGES = [
  [5, 'opened'],
  [2, 'lost'],
  [2, 'won'],
  [1, 'withdrawn'],
];
const NAMED_BY_THE_TRANSACTION = 0.3;
const SECOND_DISPUTE = 0.15;
const BY_A_SETTLEMENT = 0.3;
const REVERSED = 0.3;

/** A dispute is opened, or one that is known goes on. */
export async function disputePayment({ db, cardholders: random, tally }, { layout }) {
  const refunded = layout.orders.filter(({ refunds }) => refunds.length > 0);
  if (refunded.length === 0) return;
  const order = random.pick(refunded);
  if (random.chance(BY_A_SETTLEMENT)) return chargeBack({ db, random, tally }, order);
  const { account_id, order_no, transaction_id, currency, amount } = order;
  const id = `D${random.chance(SECOND_DISPUTE) ? 2 : 1}-${order_no}`;
  const stage = random.weighted(STAGES);
  const isByTransaction = random.chance(NAMED_BY_THE_TRANSACTION);
  await db.query(
    `insert into ledger.disputes (account_id, dispute_id, order_no, transaction_id, currency,
       amount, stage, at)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
     on conflict (account_id, dispute_id) do update
       set stage = excluded.stage, at = excluded.at`,
    [
      ...[account_id, id],
      ...(isByTransaction ? [`bank-${order_no}`, transaction_id] : [order_no, null]),
      ...[currency, amount, stage],
    ],
  );
  tally.count(`a dispute: ${stage}`);
}

async function chargeBack({ db, random, tally }, order) {
  const { account_id, order_no, transaction_id, currency, amount } = order;
  const type = random.chance(REVERSED) ? 'chargeback_reversed' : 'chargeback';
  await db.query(
    `insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
       order_no, transaction_id, currency, amount, settle_currency, gross, fee, net)
     values ($1, 'drawn', $2, 1, $3, clock_timestamp(), $4, $5, $6, $7, $6, $7, 0, $7)`,
    [
      ...[account_id, random.uuid(), type, order_no],
      ...[transaction_id, currency, type === 'chargeback' ? `-${amount}` : amount],
    ],
  );
  tally.count(`a line of a settlement: ${type}`);
}
