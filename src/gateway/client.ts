// The gateway as the rest of the program sees it: ask about orders, prepare a batch, open the one
// connection for it, read its answer. It decides nothing about when or whether to send, and keeps
// no state but its connections. Built in compose, used by the night and by `tieout gateway`.

import type { Operation } from '../core/order.js';
import type { Account } from './account.js';
import {
  type BatchEntry,
  type BatchReading,
  type PreparedBatch,
  prepareBatch,
  readBatchAnswer,
} from './batchOps.js';
import { endpointOf } from './endpoint.js';
import { connectMoney, type MoneyConnect } from './moneyTransport.js';
import type { Profile } from './profile.js';
import { type QueryResult, query, queryOrders } from './query.js';
import { canBeAsked, type QuerySelection } from './querySelection.js';
import { openSlots } from './slots.js';
import { openQueryTransport, type RawAnswer } from './transport.js';

export interface GatewayClientDeps {
  profile: Profile;
  baseUrl: string;
  /** The way to the gateway; null or absent: straight. */
  proxy?: URL | null;
  /** Waits for the right to make one request; the rate is held for all workers together. */
  permit?: (merchantId: string) => Promise<void>;
}

export interface GatewayClient {
  profile: Profile;
  canBeAsked(orderNo: string): boolean;
  query(account: Account, orderNos: readonly string[]): Promise<QueryResult>;
  /** The same by window or without any selection, as the profile's query.select has it. */
  queryPage(account: Account, selection: QuerySelection): Promise<QueryResult>;
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
  close(): Promise<void>;
}

export function createGatewayClient(deps: GatewayClientDeps): GatewayClient {
  const { profile } = deps;
  const permit = deps.permit ?? (async () => undefined);
  const endpoint = endpointOf(deps.baseUrl);
  const transport = openQueryTransport(endpoint, profile.limits, deps.proxy);
  const slots = openSlots(profile.limits.concurrency);
  return {
    profile,
    canBeAsked: (orderNo) => canBeAsked(profile, orderNo),
    query: (account, orderNos) =>
      slots(async () => {
        await permit(account.merchantId);
        return queryOrders({ profile, transport }, account, orderNos);
      }),
    queryPage: (account, selection) =>
      slots(async () => {
        await permit(account.merchantId);
        return query({ profile, transport }, account, selection);
      }),
    prepareBatch: (account, operation, entries) =>
      prepareBatch(profile, account, operation, entries),
    connectMoney: async (account) => {
      await permit(account.merchantId);
      return connectMoney(endpoint, { ...profile.limits, proxy: deps.proxy ?? null });
    },
    readBatchAnswer: (account, operation, sentEntries, answer) =>
      readBatchAnswer(profile, account, operation, sentEntries, answer),
    close: () => transport.close(),
  };
}
