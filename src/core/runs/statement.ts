// The statement that finance signs: by account and currency, what the ledger says was captured and
// refunded, what explains the difference line by line, and what the gateway says. What no line
// explains is left as unexplained, and is 0.00 in every run that is in order (law 14 of
// ARCHITECTURE.md). Pure; neighbours: function tieout.statement_lines of the database (the lines),
// reports/statement/ (the sheets).

import type { Hundredths } from '../money.js';
import { formatAmount, parseSum } from '../money.js';
import { BREAK_KINDS } from '../orders/verdict.js';
import { amountIn } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';
import type { Notice } from './notices.js';
import type { BookSums, StatementBooks } from './statementBooks.js';
import { booksOf } from './statementBooks.js';
import type { RunState, RunSummary } from './summary.js';

/**
 * One order of which both sides say different money, or did until it moved after the night, in one
 * currency; amounts are text.
 */
export interface StatementLine {
  accountId: string;
  currency: string;
  orderNo: string;
  /** what explains it: see ITEMS; `unexplained` where nothing does */
  item: string;
  breakId: string | null;
  /** the one that is under way, waits or was refused, of a line without a break */
  instructionId: string | null;
  /** when the break was first seen, or the instruction planned */
  since: Date | null;
  ageDays: number | null;
  owner: string | null;
  transactionId: string | null;
  ledgerCaptured: string | null;
  gatewayCaptured: string | null;
  ledgerRefunded: string | null;
  gatewayRefunded: string | null;
  /** gateway minus ledger */
  captured: string;
  refunded: string;
  /** what moved of this day after its night had ended, while a workbook is written */
  movedCaptured?: string | null;
  movedRefunded?: string | null;
}

export const UNEXPLAINED = 'unexplained';

/** In the order in which they are shown: what heals by itself first, then by kind of break. */
const ITEMS: readonly string[] = [
  'moved_after',
  'moved_later',
  'due',
  'held',
  'kept',
  'unknown',
  'rejected',
  'refused',
  'later',
  'awaited',
  'notCompared',
  'explained',
  'taken_of_cancelled',
  'shown_whole',
  ...BREAK_KINDS,
  'broken',
];

const ITEM_WORDS: Readonly<Record<string, string>> = {
  moved_after: 'Moved after the night had ended: both sides agree now',
  moved_later: 'Moved since: it counts on a later business date',
  due: 'On its way: an instruction is under way',
  held: 'Waiting for approval',
  kept: 'Held by a setting: no approval frees it',
  unknown: 'Unknown: it was sent, and nobody can say yet whether it happened',
  rejected: 'Rejected: the gateway refused it, or a person found that it did not happen',
  refused: 'Refused by a person: not sent; the next night shows what is different',
  later: 'Later: waits for the instruction before it, or for the next run',
  awaited: 'Too young to be a difference',
  notCompared: 'Not compared: the gateway gave no complete answer',
  explained: 'Explained: within the tolerance, or waived',
  taken_of_cancelled: 'Cancelled in the ledger, taken and given back at the gateway',
  shown_whole: 'A part to be captured, the whole shown at the gateway',
  unexplained: 'UNEXPLAINED',
  broken: 'Break: other',
};

/** What a line is explained by, as sheets and pages say it. */
export function itemWords(item: string): string {
  return ITEM_WORDS[item] ?? `Break: ${labelOf(item)}`;
}

interface StatementItem {
  item: string;
  lines: number;
  captured: Hundredths;
  refunded: Hundredths;
}

interface SideFigures {
  captured: Hundredths;
  refunded: Hundredths;
  /** orders with something captured */
  orders: number;
}

/** One page to sign. */
export interface Statement {
  accountId: string;
  currency: string;
  ledger: SideFigures;
  gateway: SideFigures;
  items: StatementItem[];
  unexplained: { captured: Hundredths; refunded: Hundredths };
  /** null: no books of settlement are kept */
  books: StatementBooks | null;
}

/** The books of settlement of a run, where they are kept. */
interface KeptBooks {
  /** business date */
  from: string;
  sums: BookSums;
}

/** The sums of lines by account, currency and item, added up as they come. */
export type ItemSums = Map<string, Map<string, StatementItem>>;

export function addLines(sums: ItemSums, lines: readonly StatementLine[]): void {
  for (const { accountId, currency, item, captured, refunded } of lines) {
    const key = JSON.stringify([accountId, currency]);
    const items = sums.get(key) ?? new Map<string, StatementItem>();
    const sum = items.get(item) ?? { item, lines: 0, captured: 0n, refunded: 0n };
    sum.lines += 1;
    sum.captured += parseSum(captured) ?? 0n;
    sum.refunded += parseSum(refunded) ?? 0n;
    items.set(item, sum);
    sums.set(key, items);
  }
}

/** What each side says in sum, of an account and currency; amounts are text. */
interface SideSums {
  accountId: string;
  currency: string;
  ledgerCaptured: string;
  ledgerRefunded: string;
  gatewayCaptured: string;
  gatewayRefunded: string;
  ledgerCaptures: number;
  gatewayCaptures: number;
}

/** A page for each account and currency in which anybody captured, or a line stands. */
export function statementsOf(
  rows: readonly SideSums[],
  sums: ItemSums,
  kept: KeptBooks | null = null,
): Statement[] {
  return [...rows, ...rowsOfBooks(rows, kept)].flatMap((row) => {
    const key = JSON.stringify([row.accountId, row.currency]);
    const found = sums.get(key);
    const items = [...(found?.values() ?? [])]
      .filter(({ item }) => item !== UNEXPLAINED)
      .sort((a, b) => placeOf(a.item) - placeOf(b.item));
    const ledger = {
      captured: parseSum(row.ledgerCaptured) ?? 0n,
      refunded: parseSum(row.ledgerRefunded) ?? 0n,
      orders: row.ledgerCaptures,
    };
    const gateway = {
      captured: parseSum(row.gatewayCaptured) ?? 0n,
      refunded: parseSum(row.gatewayRefunded) ?? 0n,
      orders: row.gatewayCaptures,
    };
    if (row.currency === '' && found === undefined) return [];
    const left = (side: 'captured' | 'refunded'): Hundredths =>
      gateway[side] - items.reduce((sum, item) => sum + item[side], ledger[side]);
    const unexplained = { captured: left('captured'), refunded: left('refunded') };
    const books = kept === null ? null : booksOf(kept.sums.get(key), gateway, kept.from);
    return [
      {
        ...{ accountId: row.accountId, currency: row.currency },
        ...{ ledger, gateway, items, unexplained, books },
      },
    ];
  });
}

/** Currencies in which the run saw nothing and the books hold something. */
function rowsOfBooks(rows: readonly SideSums[], kept: KeptBooks | null): SideSums[] {
  const seen = new Set(
    rows.map(({ accountId, currency }) => JSON.stringify([accountId, currency])),
  );
  const zeros = {
    ...{ ledgerCaptured: '0.00', ledgerRefunded: '0.00' },
    ...{ gatewayCaptured: '0.00', gatewayRefunded: '0.00' },
    ...{ ledgerCaptures: 0, gatewayCaptures: 0 },
  };
  return [...(kept?.sums.keys() ?? [])]
    .filter((key) => !seen.has(key))
    .map((key) => {
      const [accountId, currency] = JSON.parse(key) as [string, string];
      return { accountId, currency, ...zeros };
    });
}

function placeOf(item: string): number {
  const place = ITEMS.indexOf(item);
  return place === -1 ? ITEMS.length : place;
}

interface Sides<Amount> {
  captured: Amount;
  refunded: Amount;
}

/** What is left of a statement: in hundredths while it is written, as text when it is on record. */
interface Left<Amount> {
  unexplained: Sides<Amount>;
  books: { unexplained: Sides<Amount> } | null;
}

export type LeftOver = Left<string> & { accountId: string; currency: string };

/** The one rule for the sheet, the run, the console and the checklist of a close. */
export function isExplained({ unexplained, books }: Left<Hundredths> | Left<string>): boolean {
  return isNothing(unexplained) && (books === null || isNothing(books.unexplained));
}

export function isNothing({ captured, refunded }: Sides<Hundredths | string>): boolean {
  return [captured, refunded].every((amount) => amount === 0n || amount === '0.00');
}

/** One of each statement that leaves money. */
export function unexplainedNotices(statements: readonly LeftOver[]): Notice[] {
  return statements.filter((one) => !isExplained(one)).map(unexplainedNotice);
}

export function leftOver({ accountId, currency, unexplained, books }: Statement): LeftOver {
  return {
    ...{ accountId, currency, unexplained: inText(unexplained) },
    books: books && { unexplained: inText(books.unexplained) },
  };
}

function inText({ captured, refunded }: Sides<Hundredths>): Sides<string> {
  return { captured: formatAmount(captured), refunded: formatAmount(refunded) };
}

/** Money that no line of the statement explains, of either half. */
function unexplainedNotice({ accountId, currency, unexplained, books }: LeftOver): Notice {
  const words = ({ captured, refunded }: Sides<string>, what: string): string =>
    `captured ${amountIn(captured, currency)} and refunded ${amountIn(refunded, currency)} ` +
    `are unexplained (${what})`;
  const left = [
    ...(isNothing(unexplained) ? [] : [words(unexplained, 'gateway − ledger')]),
    ...(books === null || isNothing(books.unexplained)
      ? []
      : [words(books.unexplained, 'gateway − books of settlement')]),
  ];
  return {
    accountId,
    kind: 'unexplained',
    about: `unexplained money of ${accountId} in ${currency}`,
    text:
      `the statement in ${currency} does not bridge: ${left.join('; ')}. ` +
      'Do not sign it; see the sheet Statement',
  };
}

/**
 * The summary with these notices: money that no line explains is as much as a break, so that such a
 * run did not tie. What it has told already is not told twice.
 */
export function withUnexplained(summary: RunSummary, notices: readonly Notice[]): RunSummary {
  if (notices.length === 0) return summary;
  const atLeastBroken = (state: RunState): RunState => (state === 'tied_out' ? 'broken' : state);
  const accountIds = new Set(notices.map(({ accountId }) => accountId));
  const before = summary.notices ?? [];
  const known = new Set(before.map(({ text }) => text));
  return {
    ...summary,
    state: atLeastBroken(summary.state),
    accounts: summary.accounts.map((one) =>
      accountIds.has(one.accountId) ? { ...one, state: atLeastBroken(one.state) } : one,
    ),
    notices: [...before, ...notices.filter(({ text }) => !known.has(text))],
  };
}
