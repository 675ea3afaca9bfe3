// What a person may do to a break: note, assign, waive, reopen. Pure: one verdict for one break,
// the same for the command line and the console. The database holds the second person of a waiver
// by itself (guard_break); here it is only put into words before it comes to that.

import type { Decider } from '../instructions/decider.js';
import { isSamePerson } from '../instructions/decider.js';
import type { Hundredths } from '../money.js';
import type { BreakOutcome } from './outcome.js';

export type BreakState = 'open' | 'resolved' | 'waived';

export type BreakAction =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'assign'; readonly owner: string | null; readonly reason?: string }
  | { readonly kind: 'waive'; readonly reason: string }
  | { readonly kind: 'reopen'; readonly reason: string };

/** A break as it stands when the decision is taken. */
export interface DecidedBreak {
  readonly state: BreakState;
  readonly currency: string | null;
  /**
   * what the limit of a waiver is held against: the amount of the order where it is more than what
   * is shown at stake, since until somebody has looked either side may be all wrong
   * (tieout.waiver_stake); null: nobody can say
   */
  readonly waiverStake: Hundredths | null;
  readonly owner: string | null;
  readonly note: string | null;
  /** who asked for a waiver of exactly what it says now */
  readonly waiverAskedBy: string | null;
}

export type BreakVerdict =
  | { readonly kind: BreakOutcome }
  | { readonly kind: 'unchanged' | 'refused'; readonly reason: string };

/** What a person said of a break since it was seen. */
export interface BreakWord {
  readonly event: string;
  readonly by: string;
  readonly reason: string | null;
  /** as people say it */
  readonly label: string;
}

/**
 * The same, bound to what was seen: what this person said already is said once, and what others
 * decided meanwhile, or what changed, is not decided over. `change` is what changed, in words;
 * null: nothing.
 */
export function decideSeenBreak(
  found: DecidedBreak,
  action: BreakAction,
  who: Decider,
  limit: Hundredths,
  seen: { change: string | null; since: readonly BreakWord[] },
  mayWaive = true,
): BreakVerdict {
  const said = seen.since.find(
    ({ event, by, reason }) =>
      SAID_BY[action.kind].includes(event) &&
      isSamePerson(by, who.name) &&
      reason === trailWords(action),
  );
  if (said !== undefined) return unchanged('you decided this already');
  const over = seen.since.findLast(({ event }) => DECIDED_OVER[action.kind].includes(event));
  if (over !== undefined) {
    return refused(`it was decided meanwhile: ${over.label} by ${over.by}`);
  }
  if (seen.change !== null) {
    return refused(['it has changed since it was seen', seen.change].filter(Boolean).join(': '));
  }
  return decideBreak(found, action, who, limit, mayWaive);
}

/** The events that an action leaves. */
const SAID_BY: Readonly<Record<BreakAction['kind'], readonly string[]>> = {
  note: ['noted'],
  assign: ['assigned'],
  waive: ['waived', 'waiver_asked'],
  reopen: ['reopened', 'waiver_refused'],
};

/**
 * A waiver that was asked for is no end: a second person agrees to what both have seen. Who refuses
 * one has to have seen that it was asked for.
 */
const DECIDED_OVER: Readonly<Record<BreakAction['kind'], readonly string[]>> = {
  note: ['waived', 'reopened', 'noted'],
  assign: ['waived', 'reopened', 'assigned'],
  waive: ['waived', 'reopened', 'waiver_refused'],
  reopen: ['waived', 'reopened', 'waiver_asked', 'waiver_refused'],
};

/** As the trail has it (writeDecision.sql). */
export function trailWords(action: BreakAction): string {
  if (action.kind === 'note') return action.text;
  if (action.kind !== 'assign') return action.reason;
  const to = action.owner === null ? 'to nobody' : `to ${action.owner}`;
  return action.reason === undefined ? to : `${to}: ${action.reason}`;
}

/** What one person waives alone where the configuration names no amount for refunds. */
const WAIVED_ALONE_MAX: Hundredths = 50_000n;

/**
 * What one person may waive alone in a currency: operations.approveAbove.refund, for a waiver gives
 * money up as a refund does. Once that is given, a currency it does not name always takes two.
 */
export function waivedAloneMax(
  approveAbove: Readonly<Record<string, Hundredths>> | null,
  currency: string | null,
): Hundredths {
  if (approveAbove === null) return WAIVED_ALONE_MAX;
  return (currency === null ? undefined : approveAbove[currency]) ?? 0n;
}

/** Why a waiver of these currencies waits for a second person: the limit, or that there is none. */
export function waiverWaitsWords(
  approveAbove: Readonly<Record<string, Hundredths>> | null,
  currencies: readonly string[],
): string {
  const unset = currencies.filter(
    (one) => approveAbove !== null && approveAbove[one] === undefined,
  );
  const none = `no limit is set for ${unset.join(', ')}, so that each waits`;
  const above = 'above what one person may waive';
  if (unset.length === 0) return above;
  return unset.length === currencies.length ? none : `${above}, or ${none}`;
}

/** `mayWaive` false: this person only agrees to a waiver that was asked for, or refuses it. */
export function decideBreak(
  found: DecidedBreak,
  action: BreakAction,
  who: Decider,
  limit: Hundredths,
  mayWaive = true,
): BreakVerdict {
  switch (action.kind) {
    case 'note':
      if (found.note === action.text) return unchanged('it bears this note already');
      return { kind: 'noted' };
    case 'assign':
      return assign(found, action.owner);
    case 'waive':
      return waive(found, who, mayWaive ? limit : null);
    case 'reopen':
      return reopen(found, who, mayWaive);
  }
}

/** Takes a waiver back, or says no to one that waits: anybody may, also who asked for it. */
function reopen(
  { state, waiverAskedBy }: DecidedBreak,
  who: Decider,
  mayWaive: boolean,
): BreakVerdict {
  switch (state) {
    case 'open':
      if (waiverAskedBy === null) return unchanged('it is open already');
      return isSamePerson(waiverAskedBy, who.name)
        ? { kind: 'waiver_taken_back' }
        : { kind: 'waiver_refused' };
    case 'waived':
      return mayWaive ? { kind: 'reopened' } : refused('finance takes waivers back');
    case 'resolved':
      return refused(
        'it resolved by itself: the next look opens it again if the difference is back',
      );
  }
}

function assign(found: DecidedBreak, owner: string | null): BreakVerdict {
  if (found.state === 'resolved') return refused('it is resolved: nobody has to look after it');
  if (found.owner === owner) {
    return unchanged(owner === null ? 'it is with nobody already' : `it is with ${owner} already`);
  }
  return { kind: 'assigned' };
}

/** `limit` null: whoever decides may neither waive alone nor ask. */
function waive(found: DecidedBreak, who: Decider, limit: Hundredths | null): BreakVerdict {
  if (found.state === 'waived') return unchanged('it is waived already');
  if (found.state === 'resolved') return refused('it is resolved: there is nothing to waive');
  if (limit === null && found.waiverAskedBy === null) return refused(ONLY_AGREES);
  const asker = found.waiverAskedBy;
  if (asker !== null && !isSamePerson(asker, who.name)) return { kind: 'waiver_agreed' };
  const isSmall = limit !== null && found.waiverStake !== null && found.waiverStake <= limit;
  if (isSmall) return { kind: 'waived' };
  if (asker === null) return { kind: 'waiver_asked' };
  const what =
    limit === null || limit > 0n
      ? 'a waiver of this size'
      : 'without a limit for its currency a waiver';
  return refused(`${what} needs a second person, and you asked for it yourself`);
}

const ONLY_AGREES =
  'nobody has asked for a waiver: finance asks, and you may agree as the second person';

function unchanged(reason: string): BreakVerdict {
  return { kind: 'unchanged', reason };
}

function refused(reason: string): BreakVerdict {
  return { kind: 'refused', reason };
}
