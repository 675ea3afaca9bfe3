// Business days as `tieout days` prints them: a line each, or one day in full; amounts in groups,
// with the decimals of their currency. Pure. Neighbour: days.ts asks for them.

import type { DayFigures, DayState } from '../../core/runs/businessDay.js';
import { booksBegin, ELSEWHERE, MEMOS, notInFigures } from '../../core/runs/businessDay.js';
import type { ChecklistLine } from '../../core/runs/closingChecklist.js';
import { amountIn, countText, moneyIn } from '../../core/text/amounts.js';
import type { dayEvents, lateMovements } from '../../days/daysStore.js';

export type Row = Record<string, unknown>;

interface DayOfAccount {
  accountId: string;
  state: DayState;
  days: DayFigures[];
  late: Awaited<ReturnType<typeof lateMovements>>;
  movedAcross: Row[];
  events: Awaited<ReturnType<typeof dayEvents>>;
  openNow: number;
  checklist: readonly ChecklistLine[];
  /** behind a closed day; null: nothing */
  changed: string | null;
}

/** The columns of money, in order, and their heads. */
const HEADS = {
  opening: 'opening',
  captured: 'captured',
  refunded: 'refunded',
  adjustments: 'adjustments',
  closing: 'closing',
  cancelled: 'cancelled',
  paidOut: 'payouts made',
};
const COLUMNS = Object.keys(HEADS) as (keyof typeof HEADS)[];
const WIDTH = 16;
/** Behind the others, where an account has a book of movements. */
const OF_BOOKS = { captured: 'capt. elsewhere', refunded: 'ref. elsewhere', suspense: 'suspense' };
const BOOK_WIDTH = 17;

export function tableLines(days: readonly DayFigures[], isSettled: boolean): string[] {
  return [headLine(days), ...days.map(figureLine), notKnownLine(isSettled), ...bookLines(days)];
}

function headLine(days: readonly DayFigures[]): string {
  const amounts = Object.values(HEADS)
    .map((name) => name.padStart(WIDTH))
    .join('');
  const books = Object.values(OF_BOOKS).map((name) => name.padStart(BOOK_WIDTH));
  const more = days.some(({ elsewhere }) => elsewhere) ? books.join('') : '';
  return `${'account'.padEnd(10)}${'date'.padEnd(12)}${'state'.padEnd(8)}cur${amounts}${more}`;
}

function figureLine(day: DayFigures): string {
  const shown = (amount: string) => amountIn(amount, day.currency);
  const amounts = COLUMNS.map((name) => shown(day[name]).padStart(WIDTH)).join('');
  const head = `${day.accountId.padEnd(10)}${day.businessDate.padEnd(12)}${day.state.padEnd(8)}`;
  const { elsewhere } = day;
  const books = elsewhere
    ? [shown(elsewhere.captured), shown(elsewhere.refunded), String(elsewhere.suspense)]
    : [];
  const more = books.map((one) => one.padStart(BOOK_WIDTH)).join('');
  return `${head}${day.currency}${amounts}${more}`;
}

function bookLines(days: readonly DayFigures[]): string[] {
  const since = booksBegin(days);
  return since === null ? [] : [`${ELSEWHERE} ${since}`];
}

function notKnownLine(isSettled: boolean): string {
  return `${MEMOS} ${notInFigures(isSettled)}`;
}

export function dayLines(date: string, account: DayOfAccount, isSettled: boolean): string[] {
  const { accountId, state, days, late, movedAcross: moved, events, openNow, checklist } = account;
  return [
    `Account ${accountId}, business date ${date}: ${state}`,
    ...figureLines(days, isSettled),
    ...late.map(
      (one) =>
        `  adjustment: ${one.operation} ${moneyIn(one.amount, one.currency)} ` +
        `of order ${one.orderNo} belongs to ${one.belongsTo}`,
    ),
    `  orders that moved across the cut-off before the look: ${countText(moved.length)}`,
    ...moved.map((one) => `    ${one.order_no}: ${one.state} since ${instant(one.moved_at)}`),
    ...events.map(
      (one) =>
        `  ${one.event} ${one.at.toISOString()} by ${one.by}${one.isClaim ? ' (claimed)' : ''}: ` +
        `${one.reason}; ${openThen(one.openItems)} items were open`,
    ),
    ...(account.changed === null ? [] : [`  changed since it was closed: ${account.changed}`]),
    `  open now: ${openNow} items`,
    '  before it is closed:',
    ...checklist.map(({ isWell, words }) => `    [${isWell ? 'x' : ' '}] ${words}`),
  ];
}

function figureLines(days: readonly DayFigures[], isSettled: boolean): string[] {
  const [day] = days;
  if (day === undefined) return ['  no money moved on it'];
  const look =
    day.asOf === null ? 'no snapshot of its own' : `checked at ${day.asOf.toISOString()}`;
  return [
    `  from ${day.cutOff ?? '?'} to ${day.cutOff ?? '?'} ${day.timezone ?? '?'}, ${look}`,
    `  ${headLine(days)}`,
    ...days.map((one) => `  ${figureLine(one)}`),
    ...days.map(
      (one) =>
        `  ${one.currency}: ${one.captures} captures, ${one.refunds} refunds, ` +
        `${one.cancels} cancels, ${one.payouts} payouts, ${one.late} late`,
    ),
    `  ${notKnownLine(isSettled)}`,
    ...bookLines(days).map((line) => `  ${line}`),
  ];
}

/** What of the ledger was late stands among them as one entry, and is no item. */
function openThen(kept: unknown): number {
  return (kept as { what: string }[]).filter(({ what }) => what !== 'ledger').length;
}

function instant(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
