// What a line of disputes may hold (docs/CONTRACT.md section 4): what a cardholder took back, or
// tries to. Pure. Neighbour: ledgerRow.ts, for orders and refunds, whose rules for a value
// these are.

import type { CurrencyDecimals } from '../currency.js';
import { formatAmount } from '../money.js';
import type { Column, RawLine, RowCheck } from './ledgerRow.js';
import {
  amountOf,
  checking,
  currencyOf,
  identifier,
  instant,
  oneOf,
  present,
} from './ledgerRow.js';

export const DISPUTE_COLUMNS: readonly Column[] = [
  { name: 'account_id', nullable: false },
  { name: 'dispute_id', nullable: false },
  { name: 'order_no', nullable: false },
  { name: 'transaction_id', nullable: true },
  { name: 'currency', nullable: false },
  { name: 'amount', nullable: false },
  { name: 'stage', nullable: false },
  { name: 'at', nullable: false },
];

/** A refund waits while a dispute is opened or lost. */
const STAGES = ['opened', 'won', 'lost', 'withdrawn'] as const;

export interface LedgerDispute {
  readonly accountId: string;
  readonly disputeId: string;
  readonly orderNo: string;
  readonly transactionId: string | null;
  readonly currency: string;
  readonly amount: string;
  readonly stage: (typeof STAGES)[number];
  readonly at: string;
}

export function checkDisputeLine(
  line: RawLine,
  currencies: CurrencyDecimals,
): RowCheck<LedgerDispute> {
  return checking(() => {
    const currency = currencyOf(line, currencies);
    return {
      accountId: identifier(line, 'account_id'),
      disputeId: identifier(line, 'dispute_id'),
      orderNo: identifier(line, 'order_no'),
      transactionId: present(line, 'transaction_id') ? identifier(line, 'transaction_id') : null,
      currency,
      amount: formatAmount(amountOf(line, 'amount', currency, currencies)),
      stage: oneOf(line, 'stage', STAGES),
      at: instant(line, 'at'),
    };
  });
}
