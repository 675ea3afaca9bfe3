// What the reports over a day or a month show of a row. Data only; neighbours: columns.ts (what a
// column is, and the tables of a night), periodReports.ts.

import type { DayFigures } from '../src/core/businessDay.js';
import type { ActivityRow, AgedBreakRow } from '../src/core/reporting.js';
import type { Column, Table } from './columns.js';
import { BREAKS, BREAKS_SHEET, columnOf } from './columns.js';

/** Breaks as they stood at the end of a date, with the money at stake. */
export const AGED_BREAKS: Table<AgedBreakRow> = {
  ...BREAKS_SHEET,
  columns: [
    ...['account_id', 'order_no', 'kind', 'age_days', 'first_seen', 'currency'].map((key) =>
      columnOf<AgedBreakRow>(BREAKS, key),
    ),
    {
      key: 'stake',
      heading: 'Money at stake',
      width: 16,
      kind: 'money',
      read: (row) => row.stake,
      currency: (row) => row.currency,
    },
    ...['difference', 'sentence', 'owner', 'note', 'transaction_id'].map((key) =>
      columnOf<AgedBreakRow>(BREAKS, key),
    ),
  ],
};

type OfDay = Pick<DayFigures, 'businessDate' | 'accountId' | 'currency'>;

/** Which date, account and currency a line is about. */
function whose<R extends OfDay>(): Column<R>[] {
  return [
    {
      key: 'business_date',
      heading: 'Business date',
      width: 14,
      kind: 'date',
      read: (row) => row.businessDate,
    },
    { key: 'account_id', heading: 'Account', width: 12, kind: 'id', read: (row) => row.accountId },
    { key: 'currency', heading: 'Currency', width: 10, kind: 'text', read: (row) => row.currency },
  ];
}

function money<R extends OfDay>(key: string, heading: string, read: (row: R) => string): Column<R> {
  return { key, heading, width: 14, kind: 'money', read, currency: (row) => row.currency };
}

/** Business days, as finance closes them. */
export const DAYS: Table<DayFigures> = {
  frozenColumns: 3,
  keep: () => [],
  columns: [
    ...whose(),
    { key: 'state', heading: 'State', width: 10, kind: 'text', read: (row) => row.state },
    money('opening', 'Opening', (row) => row.opening),
    money('captured', 'Captured', (row) => row.captured),
    money('refunded', 'Refunded', (row) => row.refunded),
    money('adjustments', 'Adjustments', (row) => row.adjustments),
    money('closing', 'Closing', (row) => row.closing),
    money('cancelled', 'Cancelled (memo)', (row) => row.cancelled),
    money('paid_out', 'Paid out (memo)', (row) => row.paidOut),
    dayCount('captures', 'Captures', (row) => row.captures),
    dayCount('refunds', 'Refunds', (row) => row.refunds),
    dayCount('cancels', 'Cancels', (row) => row.cancels),
    dayCount('late', 'Late ones', (row) => row.late),
    { key: 'as_of', heading: 'Looked at', width: 20, kind: 'instant', read: (row) => row.asOf },
  ],
};

function dayCount(
  key: string,
  heading: string,
  read: (row: DayFigures) => number,
): Column<DayFigures> {
  return { key, heading, width: 9, kind: 'count', read };
}

export const ACTIVITY: Table<ActivityRow> = {
  frozenColumns: 3,
  keep: () => [],
  columns: [
    ...whose(),
    money('open_before', 'Open breaks before', (row) => row.openBefore),
    money('change', 'Change', (row) => row.change),
    money('open_after', 'Open breaks after', (row) => row.openAfter),
    money('captured', 'Captured', (row) => row.captured),
    money('cancelled', 'Cancelled', (row) => row.cancelled),
    money('refunded', 'Refunded', (row) => row.refunded),
    money('net', 'Net', (row) => row.net),
    money('unknown', 'Unknown at the end', (row) => row.unknown),
  ],
};
