// What a decision about breaks comes to, in words: one table for pages, workbooks, the terminal and
// the record of what was done. To ask for a waiver and to agree to one that somebody asked for are
// two decisions, and so are to refuse one and to take back one's own; the trail keeps one word for
// each pair, and who said it. Pure. Neighbour: breakDecision.ts decides.

import { isSamePerson } from '../instructions/decider.js';
import type { MoneySum } from '../money.js';
import { countText, withSum } from '../text/amounts.js';
import { labelOf } from '../text/labels.js';

interface OutcomeWords {
  /** before it is done */
  will: string;
  /** of so many, when it was done */
  done: string;
  /** of one */
  said: string;
  /** in the record of what was done */
  record: string;
  /** in the trail of the break, where that has another word */
  event?: string;
}

/** In the order in which totals name them. */
const OUTCOMES = {
  noted: { will: 'will be noted', done: 'noted', said: 'noted', record: 'note breaks' },
  assigned: {
    ...{ will: 'will be assigned', done: 'assigned', said: 'assigned' },
    record: 'assign breaks',
  },
  waived: {
    ...{ will: 'will be waived', done: 'waived', record: 'waive breaks' },
    said: 'waived; it reopens by itself if what it says changes',
  },
  waiver_agreed: {
    will: 'will be waived, agreed to as the second person',
    done: 'waived, agreed to as the second person',
    said: 'waived, agreed to as the second person; it reopens by itself if what it says changes',
    record: 'agree to waivers',
    event: 'waived',
  },
  waiver_asked: {
    will: 'will wait for a second person',
    done: 'waiting for a second person',
    said: 'asked for: a second person has to waive it too',
    record: 'ask for waivers',
  },
  waiver_refused: {
    will: 'will be open still, the waiver refused',
    done: 'open still, the waiver refused',
    said: 'the waiver that was asked for is refused: the break stays open',
    record: 'refuse waivers',
  },
  waiver_taken_back: {
    will: 'will be open still, the request for a waiver taken back',
    done: 'open still, the request for a waiver taken back',
    said: 'the request for a waiver is taken back: the break stays open',
    record: 'take back requests for waivers',
    event: 'waiver_refused',
  },
  reopened: {
    ...{ will: 'will be open again', done: 'open again', said: 'open again' },
    record: 'reopen breaks',
  },
} as const satisfies Record<string, OutcomeWords>;
export type BreakOutcome = keyof typeof OUTCOMES;

const ORDER: readonly string[] = Object.keys(OUTCOMES);

export function outcomeWords(outcome: BreakOutcome): OutcomeWords {
  return OUTCOMES[outcome];
}

/** "30 waived: 27,000.00 EUR"; `isDone` false: it only would be so. */
export function outcomeText(
  outcome: BreakOutcome,
  count: number,
  sum: MoneySum,
  isDone = true,
): string {
  const { done, will } = OUTCOMES[outcome];
  return withSum(`${countText(count)} ${isDone ? done : will}`, sum);
}

/** What the trail calls it. */
export function eventOf(kind: string): string {
  return isChange(kind) ? (outcomeWords(kind).event ?? kind) : kind;
}

/** Whether anything changes by it; else it is refused, or so already. */
export function isChange(kind: string): kind is BreakOutcome {
  return ORDER.includes(kind);
}

/** Of verdicts, what changes, each once and in order. */
export function changesIn(kinds: Iterable<string>): BreakOutcome[] {
  const known = [...new Set(kinds)].filter(isChange);
  return known.sort((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other));
}

/** "waive breaks, ask for waivers"; `otherwise` where nothing was done. */
export function recordWords(kinds: Iterable<string>, otherwise: string): string {
  return (
    changesIn(kinds)
      .map((kind) => outcomeWords(kind).record)
      .join(', ') || otherwise
  );
}

/** One of a break, with both sides as they stood then. */
export interface Said {
  readonly event: string;
  readonly by: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * The events of a break as people say them, oldest first: who asked for a waiver and ends that has
 * refused nothing, and who waives what another asked for has agreed. The one home of who had asked:
 * only a decision ends an asking. A break that went away, or said something else, and is back as it
 * was asked for still waits for its second person; of one that says something else nobody agreed.
 */
export function eventLabels(events: readonly Said[]): string[] {
  let asked: Said | null = null;
  return events.map((one) => {
    const label = labelOf(asked === null ? one.event : saidTo(asked, one));
    if (one.event === 'waiver_asked') asked = one;
    else if (endsAsking(one.event)) asked = null;
    return label;
  });
}

/** Every word that an event may be called by, by its code: for a search. */
export function eventWords(): Record<string, string> {
  const words: Record<string, string> = {};
  for (const outcome of changesIn(ORDER)) {
    const event = eventOf(outcome);
    words[event] = [words[event] ?? [], labelOf(outcome)].flat().join(', ');
  }
  return words;
}

/** Whether what it is called depends on who had asked for a waiver. */
export function endsAsking(event: string): boolean {
  return event === 'waived' || event === 'waiver_refused';
}

function saidTo(asked: Said, { event, by, expected, actual }: Said): string {
  const isOwn = isSamePerson(asked.by, by);
  if (event === 'waiver_refused') return isOwn ? 'waiver_taken_back' : event;
  const isAgreed = event === 'waived' && !isOwn && sidesOf(asked) === sidesOf({ expected, actual });
  return isAgreed ? 'waiver_agreed' : event;
}

/** The database gives the keys of both sides in one order. */
function sidesOf({ expected, actual }: Pick<Said, 'expected' | 'actual'>): string {
  return JSON.stringify([expected, actual]);
}
