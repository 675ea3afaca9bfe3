// What a person decides about business days: close, lock, reopen. Days of an account close in their
// order; a locked one stays. With each decision the figures and the open items of that moment are
// kept. The same functions for the command line and for whoever else asks with a known name.

import type { Decider } from '../core/instructions/decider.js';
import { isSamePerson } from '../core/instructions/decider.js';
import type { DayFigures, DayWorkbook } from '../core/runs/businessDay.js';
import { workbookWords } from '../core/runs/businessDay.js';
import type { ChecklistLine } from '../core/runs/closingChecklist.js';
import { whyCloseAgain } from '../core/runs/sinceClosed.js';
import { andMore } from '../core/text/amounts.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database, Db } from '../database/db.js';
import { rolledBack } from '../database/rolledBack.js';
import {
  closedUntil,
  dayFigures,
  daySignings,
  dayState,
  holdDays,
  lockedAfter,
  openDates,
  postMovements,
  recordDay,
} from './daysStore.js';
import type { Since } from './shownDay.js';
import { shownDay, sinceOfOpen } from './shownDay.js';
import { keptOfLedger, sinceOfDay } from './sinceNightStore.js';

type ShownDay = Awaited<ReturnType<typeof shownDay>>;

export interface DayOrder {
  accountId: string;
  date: string;
  who: Decider;
  reason: string;
  /** close every open day before it, too; absent is false: one day, never several by surprise */
  withEarlier?: boolean;
  /** a closed day is locked by another person than closed it; absent is false */
  secondPerson?: boolean;
  /** of the workbook that the person has read; absent: the newest, whichever that is */
  revision?: number;
  /** asked in the transaction that signs: whether it stands as it was shown; absent: it is not */
  isAsSeen?: (now: ShownDay) => boolean;
  /** what the ledger said already; absent: it is asked */
  since?: Since;
  /** only to know what would be signed: nothing is kept; absent is false */
  isCheck?: boolean;
}

export type DayVerdict =
  /** `knowing`: lines of the checklist that were not well as it was signed */
  | {
      kind: 'done';
      accountId: string;
      dates: string[];
      /** of those that were signed, each on the newest of its night */
      workbooks?: DayWorkbook[];
      knowing?: ChecklistLine[];
      /** of what was only checked: all of it */
      checklist?: ChecklistLine[];
    }
  /** changed: it did not stand any more as it was shown */
  | { kind: 'refused' | 'changed'; accountId: string; reason: string };

const CHANGED = 'what was shown has changed since: nothing was signed';

/**
 * Closes the day: it is prepared. Open days before it stand in the way, or are closed, too. One
 * that is closed is closed again where the newest revision of its workbook has other figures.
 */
export async function closeDay(db: Database, order: DayOrder): Promise<DayVerdict> {
  const since = order.since ?? (await sinceOfOpen(db, order.accountId, order.date));
  return decided(db, order, async (tx) => {
    const { accountId, date } = order;
    const state = await dayState(tx, accountId, date);
    if (state === 'closed') return sign(tx, order, 'closed', since);
    if (state !== 'open') return refused(order, `${date} is ${state} already`);
    const dates = await openDates(tx, accountId, date);
    if (dates.at(-1) !== date)
      return refused(order, `there is no finished run of ${date} to close`);
    if (dates.length > 1 && order.withEarlier !== true) {
      return refused(order, `open before it: ${datesText(dates.slice(0, -1))}; close them first`);
    }
    await postMovements(tx, accountId);
    return sign(tx, order, 'closed', since);
  });
}

/** Makes a closed day final: it is reviewed, and cannot be reopened any more. */
export async function lockDay(db: Database, order: DayOrder): Promise<DayVerdict> {
  const since = order.since ?? (await sinceOfOpen(db, order.accountId, order.date));
  return decided(db, order, async (tx) => {
    const { accountId, date } = order;
    const state = await dayState(tx, accountId, date);
    if (state !== 'closed')
      return refused(order, `${date} is ${state}; only a closed day is locked`);
    const bar = await barToLock(tx, order);
    if (bar !== null) return refused(order, bar);
    return sign(tx, order, 'locked', since);
  });
}

/** What is held against what was seen is what is kept; nobody moves the days meanwhile. */
async function sign(
  tx: Db,
  order: DayOrder,
  event: 'closed' | 'locked',
  since: Since,
): Promise<DayVerdict> {
  const { accountId, date } = order;
  const now = await shownDay(tx, accountId, date, since);
  // A run of an earlier date may have ended meanwhile: nobody asked to close that.
  const isMore = now.earlier !== null && order.withEarlier !== true;
  if (isMore || order.isAsSeen?.(now) === false) {
    return { kind: 'changed', accountId, reason: CHANGED };
  }
  const again = whyCloseAgain(now.day.signedOn);
  if (event === 'locked' && again !== null) return refused(order, again);
  if (event === 'closed' && now.day.state === 'closed' && again === null) {
    return refused(order, `${date} is closed already`);
  }
  const { revision } = order;
  if (revision !== undefined && revision !== now.day.workbook?.revision) {
    return refused(order, otherRevision(revision, now.day.workbook));
  }
  const shown = [...(now.earlier?.figures ?? []), ...now.figures];
  const dates = [...(now.earlier?.dates ?? []), date];
  const own = now.day.workbook === null ? [] : [now.day.workbook];
  const workbooks = [...(now.earlier?.workbooks ?? []), ...own];
  for (const one of dates) {
    const figures = shown.filter(({ businessDate }) => businessDate === one);
    const found = one === date ? since.day : since.earlier;
    // What changed since is told from what the close kept.
    const isKept = event === 'closed';
    const late = isKept ? keptOfLedger(sinceOfDay(found, accountId, one)) : [];
    const workbook = workbookOf(workbooks, one);
    await record(tx, order, { businessDate: one, event, figures, late, workbook });
  }
  const knowing = now.day.lines.filter((line) => !line.isWell);
  const checked = order.isCheck === true ? { checklist: now.day.lines } : {};
  return { kind: 'done', accountId, dates, workbooks, knowing, ...checked };
}

function otherRevision(asked: number, newest: DayWorkbook | null): string {
  return `asked for revision ${asked}; what would be signed is ${workbookWords(newest)}`;
}

function workbookOf(
  workbooks: readonly DayWorkbook[],
  date: string,
): Pick<DayWorkbook, 'revision' | 'sha256'> | null {
  const found = workbooks.find(({ businessDate }) => businessDate === date);
  return found === undefined ? null : { revision: found.revision, sha256: found.sha256 };
}

type Locking = Pick<DayOrder, 'date' | 'who' | 'secondPerson'>;

/** Why this person may not lock what was closed; null: they may. */
export async function barToLock(
  db: Db,
  { accountId, ...order }: Locking & { accountId: string },
): Promise<string | null> {
  return (await barsToLock(db, [accountId], order)).get(accountId) ?? null;
}

/** The same of every account that is named; one that is not in it they may lock. */
export async function barsToLock(
  db: Db,
  accountIds: readonly string[],
  { date, who, secondPerson }: Locking,
): Promise<Map<string, string>> {
  if (secondPerson !== true) return new Map();
  const signings = await daySignings(db, accountIds, date);
  return new Map(
    [...signings].flatMap(([accountId, events]): [string, string][] => {
      const closed = events.findLast(({ event }) => event === 'closed');
      const bar = closed === undefined ? null : whyNotSecond(closed, who);
      return bar === null ? [] : [[accountId, bar]];
    }),
  );
}

/** Why a closed day is not reopened, or not yet: a day after it. */
export async function barToReopen(
  db: Db,
  { accountId, date }: Pick<DayOrder, 'accountId' | 'date'>,
): Promise<string | null> {
  const locked = await lockedAfter(db, accountId, date);
  if (locked !== null) {
    return (
      `${locked}, after it, is locked and stays, so ${date} cannot be opened again; what becomes ` +
      'known of it stands in an open day, as an adjustment'
    );
  }
  const newest = await closedUntil(db, accountId);
  if (newest === null || newest <= date) return null;
  return `${date} is followed by a closed day: reopen ${newest} first`;
}

/** Opens the newest closed day again; what is known by now of it goes where it belongs. */
export function reopenDay(db: Database, order: DayOrder): Promise<DayVerdict> {
  return decided(db, order, async (tx) => {
    const { accountId, date } = order;
    const state = await dayState(tx, accountId, date);
    if (state !== 'closed') {
      return refused(order, `${date} is ${state}; only a closed day is reopened`);
    }
    const bar = await barToReopen(tx, order);
    if (bar !== null) return refused(order, bar);
    const figures = await dayFigures(tx, [accountId], date, date);
    const nothing = { late: [], workbook: null };
    await record(tx, order, { businessDate: date, event: 'reopened', figures, ...nothing });
    await postMovements(tx, accountId);
    return { kind: 'done', accountId, dates: [date] };
  });
}

/** Two persons, both known: a name that was only claimed is no pair of eyes. */
function whyNotSecond(closed: { by: string; isClaim: boolean }, who: Decider): string | null {
  if (who.isClaim) return 'a second person, signed in at the console, locks what was closed';
  if (closed.isClaim) {
    return `${closed.by} is a name that was only claimed: reopen it and close it at the console`;
  }
  return isSamePerson(closed.by, who.name)
    ? `${who.name} closed it: a second person locks it`
    : null;
}

/** Dates that are named in a refusal. */
const DATES_NAMED = 5;

function datesText(dates: readonly string[]): string {
  return dates.slice(0, DATES_NAMED).join(', ') + andMore(dates.length - DATES_NAMED);
}

function decided(
  db: Database,
  { accountId, isCheck }: DayOrder,
  work: (tx: Db) => Promise<DayVerdict>,
): Promise<DayVerdict> {
  const held = async (tx: Db): Promise<DayVerdict> => {
    await holdDays(tx, accountId);
    return work(tx);
  };
  return isCheck === true ? rolledBack(db, held) : db.transaction(held);
}

interface Recorded {
  businessDate: string;
  event: 'closed' | 'locked' | 'reopened';
  figures: readonly DayFigures[];
  late: readonly object[];
  workbook: Pick<DayWorkbook, 'revision' | 'sha256'> | null;
}

async function record(tx: Db, order: DayOrder, recorded: Recorded): Promise<void> {
  const { accountId, who } = order;
  const reason = withoutCards(order.reason);
  await recordDay(tx, { ...recorded, accountId, who, reason });
}

function refused({ accountId }: DayOrder, reason: string): DayVerdict {
  return { kind: 'refused', accountId, reason };
}
