// One business date of several accounts, signed by one press: closed (prepared) or locked
// (reviewed), after the checklist of each account was shown. Each account keeps a record of its
// own, as if it had been signed alone. What cannot be signed yet, and what would sign another date
// with it, is left to the page of its day, with the reason.

import type { Decider } from '../core/instructions/decider.js';
import { signingAnswer } from '../core/runs/closingChecklist.js';
import { whyCloseAgain } from '../core/runs/sinceClosed.js';
import type { Database, Db } from '../database/db.js';
import type { DayVerdict } from './days.js';
import { barsToLock, closeDay, lockDay } from './days.js';
import { openDatesOf } from './daysStore.js';
import type { DayToSign, Since } from './shownDay.js';
import { daysToSign, NOT_ANSWERED, shownDigest } from './shownDay.js';
import { sinceNights } from './sinceNightStore.js';

/** A day before the press; `bar` says why the press leaves it, null: it is signed. */
export interface SignedByPress extends DayToSign {
  bar: string | null;
  /** the open day that has to be signed before it; null: there is none */
  first: string | null;
}

export type SigningVerb = 'close' | 'lock';

export interface SigningOrder {
  accountIds: readonly string[];
  date: string;
  verb: SigningVerb;
  who: Decider;
  /** a closed day is locked by another person than closed it */
  secondPerson: boolean;
}

/** What the press would do, and the digest of all that is shown. */
export interface SigningPreview {
  days: SignedByPress[];
  digest: string;
}

export async function previewSigning(db: Database, order: SigningOrder): Promise<SigningPreview> {
  const { since: _since, ...preview } = await looked(db, order);
  return preview;
}

/** With what the ledger said; null: it did not answer. */
async function looked(
  db: Database,
  order: SigningOrder,
): Promise<SigningPreview & { since: Since['day'] }> {
  const { accountIds, date, verb } = order;
  const since = await sinceNights(db, [date], accountIds);
  const shown = await daysToSign(db, accountIds, date, since);
  const bars = await barsOf(db, order, shown);
  const days = shown.map((day, at) => ({ ...day, ...(bars[at] as Bar) }));
  return { days, digest: shownDigest(date, verb, days), since };
}

/** `digest` is that of the preview: if anything shown there has changed, nothing is done. */
export async function signDays(
  db: Database,
  order: SigningOrder & { reason: string; digest: string },
): Promise<{ kind: 'changed'; now: SigningPreview } | { kind: 'decided'; verdicts: DayVerdict[] }> {
  const { since: day, ...now } = await looked(db, order);
  const signed = now.days.filter(({ bar }) => bar === null);
  if (now.digest !== order.digest || signed.length === 0) return { kind: 'changed', now };
  const { date, who, reason, secondPerson } = order;
  const sign = order.verb === 'close' ? closeDay : lockDay;
  // What is signed is what was shown: the ledger is read once for all of them. What comes to it
  // meanwhile is not among the keys that a close keeps, and so is told as come since.
  const since = day === null ? NOT_ANSWERED : { day, earlier: [] };
  const verdicts: DayVerdict[] = [];
  for (const { bar: _none, first: _noDay, ...seen } of signed) {
    const { accountId } = seen;
    // Once more in its own transaction: the days before it in this list took their time.
    const isAsSeen = (one: { day: DayToSign }) => shownDigest(one.day) === shownDigest(seen);
    verdicts.push(await sign(db, { accountId, date, who, reason, secondPerson, isAsSeen, since }));
  }
  return { kind: 'decided', verdicts };
}

type Bar = Pick<SignedByPress, 'bar' | 'first'>;

/** In the order of the days. */
async function barsOf(db: Db, order: SigningOrder, days: readonly DayToSign[]): Promise<Bar[]> {
  const { verb, date, accountIds } = order;
  const bars = days.map((day) => barByItself(verb, day));
  if (bars.every((bar) => bar !== null)) return bars.map((bar) => ({ bar, first: null }));
  const locking = verb === 'lock' ? await barsToLock(db, accountIds, order) : new Map();
  const open = verb === 'close' ? await openDatesOf(db, accountIds, date) : new Map();
  return days.map(({ accountId }, at) => {
    const own = bars[at] ?? locking.get(accountId) ?? null;
    const first = open.get(accountId)?.find((one: string) => one !== date) ?? null;
    if (own !== null || first === null) return { bar: own, first: null };
    return { bar: `days before it are open: ${first} first`, first };
  });
}

/** By how the day stands, whoever signs it. */
function barByItself(verb: SigningVerb, { state, signedOn, lines }: DayToSign): string | null {
  const again = whyCloseAgain(signedOn);
  if (verb === 'close' && state !== 'open' && (state === 'locked' || again === null)) {
    return `it is ${state} already`;
  }
  if (verb === 'lock' && state !== 'closed') return `it is ${state}; only a closed day is locked`;
  if (verb === 'lock' && again !== null) return again;
  return signingAnswer(lines).canBeSigned ? null : 'it cannot be signed yet';
}
