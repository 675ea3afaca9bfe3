// The client with which a person tries the gateway, from `tieout gateway` or a program of their
// own: every operation of its document, one call each: build, send once, read. Nothing is
// journalled here (cli/gateway/gatewayJournal.ts does that) and a run never loads it: a run sends
// its own batches and payouts in separate steps, with a journal between them. There is no retry,
// and none may be added: the gateway has no key that would tell a repeat.

import type { Account } from '../account.js';
import { type PayoutOutcome, preparePayout, readPayoutAnswer } from '../batches/preparePayout.js';
import { createGatewayClient, type GatewayClient, type GatewayClientDeps } from '../client.js';
import type { ApmPayment, DirectPayment, HostedPayment } from '../document/paymentMessages.js';
import type { Payout } from '../document/payoutMessages.js';
import type { Profile } from '../document/profile.js';
import type { QueryResult } from '../query/query.js';
import {
  type OtherOperation,
  type OtherOutcome,
  prepareOther,
  readOtherAnswer,
} from '../query/undocumented.js';
import { callOnce, type PostOnce, postOnceOver } from '../transport/callOnce.js';
import {
  type ApmOutcome,
  type DirectOutcome,
  readApmAnswer,
  readDirectAnswer,
} from './paymentAnswer.js';
import {
  type CheckoutOutcome,
  prepareApm,
  prepareCheckout,
  prepareDirect,
  readCheckoutAnswer,
} from './payments.js';

export interface PaymentClient extends GatewayClient, MoneyCalls {
  /** A query with any fields that the gateway may want. */
  tryQuery(account: Account, fields: Readonly<Record<string, string>>): Promise<QueryResult>;
  postOnce: PostOnce;
}

export function createPaymentClient(deps: GatewayClientDeps): PaymentClient {
  return withPayments(createGatewayClient(deps));
}

/** On the connections of this client. */
export function withPayments(gateway: GatewayClient): PaymentClient {
  const { profile } = gateway;
  const postOnce = postOnceOver(gateway.connectMoney, profile.limits.timeoutMs);
  return {
    ...gateway,
    ...moneyCalls(profile, postOnce),
    tryQuery: (account, fields) => gateway.queryPage(account, { kind: 'fields', fields }),
    postOnce,
  };
}

interface MoneyCalls {
  /** POST /v1/authorise with a card, or with a token of one. */
  authorise(account: Account, payment: DirectPayment): Promise<DirectOutcome>;
  /** POST /v1/authorise with payment_method. */
  authoriseApm(account: Account, payment: ApmPayment): Promise<ApmOutcome>;
  /** POST /v1/checkout. */
  checkout(account: Account, payment: HostedPayment): Promise<CheckoutOutcome>;
  /** POST /v1/payout. */
  payout(account: Account, payout: Payout): Promise<PayoutOutcome>;
  /** The three of which only their existence is shown. */
  other(
    account: Account,
    name: OtherOperation,
    fields: Record<string, unknown>,
  ): Promise<OtherOutcome>;
}

function moneyCalls(profile: Profile, post: PostOnce): MoneyCalls {
  return {
    authorise: async (account, payment) =>
      callOnce(post, account, prepareDirect(profile, account, payment), (sent, answer) =>
        readDirectAnswer(profile, account, sent, answer),
      ),
    authoriseApm: async (account, payment) =>
      callOnce(post, account, prepareApm(profile, account, payment), (sent, answer) =>
        readApmAnswer(profile, sent, answer),
      ),
    checkout: async (account, payment) =>
      callOnce(post, account, prepareCheckout(profile, account, payment), (sent, answer) =>
        readCheckoutAnswer(profile, sent, answer),
      ),
    payout: async (account, payout) =>
      callOnce(post, account, preparePayout(profile, account, payout), (sent, answer) =>
        readPayoutAnswer(profile, sent, answer),
      ),
    other: async (account, name, fields) =>
      callOnce(post, account, prepareOther(profile, account, name, fields), (_, answer) =>
        readOtherAnswer(answer),
      ),
  };
}
