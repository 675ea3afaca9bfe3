// What each report shows of a row: columns with the key that programs read and the heading that
// people read. The workbooks and the CSV and NDJSON files are made of the same columns, so that
// they cannot disagree; a sheet shows codes in words and leaves out what is the same in each row.
// Data only; neighbours: column.ts (what a column is), core/runs/reporting.ts (the rows), table.ts.

import { BREAK_WORDS, INSTRUCTION_WORDS } from '../src/core/decisions/wantedDecision.js';
import { reasonToWait, waitingState } from '../src/core/instructions/holdReasons.js';
import { nextStep } from '../src/core/instructions/nextStep.js';
import type {
  BreakRow,
  CoverageLine,
  InstructionRow,
  OrderRow,
  ReservationRow,
} from '../src/core/runs/reporting.js';
import { withoutCommands } from '../src/core/text/commandWords.js';
import { classLabel, labelOf, labelStates, stateLabel } from '../src/core/text/labels.js';
import type { Column, Table } from './column.js';
import { columnOf, count, date, id, instant, money, text } from './column.js';
import { decidable } from './decisions/decisionColumns.js';

export const BREAKS: Table<BreakRow> = {
  frozenColumns: 2,
  // On one page wide its text would be read with a glass only.
  pagesWide: 2,
  keep: (row) => identifiers(row.orderNo, ...row.transactions),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order', 20, (row) => row.orderNo),
    id('break_id', 'Break', 8, (row) => row.breakId),
    text('kind', 'Kind', 24, (row) => row.kind, { words: labelOf }),
    text('state', 'State', 10, (row) => row.state),
    text('sentence', 'What is different', 46, (row) => row.sentence, {
      words: (said) => withoutCommands(labelStates(said)),
    }),
    text('expected', 'Ledger', 20, (row) => row.expected, { words: labelStates }),
    text('actual', 'Gateway', 20, (row) => row.actual, { words: labelStates }),
    text('currency', 'Currency', 10, (row) => row.currency),
    money('difference', 'Gateway − ledger', 16, (row) => row.difference),
    money('stake', 'At stake', 16, (row) => row.stake),
    money('opened_with', 'Opened with', 16, (row) => row.opened),
    instant('first_seen', 'First seen', 20, (row) => row.firstSeen),
    count('age_days', 'Age (days)', 10, (row) => row.ageDays),
    date('due', 'Due', 12, (row) => row.due),
    text('overdue', 'Overdue', 10, (row) => (row.isOverdue ? 'overdue' : null)),
    text('owner', 'Owner', 16, (row) => row.owner),
    text('note', 'Note', 30, (row) => row.note),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    text('waiver', 'Waiver', 12, (row) => (row.waiverAskedBy === null ? null : 'waiver_asked'), {
      words: stateLabel,
    }),
    text('waiver_request', 'Who asked for it, and why', 20, (row) =>
      row.waiverAskedBy === null ? null : `${row.waiverAskedBy}: ${row.waiverAskedReason ?? ''}`,
    ),
  ],
};

export const INSTRUCTIONS: Table<InstructionRow> = {
  frozenColumns: 2,
  pagesWide: 2,
  keep: (row) =>
    identifiers(
      ...[row.orderNo, row.transactionId, row.refundId],
      ...[row.gatewayReference, row.refundReference],
    ),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order', 20, (row) => row.orderNo),
    id('refund_id', 'Refund', 20, (row) => row.refundId),
    text('operation', 'Operation', 11, (row) => row.operation),
    text('state', 'State', 12, (row) => row.state),
    text('currency', 'Currency', 10, (row) => row.currency),
    money('amount', 'Amount', 16, (row) => row.amount),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    id('gateway_reference', 'Gateway reference', 24, (row) => row.gatewayReference),
    id('refund_reference', 'Refund reference', 24, (row) => row.refundReference),
    text('gateway_message', 'Gateway message', 36, (row) => row.gatewayMessage),
    money(
      ...(['payout_fee', 'Payout fee', 14] as const),
      (row) => row.payoutFee,
      (row) => row.feeCurrency,
    ),
    text('fee_currency', 'Fee currency', 12, (row) => row.feeCurrency),
    instant('at', 'At', 20, (row) => row.at),
    text('hold_reason', 'Why it waits', 50, (row) => row.holdReason, {
      rowWords: (row) =>
        [reasonToWait(row.state, row.holdReason ?? ''), row.disputes]
          .filter((part) => part !== null)
          .join('; '),
    }),
  ],
};

export const ORDERS: Table<OrderRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId, dateDigits(row.transactionDate)),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    text('class', 'Class', 15, (row) => row.class, { words: classLabel }),
    text('kinds', 'Breaks', 24, (row) => row.kinds, { words: labelOf }),
    text('expected', 'Ledger', 12, (row) => row.expected),
    text('gateway_state', 'Gateway', 19, (row) => row.gatewayState, { words: labelOf }),
    text('payment_status', 'Gateway code', 11, (row) => row.paymentStatus),
    text('currency', 'Currency', 11, (row) => row.currency),
    money('ledger_amount', 'Ledger amount', 18, (row) => row.ledgerAmount),
    text('gateway_currency', 'Gateway currency', 11, (row) => row.gatewayCurrency),
    atGateway('gateway_amount', 'Gateway amount', (row) => row.gatewayAmount),
    money('ledger_captured', 'Ledger captured', 18, (row) => row.ledgerCaptured),
    atGateway('gateway_captured', 'Gateway captured', (row) => row.gatewayCaptured),
    money('ledger_refunded', 'Ledger refunded', 18, (row) => row.ledgerRefunded),
    atGateway('gateway_refunded', 'Gateway refunded', (row) => row.gatewayRefunded),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    text('transaction_date', 'Gateway date (as printed)', 18, (row) => row.transactionDate),
    instant('placed_at', 'Placed', 22, (row) => row.placedAt),
  ],
};

/** In the currency that the gateway shows. */
function atGateway(key: string, heading: string, read: (row: OrderRow) => string | null) {
  return money<OrderRow>(key, heading, 18, read, (row) => row.gatewayCurrency);
}

/** The sheet of open breaks: the state of each is the same. */
export const BREAKS_SHEET = decidable(without(BREAKS, 'state'), BREAK_WORDS);

/** Breaks of any state as the console lists them. */
export const LISTED_BREAKS = without(BREAKS, 'opened_with');

/** The same, each number leading to its page in the console. */
export function breaksSheet(address: string | null): Table<BreakRow> {
  const columns = BREAKS_SHEET.columns.map((one) =>
    one.key === 'break_id' && one.kind === 'id' ? linked(one, address) : one,
  );
  return { ...BREAKS_SHEET, columns };
}

/** A column of numbers of breaks that lead to their pages. */
export function linked<R extends { breakId: string | null }>(
  column: Column<R>,
  address: string | null,
): Column<R> {
  if (address === null || column.kind !== 'id') return column;
  return { ...column, link: (row) => `${address}/breaks/${row.breakId}` };
}
/** In its sums what a person can approve stands apart from what a setting holds. */
const WAITING_STATE = text<InstructionRow>('state', 'State', 22, (row) => row.state, {
  rowWords: ({ state, holdReason }) => waitingState(state, holdReason),
});

/** What nobody should approve without having seen: its amount has the unit of its request. */
const PAYOUT_ASKED: readonly Column<InstructionRow>[] = [
  text('payout_asked', 'Payout asked for', 28, (row) => row.payout?.asked ?? null),
  text('payee', 'Payee', 40, (row) => row.payout?.payee ?? null),
  text('payout_reference', 'Payout reference', 20, (row) => row.payout?.reference ?? null),
];

const MOVED = without(INSTRUCTIONS, 'state', 'hold_reason');

/**
 * The sheet of confirmed instructions: none of them waits. Of a payout in a unit that nobody has
 * set what was asked for stands here alone.
 */
export const MOVED_SHEET = headed(
  { ...MOVED, columns: [...MOVED.columns, ...PAYOUT_ASKED] },
  'at',
  'Confirmed',
);

/** The sheet of what waits: reason and next step stand before the details of the gateway. */
export const WAITING_SHEET: Table<InstructionRow> = decidable(
  headed(
    {
      ...INSTRUCTIONS,
      columns: [
        ...['account_id', 'order_no', 'refund_id', 'operation'].map((key) =>
          columnOf(INSTRUCTIONS, key),
        ),
        WAITING_STATE,
        columnOf(INSTRUCTIONS, 'hold_reason'),
        text('next_step', 'What to do', 60, () => null, { rowWords: nextStep }),
        ...['currency', 'amount'].map((key) => columnOf(INSTRUCTIONS, key)),
        ...PAYOUT_ASKED,
        ...['transaction_id', 'gateway_message', 'at'].map((key) => columnOf(INSTRUCTIONS, key)),
      ],
    },
    'at',
    'Since',
  ),
  INSTRUCTION_WORDS,
);

/** Both amounts beside each other; programs find them in the texts of both sides. */
const SIDES: Table<BreakRow> = {
  ...BREAKS,
  columns: [
    ...BREAKS.columns,
    money('ledger_amount', 'Ledger amount', 16, (row) => row.ledgerAmount),
    text('gateway_currency', 'Gateway currency', 11, (row) => row.gatewayCurrency),
    money(
      ...(['gateway_amount', 'Gateway amount', 16] as const),
      (row) => row.gatewayAmount,
      (row) => row.gatewayCurrency,
    ),
  ],
};

/** The three lists that finance asks for first; each is a part of the sheet of breaks. */
export const NOT_HERE_LIST = listed(SIDES, 'currency', 'gateway_amount', 'actual');
export const NOT_THERE_LIST = listed(SIDES, 'currency', 'ledger_amount', 'expected');
export const STATE_LIST = listed(
  SIDES,
  ...['kind', 'expected', 'actual', 'gateway_currency', 'gateway_amount'],
);

/** What lapses first stands first; order and account are known on the other sheets, too. */
export const RESERVATIONS: Table<ReservationRow> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo, row.transactionId),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order', 20, (row) => row.orderNo),
    count('hours_left', 'Hours left', 10, (row) => row.hoursLeft),
    text('standing', 'Standing', 12, (row) => row.standing, { words: labelOf }),
    instant('lapses_at', 'Lapses', 20, (row) => row.lapsesAt),
    text('currency', 'Currency', 10, (row) => row.currency),
    money('amount', 'Reserved', 16, (row) => row.amount),
    text('wanted', 'The ledger wants', 18, (row) => row.wanted),
    text('obstacle', 'What stands in the way', 46, (row) => row.obstacle),
    text('owner', 'Owner', 16, (row) => row.owner),
    instant('since', 'Reserved since', 20, (row) => row.since),
    id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
  ],
};

export const COVERAGE: Table<CoverageLine> = {
  frozenColumns: 2,
  keep: (row) => identifiers(row.orderNo),
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    count('page', 'Page', 10, (row) => row.page),
    text('how', 'What was said of it', 50, (row) => row.how),
    text('reason', 'Reason', 60, (row) => row.reason),
  ],
};

function without<R>(table: Table<R>, ...keys: readonly string[]): Table<R> {
  return { ...table, columns: table.columns.filter((column) => !keys.includes(column.key)) };
}

/** Whose order it is, what is special to the list, since when and whose. */
function listed(table: Table<BreakRow>, ...keys: readonly string[]): Table<BreakRow> {
  const whole = ['account_id', 'order_no', ...keys, 'sentence', 'first_seen', 'age_days', 'owner'];
  const columns = [...whole, 'note', 'break_id', 'transaction_id'].map((key) =>
    columnOf(table, key),
  );
  return { ...table, columns };
}

function headed<R>(table: Table<R>, key: string, heading: string): Table<R> {
  const columns = table.columns.map((one) => (one.key === key ? { ...one, heading } : one));
  return { ...table, columns };
}

/** YYYYMMDDhhmmss: fourteen digits, and one in ten of such passes for a card number. */
const DATE_DIGITS = /^20\d\d[01]\d[0-3]\d[0-2]\d[0-5]\d[0-5]\d$/;

/** The date as it is printed, when it is one: masking then leaves it alone. */
function dateDigits(text: string | null): string | null {
  return text !== null && DATE_DIGITS.test(text) ? text : null;
}

function identifiers(...ids: readonly (string | null)[]): readonly string[] {
  return ids.filter((id) => id !== null);
}
