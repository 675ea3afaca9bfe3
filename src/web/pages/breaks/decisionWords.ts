// What a decision over many breaks is called on its page and its button. Where all of it comes to
// one thing it is called by that: a waiver that is refused reopens nothing, and one that waits for
// a second person is not waived yet. What was done is named by core/breaks/outcome.ts.

import type { BreakOutcome } from '../../../core/breaks/outcome.js';
import { changesIn } from '../../../core/breaks/outcome.js';

export const SET_VERBS = ['assign', 'waive', 'reopen'] as const;
export type SetVerb = (typeof SET_VERBS)[number];

interface DecisionWords {
  link: string;
  title: string;
  /** of those that were ticked */
  picked: string;
  button: string;
}

const WORDS: Readonly<Record<SetVerb, DecisionWords>> = {
  assign: {
    link: 'assign all',
    title: 'Assign all that match',
    picked: 'Assign what was picked',
    button: 'assign',
  },
  waive: {
    link: 'waive all',
    title: 'Waive all that match',
    picked: 'Waive what was picked',
    button: 'waive',
  },
  reopen: {
    link: 'reopen all',
    title: 'Reopen all that match, refuse waivers that wait',
    picked: 'Reopen what was picked',
    button: 'reopen',
  },
};

const AGREE: DecisionWords = {
  link: 'agree to all',
  title: 'Agree to all waivers that match',
  picked: 'Agree to the waivers that were picked',
  button: 'agree to',
};

const REFUSE: DecisionWords = {
  link: 'refuse all',
  title: 'Refuse all waivers that match',
  picked: 'Refuse the waivers that were picked',
  button: 'refuse',
};

/** Where all of it comes to this. */
const OUTCOME_WORDS: Readonly<Partial<Record<BreakOutcome, DecisionWords>>> = {
  waiver_agreed: AGREE,
  waiver_refused: REFUSE,
  waiver_asked: {
    link: WORDS.waive.link,
    title: 'Ask for a waiver of all that match',
    picked: 'Ask for a waiver of what was picked',
    button: 'ask for a waiver of',
  },
  waiver_taken_back: {
    link: REFUSE.link,
    title: 'Take back all requests for waivers that match',
    picked: 'Take back the requests for waivers that were picked',
    button: 'take back',
  },
};

/** Where only waivers that wait are chosen. */
const TRAY_WORDS: Readonly<Record<SetVerb, DecisionWords>> = {
  assign: WORDS.assign,
  waive: AGREE,
  reopen: REFUSE,
};

/** `kinds`: what becomes of each, where that is known. */
export function decisionWords(
  verb: SetVerb,
  isTray: boolean,
  kinds: Iterable<string> = [],
): DecisionWords {
  const [first, ...others] = changesIn(kinds);
  const only = first === undefined || others.length > 0 ? undefined : OUTCOME_WORDS[first];
  return only ?? (isTray ? TRAY_WORDS : WORDS)[verb];
}
