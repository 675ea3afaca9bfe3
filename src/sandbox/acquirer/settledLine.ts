// One line of the sandbox's settlement file, and what the acquirer keeps of it. Neighbours:
// settlementFile.ts, differences.ts.

import { currencyProblem, decimalsOf } from '../../core/currency.js';
import type { Hundredths } from '../../core/money.js';

export interface SettledLine {
  readonly accountId: string;
  readonly type: string;
  readonly id: string;
  readonly at: Date;
  readonly orderNo: string;
  readonly transactionId: string;
  readonly reference: string;
  readonly currency: string;
  readonly amount: Hundredths;
  readonly fee: Hundredths;
}

/** 1.40 % of what was captured, and 0.25 where the currency has decimals. */
const FEE_PER_MILLE = 14n;
const FEE_FIXED: Hundredths = 25n;

/** Half up; in whole units where the currency has nothing smaller. */
export function feeOf(amount: Hundredths, currency: string): Hundredths {
  const isWhole = decimalsOf(currency, {}) === 0;
  const step = isWhole ? 100n : 1n;
  const part = ((amount * FEE_PER_MILLE + 500n * step) / (1_000n * step)) * step;
  return isWhole ? part : part + FEE_FIXED;
}

/** A planted currency that no bank has is settled by nobody. */
export function isSettled(currency: string): boolean {
  return currencyProblem(currency, {}) === null;
}
