// The gateway as a run sees it: ask about orders; prepare a batch or a payout, open the one
// connection for it, read its answer. It decides nothing about when or whether to send, and keeps
// no state but its connections. Built in compose. Neighbour: payments/paymentClient.ts, with which
// a person tries everything else that the gateway's document has.

import type { Operation } from '../core/orders/order.js';
import type { Account } from './account.js';
import {
  type BatchEntry,
  type BatchReading,
  type PreparedBatch,
  prepareBatch,
  readBatchAnswer,
} from './batches/prepareBatch.js';
import { type PayoutOutcome, preparePayout, readPayoutAnswer } from './batches/preparePayout.js';
import type { Payout } from './document/payoutMessages.js';
import type { Profile } from './document/profile.js';
import { type QueryResult, query } from './query/query.js';
import type { QuerySelection } from './query/querySelection.js';
import { type OtherOutcome, prepareOther, readOtherAnswer } from './query/undocumented.js';
import { callOnce, postOnceOver } from './transport/callOnce.js';
import { endpointOf } from './transport/endpoint.js';
import { connectMoney, type MoneyConnect } from './transport/moneyTransport.js';
import { openSlots } from './transport/slots.js';
import { openQueryTransport, type RawAnswer } from './transport/transport.js';
import type { PreparedRequest } from './wire/requests.js';

export interface GatewayClientDeps {
  profile: Profile;
  baseUrl: string;
  /** The way to the gateway; null or absent: straight. */
  proxy?: URL | null;
  /** Waits for the right to make one request; the rate is held for all workers together. */
  takeToken?: (merchantId: string) => Promise<void>;
}

export interface GatewayClient {
  profile: Profile;
  /**
   * Asks for at most a hundred orders by number, or by window or without any selection, as the
   * profile's query.select has it. Of the pages that wait for a free connection those of the lowest
   * rank go first.
   */
  queryPage(account: Account, selection: QuerySelection, rank?: bigint): Promise<QueryResult>;
  /** capture, cancel, refund, review. */
  prepareBatch(
    account: Account,
    operation: Operation,
    entries: readonly BatchEntry[],
  ): PreparedBatch;
  connectMoney(account: Account): Promise<MoneyConnect>;
  /** What the gateway knows of a refund, where the profile says how it is asked. */
  searchRefund(account: Account, fields: Record<string, unknown>): Promise<OtherOutcome>;
  readBatchAnswer(
    account: Account,
    operation: Operation,
    sentEntries: readonly BatchEntry[],
    answer: RawAnswer,
  ): BatchReading;
  preparePayout(account: Account, payout: Payout): PreparedRequest;
  readPayoutAnswer(sent: PreparedRequest, answer: RawAnswer): PayoutOutcome;
  close(): Promise<void>;
}

export function createGatewayClient(deps: GatewayClientDeps): GatewayClient {
  const { profile } = deps;
  const takeToken = deps.takeToken ?? (async () => undefined);
  const endpoint = endpointOf(deps.baseUrl);
  const transport = openQueryTransport(endpoint, profile.limits, deps.proxy);
  const slots = openSlots(profile.limits.concurrency);
  const connect = async (account: Account): Promise<MoneyConnect> => {
    await takeToken(account.merchantId);
    return connectMoney(endpoint, { ...profile.limits, proxy: deps.proxy ?? null });
  };
  return {
    profile,
    queryPage: (account, selection, rank) =>
      slots(async () => {
        await takeToken(account.merchantId);
        return query({ profile, transport }, account, selection);
      }, rank),
    prepareBatch: (account, operation, entries) =>
      prepareBatch(profile, account, operation, entries),
    connectMoney: connect,
    searchRefund: async (account, fields) => {
      const sent = prepareOther(profile, account, 'searchRefund', fields);
      const post = postOnceOver(connect, profile.limits.timeoutMs);
      return callOnce(post, account, sent, (_, answer) => readOtherAnswer(answer));
    },
    readBatchAnswer: (account, operation, sentEntries, answer) =>
      readBatchAnswer(profile, account, operation, sentEntries, answer),
    preparePayout: (account, payout) => preparePayout(profile, account, payout),
    readPayoutAnswer: (sent, answer) => readPayoutAnswer(profile, sent, answer),
    close: () => transport.close(),
  };
}
