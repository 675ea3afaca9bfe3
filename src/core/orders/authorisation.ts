// How long money that is reserved can still be taken: when a reservation lapses, and from when on
// somebody has to know. How long one holds is what was agreed with the acquirer, given for each
// account; where nobody said it, nothing is guessed. Pure. Neighbours: authorisations/ asks the
// database by these times, breaks of kind stale_authorisation go by days alone.

import { holdLabel, waitingState } from '../instructions/holdReasons.js';
import { labelOf } from '../text/labels.js';

/** What was agreed for the reservations of one account. */
export interface AuthorisationRule {
  /** so long one holds, from the time at which it was made */
  readonly validHours: number;
  /** somebody is told at least so long before it lapses, if a night saw it by then */
  readonly warnHours: number;
}

export type AuthorisationStanding = 'lapsed' | 'at_risk' | 'undated' | 'in_time';

const HOUR_MS = 3_600_000;
const BETWEEN_NIGHTS_HOURS = 24;
/** Within so long a night has come to its end, and was told of. */
const NIGHT_HOURS = 6;

/**
 * Up to when a lapse is one to tell now: whoever waited for the end of the next night would learn
 * of it later than warnHours before. `nextNight`: when it begins; null: not known, and a day from
 * now is meant.
 */
export function warnUntil(rule: AuthorisationRule, now: Date, nextNight: Date | null): Date {
  const next = nextNight?.getTime() ?? now.getTime() + BETWEEN_NIGHTS_HOURS * HOUR_MS;
  return new Date(next + (NIGHT_HOURS + rule.warnHours) * HOUR_MS);
}

/** Of one that is not taken; a time of null is not known. */
interface Lapse {
  readonly since: Date | null;
  readonly lapsesAt: Date | null;
}

/** null: nobody said how long reservations of its account hold. */
export function standingOf(
  { since, lapsesAt }: Lapse,
  now: Date,
  until: Date | null,
): AuthorisationStanding | null {
  if (until === null) return null;
  if (since === null || lapsesAt === null) return 'undated';
  if (lapsesAt <= now) return 'lapsed';
  return lapsesAt <= until ? 'at_risk' : 'in_time';
}

/** Whole hours, never more than are left; below zero, never more than it lapsed ago. */
export function hoursLeft(lapsesAt: Date | null, now: Date): number | null {
  if (lapsesAt === null) return null;
  // Adding 0: no hours since it lapsed are not -0.
  return Math.trunc((lapsesAt.getTime() - now.getTime()) / HOUR_MS) + 0;
}

/** What is known of why the money is not taken. */
export interface TakingFacts {
  /** what the ledger wants; null: it does not have the order */
  readonly expected: string | null;
  /** of its newest instruction; null: there is none */
  readonly operation: string | null;
  readonly state: string | null;
  readonly holdReason: string | null;
  /** it came to its end after the look that shows the reservation */
  readonly isSettledSince: boolean;
  readonly breaks: readonly string[];
  /** breaks that were waived: told no more, and nothing is captured while the order differs */
  readonly waived: readonly string[];
  /** the newest snapshot did not come to it */
  readonly isGap: boolean;
}

/** What the ledger wants to become of it, in words. */
export function wantedWords(expected: string | null): string {
  if (expected === 'captured') return 'capture';
  return expected === null ? 'not in the ledger' : 'nothing yet';
}

/** What stands in the way of taking it, the most pressing first, in words. */
export function obstacleOf(facts: TakingFacts): string {
  const { expected, breaks, waived, isGap } = facts;
  const parts = [
    ...(isGap ? ['not shown by the newest snapshot'] : []),
    ...movedWords(facts),
    ...breaks.map((kind) => `break: ${labelOf(kind)}`),
    ...waived.map((kind) => `waived break: ${labelOf(kind)}`),
  ];
  if (parts.length > 0) return parts.join('; ');
  if (expected === 'captured') return 'no capture is planned';
  return expected === null ? 'the ledger does not have it' : 'the ledger does not ask for it yet';
}

/** Of one that came to its end before, and did not take the money, only a refusal says anything. */
function movedWords({ operation, state, holdReason, isSettledSince }: TakingFacts): string[] {
  if (state === null || operation === null) return [];
  if (state === 'held') {
    const reason = holdReason ?? 'approval';
    return [`${operation} ${waitingState(state, reason)}: ${holdLabel(reason)}`];
  }
  if (state === 'confirmed' && isSettledSince) return [`${operation} confirmed since`];
  if (state === 'withdrawn' || state === 'confirmed') return [];
  return [`${operation} ${labelOf(state)}`];
}
