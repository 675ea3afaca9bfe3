// One call each: build, send once, read. For what the merchant's shop or a person starts; the
// night sends its own batches and payouts in separate steps, with a journal between them. There is
// no retry here, and none may be added: the gateway has no key that would tell a repeat.

import type { Account } from '../account.js';
import type { ApmPayment, DirectPayment, HostedPayment } from '../document/paymentMessages.js';
import type { Payout } from '../document/payoutMessages.js';
import type { Profile } from '../document/profile.js';
import type { ApmOutcome, DirectOutcome } from '../payments/paymentAnswer.js';
import type { CheckoutOutcome } from '../payments/payments.js';
import { type PayoutOutcome, preparePayout, readPayoutAnswer } from '../payments/payout.js';
import {
  type OtherOperation,
  type OtherOutcome,
  prepareOther,
  readOtherAnswer,
} from '../payments/undocumented.js';
import type { MoneyPost } from '../transport/moneyTransport.js';
import type { RawAnswer } from '../transport/transport.js';
import type { PreparedRequest } from '../wire/requests.js';
import { answerOf, type UnknownOutcome } from '../wire/wholeAnswer.js';

/** Sends one prepared request over a fresh connection, once. */
export type PostOnce = (
  account: Account,
  request: Pick<PreparedRequest, 'path' | 'contentType' | 'body'>,
) => Promise<MoneyPost>;

export interface MoneyCalls {
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

export function moneyCalls(profile: Profile, post: PostOnce): MoneyCalls {
  const call = async <Outcome>(
    account: Account,
    sent: PreparedRequest,
    read: (sent: PreparedRequest, answer: RawAnswer) => Outcome,
  ): Promise<Outcome | UnknownOutcome | { kind: 'not_sent'; reason: string }> => {
    const answer = answerOf(await post(account, sent));
    return answer.kind === 'answered' ? read(sent, answer) : answer;
  };
  return {
    authorise: async (account, payment) => {
      const { prepareDirect, readDirectAnswer } = await payments();
      return call(account, prepareDirect(profile, account, payment), (sent, answer) =>
        readDirectAnswer(profile, account, sent, answer),
      );
    },
    authoriseApm: async (account, payment) => {
      const { prepareApm, readApmAnswer } = await payments();
      return call(account, prepareApm(profile, account, payment), readApmAnswer);
    },
    checkout: async (account, payment) => {
      const { prepareCheckout, readCheckoutAnswer } = await payments();
      return call(account, prepareCheckout(profile, account, payment), readCheckoutAnswer);
    },
    payout: async (account, payout) =>
      call(account, preparePayout(profile, account, payout), readPayoutAnswer),
    other: async (account, name, fields) =>
      call(account, prepareOther(profile, account, name, fields), (_, answer) =>
        readOtherAnswer(answer),
      ),
  };
}

/** Loaded before anything is sent, and never by a run: reading XML takes a library. */
async function payments() {
  return {
    ...(await import('../payments/payments.js')),
    ...(await import('../payments/paymentAnswer.js')),
  };
}
