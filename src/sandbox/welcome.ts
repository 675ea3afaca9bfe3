// What `tieout sandbox` tells a person who starts it: address, keys and commands that work as they
// stand on the night that was seeded. Makes text only. The keys are the sandbox's own and open
// nothing else.

import type { Operation } from '../core/orders/order.js';
import { BATCH_SHAPES } from '../gateway/document/messages.js';
import { sandboxProfile } from '../gateway/document/profile.js';
import { signatureOf } from '../gateway/wire/sign.js';
import type { SandboxAccount } from './desk.js';
import { type SeededOrder, seedOrders } from './seed/seed.js';
import { planSeed, type SeedSettings } from './seed/seedPlan.js';

/** Orders that are searched through for one that can be captured; every night plants some. */
const SEARCHED_MAX = 20_000;

export function welcomeText(
  baseUrl: string,
  accounts: readonly SandboxAccount[],
  settings: SeedSettings,
): string {
  const day = settings.dayStart.toISOString().slice(0, 10);
  const due = orderToCapture(settings);
  const account = accounts.find(({ accountId }) => accountId === due?.ledger.account_id);
  const lines = [
    `Sandbox gateway on ${baseUrl} (profile: sandbox). Ctrl-C ends it.`,
    `${settings.orders} orders of the night ${day}, seed ${settings.seed}.`,
    '',
    ...accounts.map(
      ({ merchantId, accountId, signingKey }) =>
        `merchantId ${merchantId}  accountId ${accountId}  signingKey ${signingKey}`,
    ),
    '',
    ...(due === null || account === undefined ? [] : tryLines(baseUrl, account, due)),
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

function tryLines(baseUrl: string, account: SandboxAccount, { gateway }: SeededOrder): string[] {
  const [found] = gateway?.transactions ?? [];
  if (gateway === null || found === undefined) return [];
  const query = signed(account, 'retrievalTrans', { order_no: gateway.orderNo });
  const form = new URLSearchParams(query as Record<string, string>);
  const entry = {
    transaction_id: found.transactionId,
    order_no: gateway.orderNo,
    currency: found.currency,
    amount: found.amount,
  };
  const capture = signed(account, 'capture', { [BATCH_SHAPES.capture.array]: [entry] });
  const json = `-H 'content-type: application/json' -d '${JSON.stringify(capture)}'`;
  return [
    `Query an order: curl -d '${form}' ${baseUrl}/v1/retrievalTrans`,
    `Capture it: curl ${json} ${baseUrl}/v1/capture`,
  ];
}

function signed(
  account: SandboxAccount,
  operation: Operation | 'retrievalTrans',
  fields: Record<string, unknown>,
): Record<string, unknown> {
  const { merchantId: merchant_id, accountId: account_id, signingKey } = account;
  const message = { merchant_id, account_id, ...fields };
  const { signing } = sandboxProfile();
  return { ...message, encryption_data: signatureOf(signing, operation, signingKey, message) };
}
