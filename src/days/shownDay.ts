// What somebody who signs a business day of an account has seen of it: its checklist, its figures,
// and the open days before it that one press may close too. A page shows it, and the press reads
// it once more in the transaction that signs: one function for both.

import { createHash } from 'node:crypto';
import type { DayFigures, DayState, DayWorkbook } from '../core/runs/businessDay.js';
import type { ChecklistLine, ClosingFacts, MovedAfter } from '../core/runs/closingChecklist.js';
import { batchLines, closingChecklist, lateLine } from '../core/runs/closingChecklist.js';
import type { SignedOn, SinceClosed } from '../core/runs/sinceClosed.js';
import { OF_LEDGER, SINCE_UNKNOWN, sinceSignedWords } from '../core/runs/sinceClosed.js';
import type { Database, Db } from '../database/db.js';
import { removedDates } from '../runs/runRecordStore.js';
import {
  closingFacts,
  dayFigures,
  dayStates,
  dayWorkbooks,
  movedAfter,
  openDates,
} from './daysStore.js';
import { lateBatches } from './lateBatchesStore.js';
import { signedOtherwise } from './signedFiguresStore.js';
import { lateOf, sinceNights, sinceOfDay } from './sinceNightStore.js';
import { suspendedOrders } from './suspendedStore.js';

/** Open days before a day that one press closes with it at most. */
export const EARLIER_MAX = 31;

/** How one business day of one account stands for whoever signs it. */
export interface DayToSign {
  accountId: string;
  state: DayState;
  /** whose statement is signed; null: none is written */
  workbook: DayWorkbook | null;
  lines: ChecklistLine[];
  moved: MovedAfter[];
  /** what its night looked at is gone: nothing of it is written again */
  isRemoved: boolean;
  /** what changed behind it since it was closed, in words; null: nothing, or it is open */
  changed: string | null;
  /** the same by currency; null: nobody knows, or it is open */
  since: SinceClosed | null;
  /** the orders among it; null: none */
  changedAbout: About | null;
  /** the revisions it is signed on that the newest one says otherwise than */
  signedOn: SignedOn[];
}

type About = NonNullable<ChecklistLine['about']>;

interface EarlierDays {
  /** oldest first */
  dates: string[];
  figures: DayFigures[];
  workbooks: DayWorkbook[];
  /** of those of which something came after their night or their workbook, or may have */
  late: { date: string; words: string; about: About | null }[];
  seen: string;
}

interface ShownDay {
  day: DayToSign;
  figures: DayFigures[];
  seen: string;
  /** null: it is not open, or no day before it is */
  earlier: EarlierDays | null;
}

type LateOfDay = Awaited<ReturnType<typeof lateBatches>>[number];
type Found = Awaited<ReturnType<typeof sinceNights>>;

/** What the ledger says since the nights of a day and of the open ones before it. */
export interface Since {
  day: Found;
  earlier: Found;
}

export const NOT_ANSWERED: Since = { day: null, earlier: null };

/** Of all that a page shows before something is signed: the press holds for just that. */
export function shownDigest(...shown: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex');
}

/**
 * Of the day, and of the open ones before it that one press may close too. The ledger is read ahead
 * of the transaction that signs, which an error of the merchant's view would end; the days before
 * it apart, so that many of them take no answer from the day itself, and not at all where the
 * ledger did not answer for one: who waits would wait as long again.
 */
export async function sinceOfOpen(db: Database, accountId: string, date: string): Promise<Since> {
  const dates = (await openDates(db, accountId, date)).filter((one) => one !== date);
  const day = await sinceNights(db, [date], [accountId]);
  if (dates.length === 0 || dates.length > EARLIER_MAX) return { day, earlier: [] };
  return { day, earlier: day === null ? null : await sinceNights(db, dates, [accountId]) };
}

/** `since`: what `sinceOfOpen` answered. */
export async function shownDay(
  db: Db,
  accountId: string,
  date: string,
  since: Since,
): Promise<ShownDay> {
  const figures = await dayFigures(db, [accountId], date, date);
  const [day] = (await daysToSign(db, [accountId], date, since.day)) as [DayToSign];
  const isOpen = day.state === 'open';
  const earlier = isOpen ? await earlierDays(db, accountId, date, since.earlier) : null;
  return { day, figures, seen: shownDigest(day, figures), earlier };
}

/**
 * Of hundreds of accounts in a few queries, one after the other: no more than one connection.
 * `since`: what `sinceNights` answered of the date and of those accounts that it was asked of.
 */
export async function daysToSign(
  db: Db,
  accountIds: readonly string[],
  date: string,
  since: Found,
): Promise<DayToSign[]> {
  // Ahead of what is told of it: a revision that is written meanwhile is another than is named.
  const [workbook = null] = await dayWorkbooks(db, [date]);
  const states = await dayStates(db, accountIds, date);
  const facts = await closingFacts(db, accountIds, date);
  const suspended = await suspendedOrders(db, facts, date);
  const moved = await movedAfter(db, accountIds, date);
  const batches = await lateBatches(db, accountIds, [date]);
  const signed = accountIds.filter((accountId) => states.get(accountId) !== 'open');
  const isRemoved = (await removedDates(db, [date])).has(date);
  const signedOn = await signedOtherwise(db, signed, date, workbook?.revision ?? null);
  return accountIds.map((accountId) => {
    const counted = {
      accountId,
      state: ofAccount(states, accountId),
      workbook,
      isRemoved,
      facts: { ...ofAccount(facts, accountId), ...suspendedOf(suspended, accountId) },
      moved: moved.filter((one) => one.accountId === accountId),
      batches: batches.find((one) => one.accountId === accountId),
    };
    const found = sinceOfDay(since, accountId, date);
    return dayOf(counted, signedOn.get(accountId) ?? [], found);
  });
}

function suspendedOf(
  found: ReadonlyMap<string, string[]>,
  accountId: string,
): Pick<ClosingFacts, 'suspended'> {
  const suspended = found.get(accountId);
  return suspended === undefined ? {} : { suspended };
}

function ofAccount<T>(found: ReadonlyMap<string, T>, accountId: string): T {
  const own = found.get(accountId);
  if (own === undefined) throw new Error(`account ${accountId} was asked for and not answered`);
  return own;
}

/**
 * For who reads a statement: what came after the night of an open day is for who signs it, and the
 * whole ledger is not read for everybody who looks.
 */
export async function daysToRead(
  db: Database,
  accountIds: readonly string[],
  date: string,
  signedBy: readonly string[],
): Promise<DayToSign[]> {
  const states = await dayStates(db, accountIds, date);
  const asked = accountIds.filter((accountId) => {
    return signedBy.includes(accountId) || states.get(accountId) !== 'open';
  });
  const since = asked.length === 0 ? [] : await sinceNights(db, [date], asked);
  return daysToSign(db, accountIds, date, since);
}

type AsCounted = Pick<DayToSign, 'accountId' | 'state' | 'workbook' | 'moved' | 'isRemoved'> & {
  facts: Omit<ClosingFacts, 'late' | 'lateBatches' | 'movedAfter' | 'isLocked' | 'isRemoved'>;
  /** undefined: none came later than a revision of its workbook */
  batches: LateOfDay | undefined;
};

function dayOf(
  { facts, batches, ...counted }: AsCounted,
  signedOn: SignedOn[],
  found: ReturnType<typeof sinceOfDay>,
): DayToSign {
  const { accountId, state, moved, isRemoved } = counted;
  const late = lateOf(found);
  const known = {
    ...(late === undefined ? {} : { late }),
    ...(batches === undefined ? {} : { lateBatches: batches }),
  };
  const isLocked = state === 'locked';
  const lines = closingChecklist({ ...facts, ...known, movedAfter: moved, isLocked, isRemoved });
  const day = { ...counted, lines, signedOn, changed: null, since: null, changedAbout: null };
  if (state === 'open') return day;
  if (found === null) return { ...day, changed: SINCE_UNKNOWN };
  if (!found?.since) return day;
  const own = batches?.changes ?? [];
  const changes = [...found.since.changes, ...own, ...restated(accountId, signedOn)];
  const since = { ...found.since, changes };
  return { ...day, changed: sinceSignedWords(since), since, changedAbout: aboutLedger(since) };
}

/** Of the revision that the day was closed on, in the currencies in which the newest differs. */
function restated(accountId: string, signedOn: readonly SignedOn[]): SinceClosed['changes'] {
  const prepared = signedOn.find(({ events }) => events.includes('closed'));
  const what = 'restated' as const;
  return (prepared?.pages ?? []).map(({ currency }) => {
    return { accountId, what, currency, count: 1, isStated: true };
  });
}

/** The orders and refund requests among what changed; null: none. */
function aboutLedger({ changes, named }: SinceClosed): About | null {
  const count = changes
    .filter(({ what }) => OF_LEDGER.includes(what))
    .reduce((all, one) => all + one.count, 0);
  return count === 0 ? null : { named, count };
}

async function earlierDays(
  db: Db,
  accountId: string,
  date: string,
  since: Found,
): Promise<EarlierDays | null> {
  const dates = (await openDates(db, accountId, date)).filter((one) => one !== date);
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return null;
  const workbooks = await dayWorkbooks(db, dates);
  const days = await dayFigures(db, [accountId], first, last);
  const figures = days.filter(({ businessDate }) => dates.includes(businessDate)).toReversed();
  const batches = await lateBatches(db, [accountId], dates);
  const removed = await removedDates(db, dates);
  const late = dates.flatMap((one) => {
    const ofDay = lateOf(sinceOfDay(since, accountId, one));
    const settled = batches.find(({ businessDate }) => businessDate === one);
    const of = { isLocked: false, isRemoved: removed.has(one) };
    const lines: ChecklistLine[] = [
      ...(settled === undefined ? [] : batchLines(settled, of)),
      ...(ofDay === undefined ? [] : [lateLine(ofDay)]),
    ];
    return lines.flatMap(({ isWell, words, about = null }) => {
      return isWell ? [] : [{ date: one, words, about }];
    });
  });
  const seen = shownDigest(dates, figures, workbooks, late);
  return { dates, figures, workbooks, late, seen };
}
