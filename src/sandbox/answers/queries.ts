// Answers POST /v1/retrievalTrans. The document restricts it to registered caller addresses
// (Authentication 3) and shows HTTP 200 alone, so a refusal is a return_status of "0" with its
// reason. The hot path of a large night: entries are joined as bytes, see entries.ts.

import { checkAccount, type Desk, type Received, textOf } from '../desk.js';
import type { Answer } from '../faults/faults.js';
import { asBytes } from '../seed/people.js';
import { printOrder } from './entries.js';
import { selectOrders } from './selection.js';

/** POST /v1/retrievalTrans: the orders of one account, at most a hundred (document, "Limits"). */
export function answerQuery(desk: Desk, received: Received): Answer {
  const { message, from, shift = 0 } = received;
  if (desk.callers !== null && !desk.callers.has(from)) {
    return queryAnswer(message, '0', `address ${from} is not registered`, []);
  }
  const checked = checkAccount(desk, 'retrievalTrans', received);
  if (checked.kind === 'refused') return queryAnswer(message, '0', checked.reason, []);
  const { accountId } = checked.account;
  const selected = selectOrders(desk.book, desk.profile.query, accountId, message, shift);
  if (selected.kind === 'refused') return queryAnswer(message, '0', selected.reason, []);
  const entries: string[] = [];
  for (const order of selected.orders) printOrder(desk.printer, order, entries);
  return queryAnswer(message, '1', 'OK', entries);
}

function queryAnswer(
  message: Received['message'],
  status: string,
  note: string,
  entries: readonly string[],
): Answer {
  const echo = JSON.stringify({
    merchant_id: textOf(message.merchant_id),
    account_id: textOf(message.account_id),
    return_status: status,
    return_message: note,
  });
  return {
    status: 200,
    contentType: 'application/json',
    head: asBytes(`${echo.slice(0, -1)},"orders_list":[`),
    entries,
    tail: ']}',
    isBytes: true,
  };
}
