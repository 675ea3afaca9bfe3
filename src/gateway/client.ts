// The gateway as the rest of the program sees it, every operation of its document: ask about
// orders; prepare a batch or a payout, open the one connection for it, read its answer; or call a
// payment and the like in one go. It decides nothing about when or whether to send, and keeps no
// state but its connections. Built in compose, used by the run and by `tieout gateway`.

import type { Operation } from '../core/orders/order.js';
import type { Account } from './account.js';
import {
  type BatchEntry,
  type BatchReading,
  type PreparedBatch,
  prepareBatch,
  readBatchAnswer,
} from './batches/batchOps.js';
import { type MoneyCalls, moneyCalls, type PostOnce } from './batches/moneyCalls.js';
import type { Payout } from './document/payoutMessages.js';
import type { Profile } from './document/profile.js';
import { type PayoutOutcome, preparePayout, readPayoutAnswer } from './payments/payout.js';
import { type QueryResult, query, queryFields, queryOrders } from './query/query.js';
import { canBeAsked, type QuerySelection } from './query/querySelection.js';
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

/** One call each: `authorise`, `authoriseApm`, `checkout`, `payout`, `other`. */
export interface GatewayClient extends MoneyCalls {
  profile: Profile;
  canBeAsked(orderNo: string): boolean;
  query(account: Account, orderNos: readonly string[]): Promise<QueryResult>;
  /**
   * The same by window or without any selection, as the profile's query.select has it. Of the
   * pages that wait for a free connection those of the lowest rank go first.
   */
  queryPage(account: Account, selection: QuerySelection, rank?: bigint): Promise<QueryResult>;
  /** The same with any fields that the gateway may want: how a person tries a profile out. */
  tryQuery(account: Account, fields: Readonly<Record<string, string>>): Promise<QueryResult>;
  /** capture, cancel, refund, review. */
  prepareBatch(
    account: Account,
    operation: Operation,
    entries: readonly BatchEntry[],
  ): PreparedBatch;
  connectMoney(account: Account): Promise<MoneyConnect>;
  readBatchAnswer(
    account: Account,
    operation: Operation,
    sentEntries: readonly BatchEntry[],
    answer: RawAnswer,
  ): BatchReading;
  preparePayout(account: Account, payout: Payout): PreparedRequest;
  readPayoutAnswer(sent: PreparedRequest, answer: RawAnswer): PayoutOutcome;
  /** One write on a fresh connection; nothing is journalled, so the run never uses it. */
  postOnce: PostOnce;
  /** Loads what asking needs, ahead of the first question. */
  getReady(): Promise<unknown>;
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
  const postOnce: PostOnce = async (account, { path, contentType, body }) => {
    const opened = await connect(account);
    if (opened.kind === 'not_sent') return opened;
    return opened.connection.post({
      path,
      headers: { 'content-type': contentType },
      body,
      deadlineMs: profile.limits.timeoutMs,
      mayWrite: () => true,
    });
  };
  return {
    ...moneyCalls(profile, postOnce),
    profile,
    canBeAsked: (orderNo) => canBeAsked(profile, orderNo),
    query: (account, orderNos) =>
      slots(async () => {
        await takeToken(account.merchantId);
        return queryOrders({ profile, transport }, account, orderNos);
      }),
    queryPage: (account, selection, rank) =>
      slots(async () => {
        await takeToken(account.merchantId);
        return query({ profile, transport }, account, selection);
      }, rank),
    tryQuery: (account, fields) =>
      slots(async () => {
        await takeToken(account.merchantId);
        return queryFields({ profile, transport }, account, fields);
      }),
    prepareBatch: (account, operation, entries) =>
      prepareBatch(profile, account, operation, entries),
    connectMoney: connect,
    readBatchAnswer: (account, operation, sentEntries, answer) =>
      readBatchAnswer(profile, account, operation, sentEntries, answer),
    preparePayout: (account, payout) => preparePayout(profile, account, payout),
    readPayoutAnswer,
    postOnce,
    getReady: () => transport.getReady(),
    close: () => transport.close(),
  };
}
