// Business days as `tieout days` prints them: a line each, or one day in full; amounts in groups,
// with the decimals of their currency. Pure. Neighbour: days.ts asks for them.

import type { DayFigures, DayState, DayWorkbook, KeptBeside } from '../../core/runs/businessDay.js';
import {
  besideFigures,
  booksBegin,
  CHECKLIST_HEADS,
  ELSEWHERE,
  leftDaysWords,
  NO_NIGHT,
  workbookWords,
} from '../../core/runs/businessDay.js';
import type { ChecklistLine } from '../../core/runs/closingChecklist.js';
import { aboutText } from '../../core/runs/closingChecklist.js';
import type { SignedOn } from '../../core/runs/sinceClosed.js';
import { changeText, signedOnWords, whyCloseAgain } from '../../core/runs/sinceClosed.js';
import { amountIn, counted, countText, moneyIn, moreOf } from '../../core/text/amounts.js';
import type { dayEvents, lateMovements } from '../../days/daysStore.js';
import type { Line, Part } from '../terminal.js';
import { columns } from '../terminal.js';

export type Row = Record<string, unknown>;

interface DayOfAccount {
  accountId: string;
  /** false: it left the configuration, and none of its days is signed */
  isConfigured: boolean;
  state: DayState;
  days: DayFigures[];
  /** the first of them, and how many there are */
  late: Awaited<ReturnType<typeof lateMovements>>['rows'];
  lateCount: number;
  movedAcross: Row[];
  movedAcrossCount: number;
  events: Awaited<ReturnType<typeof dayEvents>>;
  openNow: number;
  /** on which it is signed now; null: none is written */
  workbook: DayWorkbook | null;
  checklist: readonly ChecklistLine[];
  /** behind a closed day; null: nothing */
  changed: string | null;
  changedAbout: ChecklistLine['about'] | null;
  /** revisions that are signed and that the newest one says otherwise than */
  signedOn: readonly SignedOn[];
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

export function tableLines(days: readonly DayFigures[], kept: KeptBeside): Line[] {
  return [...figureLines(days), besideFigures(kept), ...bookLines(days)];
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

export function dayLines(date: string, account: DayOfAccount, kept: KeptBeside): Line[] {
  const { accountId, state, days, late, movedAcross: moved, events } = account;
  const { lateCount, movedAcrossCount: movedCount } = account;
  return [
    `Account ${accountId}, business date ${date}: ${state}`,
    ...dayFigures(days, kept),
    ...late.map(
      (one) =>
        `  adjustment: ${one.operation} ${moneyIn(one.amount, one.currency)} ` +
        `of order ${one.orderNo} belongs to ${one.belongsTo}`,
    ),
    ...moreLines('  ', lateCount - late.length),
    `  orders that moved across the cut-off before the look: ${countText(movedCount)}`,
    ...moved.map((one) => `    ${one.order_no}: ${one.state} since ${instant(one.moved_at)}`),
    ...moreLines('    ', movedCount - moved.length),
    ...events.map(eventLine),
    ...changedLines(account),
    ...signedOnLines(account),
    ...signingLines(account),
  ];
}

function signingLines({
  accountId,
  isConfigured,
  state,
  workbook,
  openNow,
  checklist,
}: DayOfAccount) {
  const open = `  open now: ${counted(openNow, 'item')}`;
  if (!isConfigured) return [open, `  ${leftDaysWords([accountId])}`];
  return [
    ...(state === 'locked' ? [] : [`  who signs now signs on ${workbookWords(workbook)}`]),
    open,
    `  ${CHECKLIST_HEADS[state]}:`,
    ...checklist.flatMap((line) => checklistLines(line, '    ')),
  ];
}

function eventLine(one: DayOfAccount['events'][number]): string {
  const { event, at, by, isClaim, reason, openItems, openCount, workbook } = one;
  const or = openCount === null ? ' or more' : '';
  const open = `${countText(openCount ?? openItems.length)} items${or} were open`;
  const on = workbook === null ? '' : `; on ${workbookWords(workbook)}`;
  const who = `${by}${isClaim ? ' (claimed)' : ''}`;
  return `  ${event} ${at.toISOString()} by ${who}: ${reason}; ${open}${on}`;
}

function moreLines(indent: string, more: number): string[] {
  return moreOf(more).map((text) => `${indent}and ${text}`);
}

function changedLines({ changed, changedAbout }: DayOfAccount): string[] {
  if (changed === null) return [];
  return [`  changed since it was closed: ${changed}`, ...aboutLines(changedAbout, '    ')];
}

/** Figure by figure: as it was signed, as it is now. */
function signedOnLines({ signedOn, state, isConfigured }: DayOfAccount): string[] {
  const again = state === 'closed' && isConfigured ? whyCloseAgain(signedOn) : null;
  return signedOn.flatMap((one) => [
    `  it was ${signedOnWords(one)}`,
    ...(one.pages ?? []).flatMap(({ currency, changes }) =>
      changes.map((change) => `    ${changeText(change, currency)}`),
    ),
    ...(again === null || !one.events.includes('closed') ? [] : [`  not to be locked: ${again}`]),
  ]);
}

/** A line of the checklist, and under it the orders that it is about. */
export function checklistLines({ isWell, words, about }: ChecklistLine, indent: string): string[] {
  return [`${indent}[${isWell ? 'x' : ' '}] ${words}`, ...aboutLines(about, `${indent}    `)];
}

function aboutLines(about: ChecklistLine['about'] | null, indent: string): string[] {
  return about ? [`${indent}${aboutText(about)}`] : [];
}

function dayFigures(days: readonly DayFigures[], kept: KeptBeside): Line[] {
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
    `  ${besideFigures(kept)}`,
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
