// What the reports over a day or a month show of a row. Data only; neighbours: column.ts (what a
// column is), columns.ts (the tables of a run), periodReports.ts.

import type { DayFigures } from '../src/core/runs/businessDay.js';
import type { ActivityRow, BreakRow } from '../src/core/runs/reporting.js';
import type { Column, Table } from './column.js';
import { columnOf, count, date, id, instant, money, text } from './column.js';
import { BREAKS } from './columns.js';

/** Breaks as they stood at the end of a date, with the money at stake. */
export const AGED_BREAKS: Table<BreakRow> = {
  ...BREAKS,
  columns: [
    ...['account_id', 'order_no', 'kind', 'age_days', 'first_seen', 'currency'].map((key) =>
      columnOf<BreakRow>(BREAKS, key),
    ),
    money('stake', 'Money at stake', 16, (row) => row.stake),
    ...['difference', 'sentence', 'owner', 'note', 'transaction_id'].map((key) =>
      columnOf<BreakRow>(BREAKS, key),
    ),
  ],
};

type OfDay = Pick<DayFigures, 'businessDate' | 'accountId' | 'currency'>;

/** Which date, account and currency a line is about. */
function whose<R extends OfDay>(): Column<R>[] {
  return [
    date('business_date', 'Business date', 14, (row) => row.businessDate),
    id('account_id', 'Account', 12, (row) => row.accountId),
    text('currency', 'Currency', 10, (row) => row.currency),
  ];
}

/** Business days, as finance closes them. */
export const DAYS: Table<DayFigures> = {
  frozenColumns: 3,
  keep: () => [],
  columns: [
    ...whose(),
    text('state', 'State', 10, (row) => row.state),
    money('opening', 'Opening', 14, (row) => row.opening),
    money('captured', 'Captured', 14, (row) => row.captured),
    money('refunded', 'Refunded', 14, (row) => row.refunded),
    money('adjustments', 'Adjustments', 14, (row) => row.adjustments),
    money('closing', 'Closing', 14, (row) => row.closing),
    money('cancelled', 'Cancelled (memo)', 14, (row) => row.cancelled),
    money('paid_out', 'Payouts made (memo)', 14, (row) => row.paidOut),
    count('captures', 'Captures', 9, (row) => row.captures),
    count('refunds', 'Refunds', 9, (row) => row.refunds),
    count('cancels', 'Cancels', 9, (row) => row.cancels),
    count('late', 'Late ones', 9, (row) => row.late),
    instant('as_of', 'Checked at', 20, (row) => row.asOf),
  ],
};

/** The same where accounts have books of movements: what others than tieout made comes last. */
export const DAYS_OF_BOOKS: Table<DayFigures> = {
  ...DAYS,
  columns: [
    ...DAYS.columns,
    money('captured_elsewhere', 'Captured elsewhere', 14, (row) => row.elsewhere?.captured ?? null),
    money('refunded_elsewhere', 'Refunded elsewhere', 14, (row) => row.elsewhere?.refunded ?? null),
    count('suspense', 'In suspense', 10, (row) => row.elsewhere?.suspense ?? null),
    date('book_begins', 'Book begins', 14, (row) => row.elsewhere?.since ?? null),
  ],
};

export const ACTIVITY: Table<ActivityRow> = {
  frozenColumns: 3,
  keep: () => [],
  columns: [
    ...whose(),
    money('open_before', 'Open breaks before', 14, (row) => row.openBefore),
    money('change', 'Change', 14, (row) => row.change),
    money('open_after', 'Open breaks after', 14, (row) => row.openAfter),
    money('captured', 'Captured', 14, (row) => row.captured),
    money('cancelled', 'Cancelled', 14, (row) => row.cancelled),
    money('refunded', 'Refunded', 14, (row) => row.refunded),
    money('net', 'Net', 14, (row) => row.net),
    money('unknown', 'Unknown at the end', 14, (row) => row.unknown),
  ],
};
