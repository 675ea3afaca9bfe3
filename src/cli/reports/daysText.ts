// Business days as `tieout days` prints them: a line each, or one day in full; amounts in groups,
// with the decimals of their currency. Pure. Neighbour: days.ts asks for them.

import type { DayFigures, DayState } from '../../core/runs/businessDay.js';
import {
  booksBegin,
  CHECKLIST_HEADS,
  ELSEWHERE,
  MEMOS,
  NO_NIGHT,
  notInFigures,
} from '../../core/runs/businessDay.js';
import type { ChecklistLine } from '../../core/runs/closingChecklist.js';
import { aboutText } from '../../core/runs/closingChecklist.js';
import { amountIn, counted, countText, moneyIn } from '../../core/text/amounts.js';
import type { dayEvents, lateMovements } from '../../days/daysStore.js';
import type { Line, Part } from '../terminal.js';
import { columns } from '../terminal.js';

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
  changedAbout: ChecklistLine['about'] | null;
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
/** Behind the others, where an account has a book of movements. */
const OF_BOOKS = ['capt. elsewhere', 'ref. elsewhere', 'suspense'];
const FIRST_FIGURE = 4;

export function tableLines(days: readonly DayFigures[], isSettled: boolean): Line[] {
  return [...figureLines(days), notKnownLine(isSettled), ...bookLines(days)];
}

function figureLines(days: readonly DayFigures[]): Line[] {
  const books = days.some(({ elsewhere }) => elsewhere) ? OF_BOOKS : [];
  const head = ['account', 'date', 'state', 'cur', ...Object.values(HEADS), ...books];
  const figures = head.map((_name, at) => at).filter((at) => at >= FIRST_FIGURE);
  return columns([head, ...days.map(figureCells)], figures);
}

function figureCells(day: DayFigures): Part[] {
  const { accountId, businessDate, state, currency, elsewhere } = day;
  const shown = (amount: string) => amountIn(amount, currency);
  const books = elsewhere
    ? [shown(elsewhere.captured), shown(elsewhere.refunded), countText(elsewhere.suspense)]
    : [];
  const amounts = COLUMNS.map((name) => shown(day[name]));
  return [accountId, businessDate, state, currency, ...amounts, ...books];
}

function bookLines(days: readonly DayFigures[]): string[] {
  const since = booksBegin(days);
  return since === null ? [] : [`${ELSEWHERE} ${since}`];
}

function notKnownLine(isSettled: boolean): string {
  return `${MEMOS} ${notInFigures(isSettled)}`;
}

export function dayLines(date: string, account: DayOfAccount, isSettled: boolean): Line[] {
  const { accountId, state, days, late, movedAcross: moved, events, openNow, checklist } = account;
  return [
    `Account ${accountId}, business date ${date}: ${state}`,
    ...dayFigures(days, isSettled),
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
        `${one.reason}; ${countText(one.openItems.length)} items were open`,
    ),
    ...changedLines(account),
    `  open now: ${counted(openNow, 'item')}`,
    `  ${CHECKLIST_HEADS[state]}:`,
    ...checklist.flatMap((line) => checklistLines(line, '    ')),
  ];
}

function changedLines({ changed, changedAbout }: DayOfAccount): string[] {
  if (changed === null) return [];
  return [`  changed since it was closed: ${changed}`, ...aboutLines(changedAbout, '    ')];
}

/** A line of the checklist, and under it the orders that it is about. */
export function checklistLines({ isWell, words, about }: ChecklistLine, indent: string): string[] {
  return [`${indent}[${isWell ? 'x' : ' '}] ${words}`, ...aboutLines(about, `${indent}    `)];
}

function aboutLines(about: ChecklistLine['about'] | null, indent: string): string[] {
  return about ? [`${indent}${aboutText(about)}`] : [];
}

function dayFigures(days: readonly DayFigures[], isSettled: boolean): Line[] {
  const [day] = days;
  if (day === undefined) return ['  no money moved on it'];
  return [
    `  ${nightOf(day)}`,
    ...figureLines(days).map((line) => ['  ', line].flat()),
    ...days.map(
      (one) =>
        `  ${one.currency}: ${counted(one.captures, 'capture')}, ` +
        `${counted(one.refunds, 'refund')}, ${counted(one.cancels, 'cancel')}, ` +
        `${counted(one.payouts, 'payout')}, ${countText(one.late)} late`,
    ),
    `  ${notKnownLine(isSettled)}`,
    ...bookLines(days).map((line) => `  ${line}`),
  ];
}

function nightOf({ cutOff, timezone, asOf }: DayFigures): string {
  if (cutOff === null) return NO_NIGHT;
  const look = asOf === null ? 'no snapshot of its own' : `checked at ${asOf.toISOString()}`;
  return `from ${cutOff} to ${cutOff} ${timezone}, ${look}`;
}

function instant(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
