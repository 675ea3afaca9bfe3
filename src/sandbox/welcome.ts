// What `tieout sandbox` tells a person who starts it: address, keys and commands that work as they
// stand on the night that was seeded. Makes text only. The keys are the sandbox's own and open
// nothing else.

import type { Operation } from '../core/orders/order.js';
import { BATCH_SHAPES } from '../gateway/document/messages.js';
import type { Profile } from '../gateway/document/profile.js';
import { type SignedMessage, signMessage } from '../gateway/wire/sign.js';
import type { SandboxAccount } from './desk.js';
import { type SeededOrder, seedOrders } from './seed/seed.js';
import { planSeed, type SeedSettings } from './seed/seedPlan.js';

/** Orders that are searched through for one that can be captured; every night plants some. */
const SEARCHED_MAX = 20_000;

export function welcomeText(
  baseUrl: string,
  accounts: readonly SandboxAccount[],
  settings: SeedSettings,
  { profile, name }: { profile: Profile; name: string },
): string {
  const day = settings.dayStart.toISOString().slice(0, 10);
  const due = orderToCapture(settings);
  const account = accounts.find(({ accountId }) => accountId === due?.ledger.account_id);
  const lines = [
    `Sandbox gateway on ${baseUrl} (profile: ${name}). Ctrl-C ends it.`,
    `${settings.orders} orders of the night ${day}, seed ${settings.seed}.`,
    '',
    ...accounts.map(
      ({ merchantId, accountId, signingKey }) =>
        `merchantId ${merchantId}  accountId ${accountId}  signingKey ${signingKey}`,
    ),
    '',
    ...(due === null || account === undefined ? [] : tryLines(baseUrl, account, due, profile)),
    ...['orders', 'refunds'].map(
      (book) => `The shop's ${book}: curl -s ${baseUrl}/_sandbox/ledger/${book} > ${book}.csv`,
    ),
    `What really moved: curl ${baseUrl}/_sandbox/effects`,
    `By hand: ${baseUrl}/_sandbox/portal`,
  ];
  return `${lines.join('\n')}\n`;
}

/** An authorised order of the night; null: it has none. */
function orderToCapture(settings: SeedSettings): SeededOrder | null {
  let searched = 0;
  for (const seeded of seedOrders(planSeed(settings))) {
    if (seeded.gateway?.transactions[0]?.state === 'authorised') return seeded;
    searched += 1;
    if (searched === SEARCHED_MAX) break;
  }
  return null;
}

function tryLines(
  baseUrl: string,
  account: SandboxAccount,
  { gateway }: SeededOrder,
  profile: Profile,
): string[] {
  const [found] = gateway?.transactions ?? [];
  if (gateway === null || found === undefined) return [];
  const { field } = profile.query.orderList;
  const query = signed(profile, account, 'retrievalTrans', { [field]: gateway.orderNo });
  const form = new URLSearchParams(query.message as Record<string, string>);
  const entry = {
    transaction_id: found.transactionId,
    order_no: gateway.orderNo,
    currency: found.currency,
    amount: found.amount,
  };
  const capture = signed(profile, account, 'capture', { [BATCH_SHAPES.capture.array]: [entry] });
  const body = `-d '${JSON.stringify(capture.message)}'`;
  const json = `-H 'content-type: application/json' ${headerFlags(capture)}${body}`;
  return [
    `Query an order: curl ${headerFlags(query)}-d '${form}' ${baseUrl}/v1/retrievalTrans`,
    `Capture it: curl ${json} ${baseUrl}/v1/capture`,
  ];
}

function headerFlags({ headers }: SignedMessage): string {
  return Object.entries(headers)
    .map(([name, text]) => `-H '${name}: ${text}' `)
    .join('');
}

function signed(
  { signing }: Profile,
  account: SandboxAccount,
  operation: Operation | 'retrievalTrans',
  fields: Record<string, unknown>,
): SignedMessage {
  const { merchantId: merchant_id, accountId: account_id } = account;
  return signMessage(signing, operation, account, { merchant_id, account_id, ...fields });
}
