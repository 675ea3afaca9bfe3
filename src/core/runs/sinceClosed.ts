// What changed behind a business day since it was closed, in words: on its page, at the head of its
// statement, and which of it the figures of the newest revision have; and where that revision has
// other figures than the one that was signed, which they are. Pure; days/sinceNight.sql and
// lateBatches.sql count, days/signedFigures.sql has the figures.

import { formatAmount, parseSum } from '../money.js';
import { amountIn, countText } from '../text/amounts.js';
import type { Signing } from './businessDay.js';
import { SIGNING_BOXES } from './businessDay.js';
import type { LateName } from './closingChecklist.js';
import { nextRevisionWords } from './removal.js';
import { itemWords } from './statement.js';
import { bookWords } from './statementBooks.js';

/** What changed behind a day since it was closed, so many of one currency. */
interface SinceChange {
  accountId: string;
  /** restated: the newest workbook of its night has other figures than the one it was closed on */
  what: 'adjustments' | 'reopened' | 'orders' | 'refunds' | 'earlier' | 'batches' | 'restated';
  /** null: of what bears none */
  currency: string | null;
  count: number;
  /** whether the newest workbook of the night has it in its statement */
  isStated: boolean;
}

export interface SinceClosed {
  changes: readonly SinceChange[];
  /** whether the close kept what of the ledger was late already; else all of it is counted */
  isKept: boolean;
  /** the first of the orders and refund requests */
  named: readonly LateName[];
}

const RESTATED = 'the newest revision of its workbook has other figures';

const SINCE_WORDS: readonly (readonly [key: SinceChange['what'], one: string, many: string])[] = [
  ['adjustments', 'adjustment of this day', 'adjustments of this day'],
  ['reopened', 'break was opened again', 'breaks were opened again'],
  ['orders', 'order of that day is new or different', 'orders of that day are new or different'],
  ['refunds', 'refund request of that day is new', 'refund requests of that day are new'],
  [
    'earlier',
    'order of an earlier day that its night had looked at is different',
    'orders of earlier days that its night had looked at are different',
  ],
  [
    'batches',
    'settlement batch of that day came after the revision that was signed had been written',
    'settlement batches of that day came after the revision that was signed had been written',
  ],
];

export const OF_LEDGER: readonly SinceChange['what'][] = ['orders', 'refunds', 'earlier'];

/** Where the ledger did not answer. */
export const SINCE_UNKNOWN = 'perhaps, since the ledger did not answer in time';

/** "1 adjustment of this day, 2 breaks were opened again"; null: nothing changed. */
export function sinceSignedWords({ changes, isKept }: Omit<SinceClosed, 'named'>): string | null {
  const parts = SINCE_WORDS.flatMap(([key, one, many]) => {
    const found = changes.filter(({ what }) => what === key);
    if (found.length === 0) return [];
    const count = found.reduce((all, one) => all + one.count, 0);
    const words = `${countText(count)} ${count === 1 ? one : many}`;
    const isOlder = OF_LEDGER.includes(key) && !isKept;
    return [isOlder ? `${words} (perhaps from before it was closed)` : words];
  });
  // One revision may restate the pages of several currencies.
  if (changes.some(({ what }) => what === 'restated')) parts.push(RESTATED);
  return parts.length === 0 ? null : parts.join(', ');
}

/** Which of it the figures of the newest revision have: it may be written before or after. */
export function statedWords(
  { changes, isKept }: Omit<SinceClosed, 'named'>,
  revision: number,
  isRemoved: boolean,
): string {
  const of = (isStated: boolean): string | null =>
    sinceSignedWords({ isKept, changes: changes.filter((one) => one.isStated === isStated) });
  const [has, lacks] = [of(true), of(false)];
  const figures = `the figures of revision ${revision}`;
  if (lacks === null) return `It is in ${figures}`;
  const lacking = changes.filter(({ isStated }) => !isStated);
  const next = lacking.every(({ what }) => what === 'batches')
    ? nextRevisionWords(isRemoved)
    : 'a business day that is open takes what is new';
  if (has === null) return `It is not in ${figures}; ${next}`;
  return `In ${figures}: ${has}. Not in them: ${lacks}; ${next}`;
}

interface Sides<Amount> {
  captured: Amount;
  refunded: Amount;
}

type ItemOf<Amount> = Sides<Amount> & { item: string; lines: number };

/** A page of a statement: in hundredths while it is written, as text when it is on record. */
interface Figures<Amount> {
  ledger: Sides<Amount>;
  gateway: Sides<Amount>;
  items: readonly ItemOf<Amount>[];
  unexplained: Sides<Amount>;
  books: {
    from: string;
    bridge: readonly ItemOf<Amount>[];
    unexplained: Sides<Amount>;
    other: readonly ItemOf<Amount>[];
    closing: Sides<Amount>;
  } | null;
}

/** What a revision of a workbook says. */
export interface RevisionFigures {
  revision: number;
  /** whether any page of it is on record */
  isKept: boolean;
  pages: { accountId: string; currency: string; figures: Figures<string> }[];
}

/** A figure of a statement that two revisions say otherwise. */
export interface FigureChange {
  what: string;
  figure: 'Lines' | 'Captured' | 'Refunded' | 'From';
  /** null: the revision has no books of settlement */
  signed: string | null;
  newest: string | null;
  /** the newest less the signed; null: one of them has none */
  difference: string | null;
}

/** A revision on which a day is signed, and that the newest one says otherwise than. */
export interface SignedOn {
  /** null: it was signed without a workbook */
  revision: number | null;
  /** null: no workbook is there now */
  newest: number | null;
  events: Signing['event'][];
  /** null: the figures of one of them are not on record */
  pages: { currency: string; changes: FigureChange[] }[] | null;
}

/** Those of the two signatures that count, each revision once. */
export function otherFigures(
  accountId: string,
  signings: readonly Signing[],
  newest: number | null,
  kept: readonly RevisionFigures[],
): SignedOn[] {
  const counted = SIGNING_BOXES.flatMap(({ event }) => {
    const found = signings.findLast((one) => one.event === event);
    return found === undefined ? [] : [found];
  });
  const revisions = [...new Set(counted.map(({ revision }) => revision))];
  return revisions.flatMap((revision) => {
    if (revision === newest) return [];
    const pages = pagesThatDiffer(accountId, revision, newest, kept);
    if (pages?.length === 0) return [];
    const own = counted.filter((one) => one.revision === revision);
    return [{ revision, newest, events: own.map(({ event }) => event), pages }];
  });
}

function pagesThatDiffer(
  accountId: string,
  revision: number | null,
  newest: number | null,
  kept: readonly RevisionFigures[],
): SignedOn['pages'] {
  const [signed, now] = [revision, newest].map((one) =>
    kept.find((of) => of.revision === one && of.isKept),
  );
  if (signed === undefined || now === undefined) return null;
  const pageOf = ({ pages }: RevisionFigures, currency: string) =>
    pages.find((page) => page.accountId === accountId && page.currency === currency)?.figures;
  const own = [...signed.pages, ...now.pages].filter((page) => page.accountId === accountId);
  return [...new Set(own.map(({ currency }) => currency))].sort().flatMap((currency) => {
    const changes = figureChanges(pageOf(signed, currency), pageOf(now, currency));
    return changes.length === 0 ? [] : [{ currency, changes }];
  });
}

/** A page that two revisions say otherwise. */
export interface OtherPage {
  accountId: string;
  currency: string;
  changes: FigureChange[];
}

/** Of all accounts of these revisions; null: the figures of one of them are not on record. */
export function otherPages(
  revision: number,
  newest: number,
  kept: readonly RevisionFigures[],
): OtherPage[] | null {
  const all = kept.flatMap(({ pages }) => pages.map(({ accountId }) => accountId));
  const found = [...new Set(all)].sort().map((accountId) => {
    const pages = pagesThatDiffer(accountId, revision, newest, kept);
    return pages?.map((page) => ({ accountId, ...page })) ?? null;
  });
  const known = found.flatMap((pages) => pages ?? []);
  return found.length === 0 || found.includes(null) ? null : known;
}

/** "EUR, By the gateway, refunded: 85.50, now 148.50 (difference 63.00)" */
export function changeText(change: FigureChange, currency: string): string {
  const { what, figure, signed, newest, difference } = change;
  const shown = (value: string | null): string => {
    if (value === null) return 'none';
    return figure === 'Lines' || figure === 'From' ? value : amountIn(value, currency);
  };
  const by = difference === null ? '' : ` (difference ${shown(difference)})`;
  const before = `${currency}, ${what}, ${figure.toLowerCase()}: ${shown(signed)}`;
  return `${before}, now ${shown(newest)}${by}`;
}

/** Whether a revision that is signed says of this page what `page` says; null: nobody knows. */
export function isSignedAs(
  page: Figures<bigint> & { accountId: string; currency: string },
  revision: number,
  kept: readonly RevisionFigures[],
): boolean | null {
  const signed = kept.find((of) => of.revision === revision && of.isKept);
  if (signed === undefined) return null;
  const old = signed.pages.find(
    ({ accountId, currency }) => accountId === page.accountId && currency === page.currency,
  );
  return figureChanges(old?.figures, page).length === 0;
}

/** A row of a statement; `null`: there are no books. */
type Row = { what: string; figures: ReadonlyMap<FigureChange['figure'], string> | null };
type Amounts = Figures<string> | Figures<bigint>;

/** What is not on a page is nothing there. */
function figureChanges(signed: Amounts | undefined, newest: Amounts | undefined): FigureChange[] {
  // That what waited for a later night came as it was said is no other figure than was signed.
  const isAsSaid = laterIn(signed) === laterIn(newest);
  const [before, after] = [signed, newest].map((page) => halvesOf(page, isAsSaid));
  return (after ?? []).flatMap((now, at) => {
    const old = before?.[at] ?? [];
    const names = [...new Set([...now, ...old].map(({ what }) => what))];
    return names.flatMap((what) => {
      const [rowOld, rowNow] = [old, now].map((rows) => rows.find((row) => row.what === what));
      return changesOf(what, rowOld, rowNow);
    });
  });
}

function changesOf(what: string, old: Row | undefined, now: Row | undefined): FigureChange[] {
  const figures = [...new Set([old, now].flatMap((row) => [...(row?.figures?.keys() ?? [])]))];
  const textOf = (row: Row | undefined, figure: FigureChange['figure']): string | null => {
    if (row === undefined) return figure === 'Lines' ? '0' : '0.00';
    return row.figures?.get(figure) ?? null;
  };
  return figures.flatMap((figure) => {
    const [signed, newest] = [textOf(old, figure), textOf(now, figure)];
    if (signed === newest) return [];
    return [{ what, figure, signed, newest, difference: differenceOf(figure, signed, newest) }];
  });
}

function differenceOf(
  figure: FigureChange['figure'],
  signed: string | null,
  newest: string | null,
): string | null {
  if (signed === null || newest === null || figure === 'From') return null;
  if (figure === 'Lines') return String(Number(newest) - Number(signed));
  return formatAmount((parseSum(newest) ?? 0n) - (parseSum(signed) ?? 0n));
}

const OF_SETTLEMENT = 'Settlement: ';

const isLater = ({ item }: { item: string }) => item === 'later' || item === 'moved_later';

/** What waited for a later night and what one sent by now, in one. */
function laterIn(page: Amounts | undefined): string {
  const none: readonly ItemOf<bigint | string>[] = [];
  const later = (page?.items ?? none).filter(isLater);
  const sumOf = (amounts: (bigint | string)[]): string => {
    const all = amounts.map((one) => (typeof one === 'bigint' ? one : (parseSum(one) ?? 0n)));
    return formatAmount(all.reduce((sum, one) => sum + one, 0n));
  };
  const lines = later.reduce((all, one) => all + one.lines, 0);
  const captured = sumOf(later.map((one) => one.captured));
  return `${lines} ${captured} ${sumOf(later.map((one) => one.refunded))}`;
}

/** As they stand under each other; a page that is not there says nothing of everything. */
function halvesOf(page: Amounts | undefined, isAsSaid: boolean): Row[][] {
  const books = page?.books ?? null;
  const settled = (what: string, sums?: Sides<bigint | string>): Row => {
    const name = OF_SETTLEMENT + what;
    return books === null || !sums ? { what: name, figures: null } : rowOf(name, sums);
  };
  const none: readonly ItemOf<bigint | string>[] = [];
  const items = (page?.items ?? none).filter((one) => !(isAsSaid && isLater(one)));
  const ofBooks = (list: readonly ItemOf<bigint | string>[] = none): Row[] =>
    list.map(({ item, ...sums }) => rowOf(OF_SETTLEMENT + bookWords(item), sums));
  const from = books === null ? null : new Map([['From' as const, books.from]]);
  return [
    page === undefined ? [] : [rowOf('By the ledger', page.ledger)],
    items.map(({ item, ...sums }) => rowOf(itemWords(item), sums)),
    page === undefined
      ? []
      : [rowOf('By the gateway', page.gateway), rowOf('Unexplained', page.unexplained)],
    [{ what: `${OF_SETTLEMENT}books kept since`, figures: from }],
    ofBooks(books?.bridge),
    [settled('unexplained', books?.unexplained)],
    ofBooks(books?.other),
    [settled('closing', books?.closing)],
  ];
}

function rowOf(what: string, sums: Sides<bigint | string> & { lines?: number }): Row {
  const textOf = (amount: bigint | string): string =>
    typeof amount === 'bigint' ? formatAmount(amount) : amount;
  const lines = sums.lines === undefined ? [] : [['Lines', String(sums.lines)] as const];
  const money = [
    ['Captured', textOf(sums.captured)] as const,
    ['Refunded', textOf(sums.refunded)] as const,
  ];
  return { what, figures: new Map<FigureChange['figure'], string>([...lines, ...money]) };
}

/** "prepared on revision 1 of the workbook, and revision 2 has other figures" */
export function signedOnWords({ revision, newest, events, pages }: SignedOn): string {
  const how = SIGNING_BOXES.filter(({ event }) => events.includes(event));
  const signed = how.map(({ box }) => box.toLowerCase()).join(' and ');
  const on = revision === null ? 'without a workbook' : `on revision ${revision} of the workbook`;
  if (newest === null) return `${signed} ${on}, and none is there now`;
  if (revision === null) return `${signed} ${on}, and revision ${newest} is there now`;
  return pages === null
    ? `${signed} ${on}, and whether revision ${newest} has the same figures is not on record`
    : `${signed} ${on}, and revision ${newest} has other figures`;
}

/**
 * Why a day that is closed is not reviewed: both signatures stand under the same figures. Null: it
 * may be, and is not closed once more.
 */
export function whyCloseAgain(signedOn: readonly SignedOn[]): string | null {
  const prepared = signedOn.find(({ events }) => events.includes('closed'));
  if (prepared === undefined) return null;
  const { newest } = prepared;
  const on = newest === null ? '' : `, on revision ${newest},`;
  return `it was ${signedOnWords(prepared)}: close it again${on} and then it can be reviewed`;
}
