// A gateway in memory that speaks the document's messages byte for byte and is as unhelpful as it
// may be: permissive, it does whatever it is asked as often as it is asked; strict, it refuses what
// the state does not allow. Keeps a journal of what really happened. Never looks into tieout.

import { createHash } from 'node:crypto';

const STATUS = {
  pending: '1000',
  in_review: '1500',
  authorised: '2000',
  captured: '3000',
  cancelled: '4000',
  declined: '5000',
  partially_refunded: '6000',
  refunded: '6500',
};
const NEEDS = { capture: 'authorised', cancel: 'authorised', review: 'in_review' };

export function openGateway({ now, profile, responseSignatureOf }) {
  const accounts = new Map();
  const transactions = new Map();
  const byAccount = new Map();
  const journal = [];
  const transactionOf = (account, { transaction_id }) =>
    transactions.get(`${account.accountId} ${transaction_id}`);
  return {
    journal,
    add(world, { isPermissive }) {
      accounts.set(world.accountId, { ...world, isPermissive });
      for (const order of world.orders) {
        transactions.set(`${world.accountId} ${order.transaction_id}`, {
          account_id: world.accountId,
          order_no: order.order_no,
          transaction_id: order.transaction_id,
          currency: order.currency,
          amount: order.amount,
          state: order.state,
          refunded: 0,
          refunds: 0,
          // What a query showed before the newest change, and until when it still may.
          before: null,
        });
      }
      const ofAccount = ({ transaction_id }) =>
        transactions.get(`${world.accountId} ${transaction_id}`);
      byAccount.set(world.accountId, world.orders.map(ofAccount));
    },
    /** Lets a batch happen; answers what a truthful gateway would say. */
    operate(operation, message, request, part = 1) {
      const account = accounts.get(message.account_id);
      const entries = message[`${operation}_orders`];
      const reached = Math.floor(entries.length * part);
      const results = entries.map((entry, at) => {
        const outcome =
          at < reached
            ? move({ transactions, journal, now, account }, operation, entry, request)
            : 'not reached';
        return resultOf(operation, entry, outcome, transactionOf(account, entry)?.refunds);
      });
      return answer({ profile, responseSignatureOf, account }, operation, message, results);
    },
    /** Makes a payout, as often as it is asked to. */
    pay(message, request) {
      const { account_id, request_id, payment_amount, payment_currency } = message;
      journal.push({
        at: now().toISOString(),
        operation: 'payout',
        ...{ account_id, order_no: request_id, transaction_id: `P${journal.length}` },
        ...{ currency: payment_currency, amount: payment_amount, request },
      });
      const made = { transaction_id: `P${journal.length}`, status: 'COMPLETED' };
      return { ...message, ...made, failure_type: '', failure_reason: '' };
    },
    transactionOf: (accountId, transactionId) => transactions.get(`${accountId} ${transactionId}`),
    /** A request that a person had tieout make; looks show what it did from then on. */
    byCall(operation, { body }, id) {
      const message = JSON.parse(body.toString('utf8'));
      const request = `${id}.${createHash('sha256').update(body).digest('hex')}`;
      const told =
        operation === 'payout'
          ? this.pay(message, request)
          : this.operate(operation, message, request);
      for (const line of journal.filter((one) => one.request === request)) {
        const one = transactions.get(`${line.account_id} ${line.transaction_id}`);
        if (one !== undefined) one.before = null;
      }
      return answeredWith(told);
    },
    /** A person at the portal. */
    byHand(accountId, operation, transactionId) {
      const one = transactions.get(`${accountId} ${transactionId}`);
      if (one.state !== NEEDS[operation]) return false;
      const account = { isPermissive: false, accountId };
      const entry = { ...one, refund_amount: undefined };
      const request = `portal.${journal.length}`;
      return move({ transactions, journal, now, account }, operation, entry, request) === 'done';
    },
    query(accountId, orderNos, isStale) {
      const wanted = new Set(orderNos);
      const found = byAccount.get(accountId).filter((one) => wanted.has(one.order_no));
      const { merchantId } = accounts.get(accountId);
      return {
        merchant_id: merchantId,
        account_id: accountId,
        return_status: '1',
        return_message: 'OK',
        orders_list: found.map((one) => queryEntry(one, isStale)),
      };
    },
    transactionsOf: (accountId) => byAccount.get(accountId),
    books: () => ({
      effects: journal,
      transactions: [...transactions.values()].map((one) => ({
        ...one,
        refunded: moneyText(one.refunded),
      })),
    }),
  };
}

function cents(text) {
  return Math.round(Number(text) * 100);
}

function moneyText(amount) {
  return `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
}

function move({ transactions, journal, now, account }, operation, entry, request) {
  const one = transactions.get(`${account.accountId} ${entry.transaction_id}`);
  if (one === undefined || one.order_no !== entry.order_no) return 'E1001:no such transaction';
  if (one.currency !== entry.currency || one.amount !== entry.amount) return 'E1003:differs';
  const line = {
    at: now().toISOString(),
    operation,
    account_id: account.accountId,
    order_no: one.order_no,
    transaction_id: one.transaction_id,
    currency: one.currency,
    amount: one.amount,
    request,
  };
  const before = one.state;
  if (operation === 'refund') {
    if (!['captured', 'partially_refunded'].includes(one.state)) return 'E2002:nothing captured';
    const back = cents(entry.refund_amount);
    if (one.refunded + back > cents(one.amount)) return 'E2001:more than was captured';
    one.refunded += back;
    one.refunds += 1;
    one.state = one.refunded === cents(one.amount) ? 'refunded' : 'partially_refunded';
    line.refund_amount = entry.refund_amount;
  } else {
    // Permissive: done once more, whatever the state shows.
    if (one.state !== NEEDS[operation] && !account.isPermissive) return 'E1004:not in that state';
    if (operation === 'capture') one.state = 'captured';
    else if (operation === 'cancel') one.state = 'cancelled';
    else one.state = entry.review_flag === '1' ? 'authorised' : 'declined';
  }
  one.before = before;
  journal.push(line);
  return 'done';
}

function resultOf(operation, entry, outcome, refunds) {
  const done = outcome === 'done';
  const { transaction_id, order_no, currency, amount } = entry;
  const echo = { transaction_id, order_no, currency, amount };
  if (operation === 'refund') {
    return {
      ...echo,
      refund_amount: entry.refund_amount,
      refund_reason: entry.refund_reason,
      refund_message: done ? 'V0000:OK' : outcome,
      refund_reference: '',
      refund_reference_id: done ? `${transaction_id}-${String(refunds).padStart(2, '0')}` : '',
      refund_status: done ? '1' : '0',
    };
  }
  const flag = operation === 'review' ? { review_flag: entry.review_flag } : {};
  return {
    ...echo,
    ...flag,
    [`${operation}_status`]: done ? '1' : '0',
    error_message: done ? '' : outcome,
  };
}

function answer({ profile, responseSignatureOf, account }, operation, message, results) {
  const body = {
    merchant_id: message.merchant_id,
    account_id: message.account_id,
    return_status: '1',
    return_message: 'OK',
    [`${operation}_orders`]: results,
  };
  const { signing } = profile;
  const signature = responseSignatureOf(signing, operation, account.signingKey, body);
  return { ...body, encryption_data: signature };
}

function answeredWith(told) {
  const body = Buffer.from(JSON.stringify(told));
  const whole = { status: 200, contentType: 'application/json', contentEncoding: null };
  return { kind: 'answered', ...whole, body };
}

function queryEntry(one, isStale) {
  return {
    amount: one.amount,
    currency: one.currency,
    order_no: one.order_no,
    payment_status: STATUS[isStale && one.before !== null ? one.before : one.state],
    query_result: '1',
    transaction_date: '20260101000000',
    transaction_id: one.transaction_id,
    reference_no: '',
    fraud_check_result: [],
  };
}
