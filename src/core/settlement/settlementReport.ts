// The rows that the settlement report is made of: what the store reads and what reports/settlement/
// writes. No rule but which dates a report is of. Amounts are text of two decimals, dates are
// business dates as text; the type of a line is that of docs/CONTRACT.md section 9.

import { isDay, type Period } from '../period.js';
import type { AboutData, BreakRow, Chunks } from '../runs/reporting.js';

/** Of a month its dates; of a date all from settlement.from up to and including it. */
export function settlementPeriod(period: Period, from: string): Period {
  return isDay(period.name) ? { ...period, from } : period;
}

interface OfBook {
  readonly accountId: string;
  readonly currency: string;
}

/** What moved at the gateway on a business date; in the order's currency. */
export interface GatewayDay extends OfBook {
  /** null: all that was before the period, as one row */
  readonly on: string | null;
  readonly capturedHere: string;
  readonly capturedElsewhere: string;
  readonly refundedHere: string;
  readonly refundedElsewhere: string;
  readonly settled: string;
  /** refunds more, or fewer, of which nobody knows the amount */
  readonly suspense: number;
}

/** What was payable, and paid out and not arrived, at the beginning of the period. */
export interface BookOpening extends OfBook {
  readonly payable: string;
  readonly bank: string;
}

export type OpenBook = 'atGateway' | 'payable' | 'bank';

/** An item that a closing is the sum of. */
export interface OpenItemRow extends OfBook {
  readonly book: OpenBook;
  readonly amount: string;
  readonly what: string;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  readonly batch: string | null;
  readonly since: string;
  /** at the end of the period */
  readonly ageDays: number;
  readonly isOverdue: boolean;
  readonly inSuspense: boolean;
}

/** A batch in one currency, with what its lines of the period come to. */
export interface BatchRow extends OfBook {
  readonly batch: string;
  readonly firstOn: string;
  readonly lastOn: string;
  readonly lines: number;
  readonly gross: string;
  readonly fees: string;
  readonly chargebacks: string;
  readonly other: string;
  readonly paidOut: string;
  readonly arrived: string;
  readonly state: string;
  readonly fileName: string;
}

export interface FeeRow extends OfBook {
  /** 2026-11 */
  readonly month: string;
  readonly type: string;
  readonly lines: number;
  readonly gross: string;
  readonly fees: string;
  /** in percent; null without a gross */
  readonly rate: string | null;
  /** null: nothing was agreed for it */
  readonly agreed: string | null;
  readonly variance: string | null;
  /** fees of lines that nothing was agreed for: fees = agreed + variance + these */
  readonly withoutTariff: string;
  /** lines past the tolerance */
  readonly beyond: number;
}

export interface ChargebackRow extends OfBook {
  readonly batch: string;
  readonly lineId: string;
  readonly type: string;
  readonly bookedOn: string;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  /** what it takes from us: above 0, below where it was reversed */
  readonly amount: string;
  readonly fee: string;
}

export interface DisputeRow {
  readonly accountId: string;
  readonly currency: string | null;
  readonly disputeId: string | null;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  readonly stage: string | null;
  readonly amount: string | null;
  readonly at: Date | null;
  /** why it cannot be used; null: it can */
  readonly problem: string | null;
}

/** A break of settlement that is open or waived. */
export interface SettlementBreakRow extends BreakRow {
  readonly stake: string | null;
  readonly waivedReason: string | null;
}

/** How many of them there are, counted by themselves. */
export interface BreakCount {
  readonly accountId: string;
  readonly kind: string;
  readonly currency: string | null;
  readonly breaks: number;
}

/** A file in one currency: its control totals when it was taken, and what is kept of it now. */
export interface FileRow {
  readonly name: string;
  readonly sha256: string;
  readonly mapSha256: string;
  readonly accounts: string;
  readonly importedAt: Date;
  readonly currency: string;
  readonly lines: number;
  readonly linesKept: number;
  readonly gross: string;
  readonly grossKept: string;
  readonly fees: string;
  readonly feesKept: string;
  readonly payout: string;
  readonly payoutKept: string;
}

/** Lists that may be long are read more than once, the same each time. */
export interface SettlementReportData {
  readonly period: Period;
  readonly about: AboutData;
  /** settlement.from */
  readonly from: string;
  /** accounts that are not in the configuration any more, also those without a row here */
  readonly left: readonly string[];
  readonly days: readonly GatewayDay[];
  readonly openings: readonly BookOpening[];
  readonly fees: readonly FeeRow[];
  readonly breakCounts: readonly BreakCount[];
  readonly files: readonly FileRow[];
  readonly open: () => Chunks<OpenItemRow>;
  readonly batches: () => Chunks<BatchRow>;
  readonly chargebacks: () => Chunks<ChargebackRow>;
  readonly disputes: () => Chunks<DisputeRow>;
  readonly breaks: () => Chunks<SettlementBreakRow>;
}
