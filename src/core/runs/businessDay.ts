// Business days as finance closes them: what an account had captured and refunded, rolled forward
// from day to day. Plain data and the one rule that ties them; amounts are text of two decimals.
// Neighbours: days/daysStore.ts reads, days/days.ts decides, cli/reports/days.ts shows.

import { firstNamed } from '../accounts/alike.js';
import { nameLabel } from '../instructions/decider.js';
import { exactAmount, formatAmount } from '../money.js';
import { andMore, counted } from '../text/amounts.js';

export type DayState = 'open' | 'closed' | 'locked';

/** A day closed, then locked. */
export interface Signing {
  event: 'closed' | 'locked';
  by: string;
  isClaim: boolean;
  at: string;
  /** the newest of then; null: there was none yet */
  revision: number | null;
}

/** The boxes of a statement. */
export const SIGNING_BOXES = [
  { event: 'closed', box: 'Prepared', what: 'day closed' },
  { event: 'locked', box: 'Reviewed', what: 'day locked' },
] as const;

/** Who signed, when, on which revision. */
export function signingWords({ by, isClaim, revision }: Signing, at: string): string {
  const what = revision === null ? 'no revision' : `revision ${revision}`;
  return `by ${nameLabel(by, isClaim)} at ${at}, on ${what}`;
}

/** What the gateway's document does not show, so that no figure of a day holds it. */
export const NOT_KNOWN = ['fees', 'chargebacks', 'bank payouts'] as const;

export interface DayFigures {
  accountId: string;
  businessDate: string;
  currency: string;
  state: DayState;
  /** of the run of this day; null: no run is of this date */
  timezone: string | null;
  cutOff: string | null;
  asOf: Date | null;
  runState: string | null;
  opening: string;
  captured: string;
  refunded: string;
  /** captures minus refunds of earlier days that were closed when they became known */
  adjustments: string;
  closing: string;
  /** a memo: cancelled reservations move no money; late ones too */
  cancelled: string;
  /** of these, what belongs to an earlier day that was closed */
  cancelledLate: string;
  /** a memo: payouts whose unit is known, late ones too; no part of what the gateway owes */
  paidOut: string;
  captures: number;
  refunds: number;
  cancels: number;
  payouts: number;
  late: number;
  /** only of an account that has a book of movements */
  elsewhere?: ElsewhereFigures;
}

/** What was made at the gateway by others than tieout; part of the closing. */
interface ElsewhereFigures {
  captured: string;
  refunded: string;
  /** refunds that stand without an amount at the end of the day, in no sum */
  suspense: number;
  /** the business date from which the book has them */
  since: string;
}

/** Over the checklist of a day: it tells how everything stands now, also where it is signed. */
export const CHECKLIST_HEADS: Readonly<Record<DayState, string>> = {
  open: 'Before it is closed',
  closed: 'Before it is locked, as it stands now',
  locked: 'Its checklist, as it stands now',
};

/** Said where days of an account that left the configuration are shown, or would be signed. */
export function leftDaysWords(accountIds: readonly string[]): string {
  const isOne = accountIds.length === 1;
  const whose = `${isOne ? 'Account' : 'Accounts'} ${firstNamed(accountIds)}`;
  return (
    `${whose} ${isOne ? 'is' : 'are'} not in the configuration any more: the days stay as they ` +
    `are, and none is closed, locked or opened again until the account is back under accounts in ` +
    'tieout.yaml (without liveFrom it is only observed).'
  );
}

/** Money may move on a date that no night is of, as `tieout send` does after the last one. */
export const NO_NIGHT = 'There is no night of this date.';

/** What an installation keeps beside the figures of days. */
export interface KeptBeside {
  /** books of settlement */
  hasSettlement: boolean;
  /** somebody has set in which unit the gateway writes payouts */
  hasPayoutUnit: boolean;
}

export const MEMOS = 'Memos, in no sum: cancelled (reservations let go) and payouts made.';
export const PAYOUTS_LEFT_OUT =
  'Payouts are left out for as long as nobody has set whether the gateway writes their amounts ' +
  'in euros or in cents.';

/** Said under every table of days: what is no part of a sum, and what the figures do not hold. */
export function besideFigures({ hasSettlement, hasPayoutUnit }: KeptBeside): string {
  const named = NOT_KNOWN.join(', ');
  const notHeld = hasSettlement
    ? `In no sum here: ${named}; the books of settlement have them (\`tieout settlement\`).`
    : `Not known to tieout: ${named}.`;
  return [MEMOS, ...(hasPayoutUnit ? [] : [PAYOUTS_LEFT_OUT]), notHeld].join(' ');
}

/** Said beside them. */
export const ELSEWHERE =
  'Elsewhere: captured and refunded at the gateway by others than tieout, part of the closing. ' +
  'In suspense: refunds made elsewhere whose amount nobody knows yet, in no sum.';

/** From when on the books of the accounts have what was made elsewhere; null: none has. */
export function booksBegin(days: readonly DayFigures[]): string | null {
  const dates = new Map(
    days.flatMap(({ accountId, elsewhere }) => (elsewhere ? [[accountId, elsewhere.since]] : [])),
  );
  if (dates.size === 0) return null;
  const words =
    dates.size > BOOKS_NAMED
      ? byDate(dates)
      : [...dates].map(([accountId, since]) => `${accountId} from ${since}`);
  return `The books have it of ${words.join(', ')} on.`;
}

/** Accounts that are named with their date; of more it is said by date. */
const BOOKS_NAMED = 8;
/** Accounts of each date, and dates, that are named then. */
const NAMED_OF_DATE = 3;
const DATES_NAMED = 5;

/** "598 accounts (S1, S2, S3 and 595 more) from 2026-11-24", the most accounts first. */
function byDate(dates: ReadonlyMap<string, string>): string[] {
  const of = new Map<string, string[]>();
  for (const [accountId, since] of dates) of.set(since, [...(of.get(since) ?? []), accountId]);
  const sorted = [...of].toSorted((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0]));
  const left = sorted.slice(DATES_NAMED).flatMap(([, accounts]) => accounts);
  const words = sorted.slice(0, DATES_NAMED).map(([since, accounts]) => {
    const named = accounts.slice(0, NAMED_OF_DATE).join(', ');
    const more = andMore(accounts.length - NAMED_OF_DATE);
    return `${counted(accounts.length, 'account')} (${named}${more}) from ${since}`;
  });
  return left.length === 0
    ? words
    : [...words, `${counted(left.length, 'account')} from other dates`];
}

/** Opening + captured - refunded + adjustments and what was made elsewhere, as it has to be. */
export function workedOutClosing(day: DayFigures): string {
  const { captured = '0.00', refunded = '0.00' } = day.elsewhere ?? {};
  const sum =
    exactAmount(day.opening) +
    exactAmount(day.captured) -
    exactAmount(day.refunded) +
    exactAmount(day.adjustments) +
    exactAmount(captured) -
    exactAmount(refunded);
  return formatAmount(sum);
}

/** The newest workbook of the night of a day: on it one signs. */
export interface DayWorkbook {
  businessDate: string;
  revision: number;
  sha256: string;
}

/** As it is found among the reports, by revision and the beginning of its digest. */
export function workbookWords(workbook: Pick<DayWorkbook, 'revision' | 'sha256'> | null): string {
  if (workbook === null) return 'no workbook: none of its night is written';
  return `revision ${workbook.revision} of the workbook, sha256 ${workbook.sha256.slice(0, 12)}`;
}
