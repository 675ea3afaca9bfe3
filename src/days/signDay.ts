// One business date of several accounts, signed by one press: closed (prepared) or locked
// (reviewed), after the checklist of each account was shown. Each account keeps a record of its
// own, as if it had been signed alone. What cannot be signed yet, and what would sign another date
// with it, is left to the page of its day, with the reason.

import type { Decider } from '../core/instructions/decider.js';
import { signingAnswer } from '../core/runs/closingChecklist.js';
import { whyCloseAgain } from '../core/runs/sinceClosed.js';
import type { Database, Db } from '../database/db.js';
import type { DayVerdict } from './days.js';
import { barToLock, closeDay, lockDay } from './days.js';
import { openDates } from './daysStore.js';
import type { DayToSign } from './shownDay.js';
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

/** What the press would do, the digest of all that is shown, and whether the ledger answered. */
export async function previewSigning(
  db: Database,
  order: SigningOrder,
): Promise<{ days: SignedByPress[]; digest: string; hasLedger: boolean }> {
  const { accountIds, date, verb } = order;
  const since = await sinceNights(db, [date], accountIds);
  const days: SignedByPress[] = [];
  for (const day of await daysToSign(db, accountIds, date, since)) {
    days.push({ ...day, ...(await barOf(db, order, day)) });
  }
  return { days, digest: shownDigest(date, verb, days), hasLedger: since !== null };
}

/** `digest` is that of the preview: if anything shown there has changed, nothing is done. */
export async function signDays(
  db: Database,
  order: SigningOrder & { reason: string; digest: string },
): Promise<{ kind: 'changed' } | { kind: 'decided'; verdicts: DayVerdict[] }> {
  const { days, digest, hasLedger } = await previewSigning(db, order);
  const signed = days.filter(({ bar }) => bar === null);
  if (digest !== order.digest || signed.length === 0) return { kind: 'changed' };
  const { date, who, reason, secondPerson } = order;
  const sign = order.verb === 'close' ? closeDay : lockDay;
  // A ledger that did not answer for all of them is not waited for once more with each.
  const since = hasLedger ? {} : { since: NOT_ANSWERED };
  const verdicts: DayVerdict[] = [];
  for (const { bar: _none, first: _noDay, ...day } of signed) {
    const { accountId } = day;
    // Once more in its own transaction: the days before it in this list took their time.
    const isAsSeen = (now: { day: DayToSign }) => shownDigest(now.day) === shownDigest(day);
    const one = { accountId, date, who, reason, secondPerson, isAsSeen, ...since };
    verdicts.push(await sign(db, one));
  }
  return { kind: 'decided', verdicts };
}

type Bar = Pick<SignedByPress, 'bar' | 'first'>;

async function barOf(db: Db, order: SigningOrder, day: DayToSign): Promise<Bar> {
  const { verb, date, who, secondPerson } = order;
  const { accountId, state } = day;
  const barred = (bar: string | null): Bar => ({ bar, first: null });
  const again = whyCloseAgain(day.signedOn);
  if (verb === 'close' && state !== 'open' && (state === 'locked' || again === null)) {
    return barred(`it is ${state} already`);
  }
  if (verb === 'lock' && state !== 'closed') {
    return barred(`it is ${state}; only a closed day is locked`);
  }
  if (verb === 'lock' && again !== null) return barred(again);
  if (!signingAnswer(day.lines).canBeSigned) return barred('it cannot be signed yet');
  if (verb === 'lock') return barred(await barToLock(db, { accountId, date, who, secondPerson }));
  const first = (await openDates(db, accountId, date)).find((one) => one !== date) ?? null;
  return first === null ? barred(null) : { bar: `days before it are open: ${first} first`, first };
}
