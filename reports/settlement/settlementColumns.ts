// What the settlement report shows of a row. Data only; neighbours: ../column.ts (what a column
// is), core/settlement/settlementReport.ts (the rows), settlementBook.ts.

import { AGES, isOfAge } from '../../src/core/breaks/breakAge.js';
import { openWords } from '../../src/core/settlement/openWords.js';
import type {
  BatchRow,
  ChargebackRow,
  DisputeRow,
  FeeRow,
  FileRow,
  GatewayDay,
  OpenItemRow,
  SettlementBreakRow,
} from '../../src/core/settlement/settlementReport.js';
import { labelOf } from '../../src/core/text/labels.js';
import type { Column, Table } from '../column.js';
import { columnOf, count, date, id, instant, money, text } from '../column.js';
import { BREAKS } from '../columns.js';

/** As the sheets say them, and as formulas compare them. */
export const BOOK_WORDS = {
  atGateway: 'At the gateway',
  payable: 'Payable',
  bank: 'To arrive',
} as const;

type OfBook = { accountId: string; currency: string };

function whose<R extends OfBook>(): Column<R>[] {
  return [
    id('account_id', 'Account', 12, (row) => row.accountId),
    text('currency', 'Currency', 10, (row) => row.currency),
  ];
}

function names(...ids: readonly (string | null)[]): readonly string[] {
  return ids.filter((one) => one !== null);
}

export function ageWords({ ageDays }: { ageDays: number }): string {
  return AGES.find((age) => isOfAge(ageDays, age))?.words ?? '';
}

export const OPEN_ITEMS: Table<OpenItemRow> = {
  frozenColumns: 2,
  keep: (row) => names(row.orderNo, row.transactionId, row.batch),
  columns: [
    ...whose<OpenItemRow>(),
    text('book', 'Book', 16, (row) => row.book, { rowWords: ({ book }) => BOOK_WORDS[book] }),
    text('what', 'What', 24, (row) => row.what, { rowWords: openWords }),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    id('batch', 'Batch', 20, (row) => row.batch),
    date('since', 'Since', 14, (row) => row.since),
    count('age_days', 'Age (days)', 10, (row) => row.ageDays),
    text('age', 'Age', 16, ageWords),
    money('amount', 'Amount', 16, (row) => row.amount),
    text('overdue', 'Overdue', 10, (row) => (row.isOverdue ? 'overdue' : null)),
    text('suspense', 'In suspense', 20, (row) =>
      row.inSuspense ? 'amount not in the books' : null,
    ),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
  ],
};

/** A row that a figure of settlement is the sum of, as the console lists it. */
interface FigureLine {
  accountId: string;
  currency: string;
  on: string;
  what: string;
  orderNo: string | null;
  transactionId: string | null;
  batch: string | null;
  /** null: nobody knows it yet */
  amount: string | null;
}

export const FIGURE_LINES: Table<FigureLine> = {
  frozenColumns: 2,
  keep: (row) => names(row.orderNo, row.transactionId, row.batch),
  columns: [
    ...whose<FigureLine>(),
    date('business_date', 'Business date', 14, (row) => row.on),
    text('what', 'What', 24, (row) => row.what),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    id('batch', 'Batch', 20, (row) => row.batch),
    money('amount', 'Amount', 16, (row) => row.amount),
  ],
};

export const GATEWAY_DAYS: Table<GatewayDay> = {
  frozenColumns: 3,
  keep: () => [],
  columns: [
    date('business_date', 'Business date', 14, (row) => row.on),
    ...whose<GatewayDay>(),
    money('captured_here', 'Captured here', 14, (row) => row.capturedHere),
    money('captured_elsewhere', 'Captured elsewhere', 14, (row) => row.capturedElsewhere),
    money('refunded_here', 'Refunded here', 14, (row) => row.refundedHere),
    money('refunded_elsewhere', 'Refunded elsewhere', 14, (row) => row.refundedElsewhere),
    money('settled', 'Settled', 14, (row) => row.settled),
    count('suspense', 'Change in suspense', 10, (row) => row.suspense),
  ],
};

export const BATCHES: Table<BatchRow> = {
  frozenColumns: 3,
  keep: (row) => names(row.batch),
  columns: [
    ...whose<BatchRow>(),
    id('batch', 'Batch', 20, (row) => row.batch),
    date('first_on', 'First line', 14, (row) => row.firstOn),
    date('last_on', 'Last line', 14, (row) => row.lastOn),
    count('lines', 'Lines of the period', 10, (row) => row.lines),
    money('gross', 'Gross', 14, (row) => row.gross),
    money('fees', 'Fees', 14, (row) => row.fees),
    money('chargebacks', 'Chargebacks', 14, (row) => row.chargebacks),
    money('other', 'Other', 14, (row) => row.other),
    money('paid_out', 'Paid out', 14, (row) => row.paidOut),
    money('arrived', 'Arrived', 14, (row) => row.arrived),
    text('state', 'State', 12, (row) => row.state),
    text('file', 'File', 40, (row) => row.fileName),
  ],
};

export const FEES: Table<FeeRow> = {
  frozenColumns: 4,
  keep: () => [],
  columns: [
    text('month', 'Month', 10, (row) => row.month),
    ...whose<FeeRow>(),
    text('type', 'Type', 18, (row) => row.type, { words: labelOf }),
    count('lines', 'Lines', 10, (row) => row.lines),
    money('gross', 'Gross', 16, (row) => row.gross),
    money('fees', 'Fees', 14, (row) => row.fees),
    {
      ...{ key: 'rate', heading: 'Effective rate (%)', width: 12, kind: 'money' },
      ...{ read: (row: FeeRow) => row.rate, currency: () => null },
    },
    money('agreed', 'Agreed', 14, (row) => row.agreed),
    money('variance', 'Variance', 14, (row) => row.variance),
    money('without_tariff', 'No tariff', 14, (row) => row.withoutTariff),
    count('beyond', 'Lines past the tolerance', 12, (row) => row.beyond),
  ],
};

export const CHARGEBACKS: Table<ChargebackRow> = {
  frozenColumns: 2,
  keep: (row) => names(row.orderNo, row.transactionId, row.batch, row.lineId),
  columns: [
    ...whose<ChargebackRow>(),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    text('type', 'Type', 22, (row) => row.type, { words: labelOf }),
    date('booked_on', 'Booked', 14, (row) => row.bookedOn),
    money('amount', 'Taken from us', 16, (row) => row.amount),
    money('fee', 'Fee', 14, (row) => row.fee),
    id('batch', 'Batch', 20, (row) => row.batch),
    id('line_id', 'Line', 20, (row) => row.lineId),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
  ],
};

export const DISPUTES: Table<DisputeRow> = {
  frozenColumns: 2,
  keep: (row) => names(row.orderNo, row.transactionId, row.disputeId),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('dispute_id', 'Dispute', 24, (row) => row.disputeId),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    text('stage', 'Stage', 12, (row) => row.stage),
    text('currency', 'Currency', 10, (row) => row.currency),
    money('amount', 'Amount', 16, (row) => row.amount),
    instant('at', 'Since', 20, (row) => row.at),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    text('problem', 'Why it cannot be used', 40, (row) => row.problem),
  ],
};

export const SETTLEMENT_BREAKS: Table<SettlementBreakRow> = {
  frozenColumns: 2,
  keep: BREAKS.keep,
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order or batch', 24, (row) => row.orderNo),
    ...['kind', 'state'].map((key) => columnOf<SettlementBreakRow>(BREAKS, key)),
    text('currency', 'Currency', 10, (row) => row.currency),
    money('stake', 'Money at stake', 16, (row) => row.stake),
    ...['sentence', 'first_seen', 'age_days', 'owner', 'note'].map((key) =>
      columnOf<SettlementBreakRow>(BREAKS, key),
    ),
    text('waived', 'Waived because', 30, (row) => row.waivedReason),
  ],
};

export const FILES: Table<FileRow> = {
  frozenColumns: 1,
  keep: (row) => names(row.sha256, row.mapSha256),
  columns: [
    text('file', 'File', 40, (row) => row.name),
    id('accounts', 'Accounts', 16, (row) => row.accounts),
    instant('imported_at', 'Imported', 20, (row) => row.importedAt),
    text('currency', 'Currency', 10, (row) => row.currency),
    count('lines', 'Lines taken', 10, (row) => row.lines),
    count('lines_kept', 'Lines kept', 10, (row) => row.linesKept),
    money('gross', 'Gross taken', 14, (row) => row.gross),
    money('gross_kept', 'Gross kept', 14, (row) => row.grossKept),
    money('fees', 'Fees taken', 14, (row) => row.fees),
    money('fees_kept', 'Fees kept', 14, (row) => row.feesKept),
    money('payout', 'Payout taken', 14, (row) => row.payout),
    money('payout_kept', 'Payout kept', 14, (row) => row.payoutKept),
    id('sha256', 'Digest of the file (SHA-256)', 40, (row) => row.sha256),
    id('map_sha256', 'Digest of the map', 40, (row) => row.mapSha256),
  ],
};
