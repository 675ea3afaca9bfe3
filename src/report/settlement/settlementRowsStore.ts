// What the settlement report is made of, read from the database. Days, openings, fees and files are
// few and read at once; items, batches, chargebacks, disputes and breaks come in chunks, so that
// memory stays flat. Who has to see the same ones twice reads them of one snapshot (db.ts).

import { daysBetween } from '../../core/breaks/breakAge.js';
import type { Period } from '../../core/period.js';
import type {
  BatchRow,
  BookOpening,
  BreakCount,
  ChargebackRow,
  DisputeRow,
  FeeRow,
  FileRow,
  GatewayDay,
  OpenItemRow,
  SettlementBreakRow,
} from '../../core/settlement/settlementReport.js';
import { workingDaysBefore } from '../../core/settlement/workingDays.js';
import type { LongReads } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { SettlementRules } from '../../settlement/settlement.js';
import type { FeeRules, SettlementTimes } from '../../settlement/settlementStore.js';
import type { RawBreakRow } from '../reportRowsStore.js';
import { openBreakRow } from '../reportRowsStore.js';

/** Rows that are in hand at once. */
const CHUNK_ROWS = 500;

interface SettlementAsked {
  readonly accountIds: readonly string[];
  readonly period: Period;
  readonly times: SettlementTimes;
}

function valuesOf({ accountIds, period, times }: SettlementAsked): unknown[] {
  return [accountIds, times.from, times.cutOff, times.timezone, period.from, period.to];
}

/** All rows of a list that is short. */
async function allRows<R extends object>(
  reads: LongReads,
  text: string,
  values: readonly unknown[],
): Promise<R[]> {
  const rows: R[] = [];
  for await (const chunk of reads.stream<R>(text, values)) rows.push(...chunk);
  return rows;
}

export function gatewayDays(reads: LongReads, asked: SettlementAsked): Promise<GatewayDay[]> {
  return allRows(reads, statement('report/settlement/gatewayDays'), valuesOf(asked));
}

export function bookOpenings(reads: LongReads, asked: SettlementAsked): Promise<BookOpening[]> {
  const values = valuesOf(asked).slice(0, -1);
  return allRows(reads, statement('report/settlement/bookOpenings'), values);
}

export function feeRows(
  reads: LongReads,
  asked: SettlementAsked,
  { tariff, coarse }: FeeRules,
): Promise<FeeRow[]> {
  const rules = [JSON.stringify(tariff), JSON.stringify(coarse)];
  const values = [...valuesOf(asked), ...rules];
  return allRows(reads, statement('report/settlement/feeRows'), values);
}

export function fileRows(reads: LongReads, asked: SettlementAsked): Promise<FileRow[]> {
  return allRows(reads, statement('report/settlement/fileRows'), valuesOf(asked));
}

export function breakCounts(
  reads: LongReads,
  { accountIds, period }: SettlementAsked,
): Promise<BreakCount[]> {
  return allRows(
    reads,
    `select account_id as "accountId", kind, b.currency, count(*)::int as breaks
     from tieout.breaks b join tieout.runs r on r.run_id = b.first_run_id
     where account_id = any ($1) and b.state <> 'resolved' and tieout.is_settlement_kind(kind)
       and r.business_date <= $2
     group by account_id, kind, b.currency order by 1, 2, 3`,
    [accountIds, period.to],
  );
}

/** Their age, and what of them is overdue, is that at the end of the newest night of the period. */
export async function* openItemsOf(
  reads: LongReads,
  { accountIds, period, times: { from, cutOff, timezone } }: SettlementAsked,
  { settings: { settleDays, holidays } }: SettlementRules,
  businessDate: string,
): AsyncGenerator<OpenItemRow[]> {
  const dueUntil = workingDaysBefore(businessDate, settleDays, holidays);
  const chunks = reads.stream<Omit<OpenItemRow, 'ageDays'>>(
    statement('report/settlement/openAsOf'),
    [accountIds, from, cutOff, timezone, period.to, dueUntil],
    CHUNK_ROWS,
  );
  for await (const rows of chunks) {
    yield rows.map((row) => ({ ...row, ageDays: daysBetween(row.since, businessDate) }));
  }
}

export function batchRows(reads: LongReads, asked: SettlementAsked): AsyncIterable<BatchRow[]> {
  return reads.stream(statement('report/settlement/batchRows'), valuesOf(asked), CHUNK_ROWS);
}

export function chargebackRows(
  reads: LongReads,
  asked: SettlementAsked,
): AsyncIterable<ChargebackRow[]> {
  return reads.stream(statement('report/settlement/chargebackRows'), valuesOf(asked), CHUNK_ROWS);
}

/** What the ledger tells of disputes up to the end of the period; also what it tells wrongly. */
export function disputeRows(
  reads: LongReads,
  { accountIds, period, times: { cutOff, timezone } }: SettlementAsked,
): AsyncIterable<DisputeRow[]> {
  return reads.stream(
    `select account_id as "accountId", dispute_id as "disputeId", order_no as "orderNo",
       transaction_id as "transactionId", currency, round(amount, 2)::text as amount, stage, at,
       problem
     from tieout.ledger_disputes()
     where account_id = any ($1)
       and (at is null or tieout.business_date_of(at, $2::time, $3) <= $4)
     order by at nulls first, account_id, dispute_id`,
    [accountIds, cutOff, timezone, period.to],
    CHUNK_ROWS,
  );
}

/** Their age is that at `asOf`. */
export async function* settlementBreaks(
  reads: LongReads,
  { accountIds, period, times: { timezone } }: SettlementAsked,
  asOf: Date,
): AsyncGenerator<SettlementBreakRow[]> {
  type Raw = RawBreakRow & Pick<SettlementBreakRow, 'state' | 'stake'>;
  const chunks = reads.stream<Raw & { waived_reason: string | null }>(
    statement('report/settlement/breakRows'),
    [accountIds, period.to],
    CHUNK_ROWS,
  );
  for await (const rows of chunks) {
    yield rows.map((row) => {
      const { state, stake, waived_reason: waivedReason } = row;
      return { ...openBreakRow(row, { at: asOf, timezone }), state, stake, waivedReason };
    });
  }
}
