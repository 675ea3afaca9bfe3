// Asks the gateway about orders: one request of at most a hundred (document, "Limits"). How orders
// are named in it is not shown, so it follows the profile's `query`. Retries, pages and permits
// are the caller's. Neighbours: transport carries, decode reads.

import type { Account } from './account.js';
import { decodeQueryAnswer, type QueryEntry } from './decode.js';
import { encodeMessage } from './encode.js';
import { QUERY_ORDERS_MAX, QUERY_PATH } from './messages.js';
import type { Profile } from './profile.js';
import { signatureOf } from './sign.js';
import type { QueryTransport } from './transport.js';

export type QueryResult =
  | { kind: 'page'; entries: QueryEntry[]; body: Buffer }
  | {
      kind: 'failed';
      reason: string;
      /** False: not even a connection came about. */
      reachable: boolean;
      /** What the gateway said, where it said anything; for keeping. */
      body: Buffer | null;
    };

export interface QueryDeps {
  profile: Profile;
  transport: QueryTransport;
}

/** False: the number contains the separator of the list and would be read as two orders. */
export function canBeAsked(profile: Profile, orderNo: string): boolean {
  return orderNo !== '' && !orderNo.includes(profile.query.orderList.separator);
}

export async function queryOrders(
  deps: QueryDeps,
  account: Account,
  orderNos: readonly string[],
): Promise<QueryResult> {
  const message = queryMessage(deps.profile, account, orderNos);
  const { contentType, body } = encodeMessage(deps.profile.bodies, 'retrievalTrans', message);
  const answer = await deps.transport.post({ path: QUERY_PATH, contentType, body });
  if (answer.kind === 'failed') return { ...answer, body: null };
  const page = decodeQueryAnswer(account, answer);
  if (page.kind === 'page') return { ...page, body: answer.body };
  return { ...page, reachable: true, body: answer.body };
}

function queryMessage(
  profile: Profile,
  account: Account,
  orderNos: readonly string[],
): Record<string, string> {
  const message: Record<string, string> = {
    merchant_id: account.merchantId,
    account_id: account.accountId,
    ...selection(profile, orderNos),
  };
  const signature = signatureOf(profile.signing, 'retrievalTrans', account.signingKey, message);
  return { ...message, encryption_data: signature };
}

/** The fields that name the orders. */
function selection(profile: Profile, orderNos: readonly string[]): Record<string, string> {
  const { select, orderList } = profile.query;
  switch (select) {
    case 'order_list':
      if (orderNos.length === 0 || orderNos.length > QUERY_ORDERS_MAX) {
        throw new RangeError(`a query names 1 to ${QUERY_ORDERS_MAX} orders`);
      }
      if (!orderNos.every((orderNo) => canBeAsked(profile, orderNo))) {
        throw new RangeError('an order number contains the separator of the list');
      }
      return { [orderList.field]: orderNos.join(orderList.separator) };
    case 'window':
    case 'none':
      throw new Error(`orders cannot be named while query.select is ${select}`);
  }
}
