// What the sandbox holds: orders and the attempts to pay them. Plain data, replaced and never
// edited in place, so that a request can be worked out whole before any of it becomes true.
// Neighbours: seed.ts draws orders, book.ts moves them, entries.ts prints them.

import type { Hundredths } from '../../core/money.js';
import type { GatewayState } from '../../core/orders/order.js';

/** What a payment brought along; seeded orders have none of it. */
export interface PaymentDetails {
  /** First six and last four digits; the rest was never kept. */
  readonly card?: string;
  /** Delivery address, shopper and web site by their wire names. */
  readonly shown: Readonly<Record<string, string>>;
  readonly notifyUrl?: string;
  readonly subscription?: Subscription;
}

export interface Subscription {
  readonly contractName: string;
  readonly period: string;
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly isEnded?: boolean;
}

/** One attempt to pay an order. `odd`: a code that the profile gives no meaning. */
export interface SandboxTransaction {
  readonly transactionId: string;
  readonly currency: string;
  /** The amount as it is shown; a planted defect may lack the printed shape. */
  readonly amount: string;
  readonly state: GatewayState | 'odd';
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly refunded: Hundredths;
  readonly refundCount: number;
  readonly details?: PaymentDetails;
}

/** All that the sandbox knows under one order number of one account. */
export interface SandboxOrder {
  readonly accountId: string;
  readonly orderNo: string;
  readonly transactions: readonly SandboxTransaction[];
  /** Order numbers whose entries come along uninvited whenever this order is asked for. */
  readonly riders: readonly string[];
}

/** An account of the sandbox without its key: what a seeded night is spread over. */
export interface SandboxAccountId {
  readonly merchantId: string;
  readonly accountId: string;
}
