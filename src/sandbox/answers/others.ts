// The three operations of which the document shows only that they exist (Endpoints, note 6). Where
// they are and what they say is the sandbox's own invention: at the paths of the profile it was
// started with, else at /v1/searchRefund, /v1/cancelSubscription and /v1/optimisePaymentMethods.

import type { Profile } from '../../gateway/document/profile.js';
import { draftOf, findOrder, putTransaction, settle } from '../book/book.js';
import { checkAccount, type Desk, type Received, textOf } from '../desk.js';
import { type Answer, bareAnswer } from '../faults/faults.js';

type Name = keyof Profile['operations'];
type Said = { kind: 'said'; fields: Record<string, unknown> } | { kind: 'refused'; reason: string };

const ANSWERS: Record<Name, (desk: Desk, received: Received) => Said> = {
  searchRefund,
  cancelSubscription,
  optimisePaymentMethods: () => ({
    kind: 'said',
    fields: { payment_methods: ['card', 'banktransfer'] },
  }),
};

/** Who answers such a path; null: none of the three is there. */
export function otherOperator(
  { operations }: Profile,
  path: string,
): ((desk: Desk, received: Received) => Answer) | null {
  const names = Object.keys(ANSWERS) as Name[];
  const name = names.find((one) => (operations[one]?.path ?? `/v1/${one}`) === path);
  return name === undefined ? null : (desk, received) => answer(desk, name, received);
}

function answer(desk: Desk, name: Name, received: Received): Answer {
  const { message } = received;
  const checked = checkAccount(desk, name, received);
  const said: Said = checked.kind === 'refused' ? checked : ANSWERS[name](desk, received);
  const body = {
    merchant_id: textOf(message.merchant_id),
    account_id: textOf(message.account_id),
    return_status: said.kind === 'said' ? '1' : '0',
    return_message: said.kind === 'said' ? 'OK' : said.reason,
    ...(said.kind === 'said' ? said.fields : {}),
  };
  return bareAnswer(200, 'application/json', JSON.stringify(body));
}

/** The refunds that it made of one transaction, in order. */
function searchRefund({ effects }: Desk, { message }: Received): Said {
  const made = effects
    .map((line) => JSON.parse(line) as Record<string, string>)
    .filter(
      (one) =>
        one.operation === 'refund' &&
        one.account_id === message.account_id &&
        one.transaction_id === message.transaction_id,
    )
    .map(({ at, order_no, transaction_id, refund_amount }) => {
      return { at, order_no, transaction_id, refund_amount };
    });
  return { kind: 'said', fields: { refunds: made } };
}

/** Ends the contract of one transaction; the next query shows it. Forgotten with the process. */
function cancelSubscription({ book, printer }: Desk, { message }: Received): Said {
  const draft = draftOf(book);
  const order = findOrder(draft, textOf(message.account_id), textOf(message.order_no));
  const found = order?.transactions.find(
    ({ transactionId }) => transactionId === message.transaction_id,
  );
  const subscription = found?.details?.subscription;
  if (!order || !found?.details || !subscription) {
    return { kind: 'refused', reason: 'no such subscription' };
  }
  const details = { ...found.details, subscription: { ...subscription, isEnded: true } };
  putTransaction(draft, order, { ...found, details });
  settle(draft);
  return { kind: 'said', fields: { recurring_status: printer.recurring.ended } };
}
