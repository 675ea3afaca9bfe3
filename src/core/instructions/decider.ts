// Who decides, and the words a decision may carry: for breaks as for instructions. A name from the
// command line is a claim, one from the console was logged in. Pure.

import type { Proof } from '../decisions/decisionKeys.js';

export interface Decider {
  readonly name: string;
  readonly isClaim: boolean;
  /** What is signed in that name; none: no key is configured, or tieout itself decides. */
  readonly proof?: Proof | null;
}

/** No person: what follows from a rule. */
export const TIEOUT: Decider = { name: 'tieout', isClaim: false };

/** The name as it is told: of one that nobody checked it is said. */
export function nameLabel(name: string, isClaim: boolean): string {
  return isClaim ? `${name} (as said on the command line)` : name;
}

/** What is kept where a decision about no order in particular was made without saying why. */
export const NO_REASON = 'no reason given';

/** Longest note, reason or reference. */
export const WORDS_MAX = 1_000;

/** Why a text cannot be taken as somebody's name, note or reason; null: it can. */
export function wordsProblem(text: string): string | null {
  if (text.trim() === '') return 'must not be empty';
  if (text.length > WORDS_MAX) return `is longer than ${WORDS_MAX} characters`;
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text.replaceAll('\n', ' '))) {
    return 'has a control character';
  }
  return null;
}

/** One person under two spellings is one person; the database compares the same way. */
export function isSamePerson(one: string, other: string): boolean {
  return plainName(one) === plainName(other);
}

/** Case, blanks, characters that look alike and those that nobody sees make no other person. */
function plainName(name: string): string {
  const seen = name.normalize('NFKC').replace(/[\p{DI}\u2800]|(?!\s)\p{Cc}/gu, '');
  return seen.trim().replace(/\s+/g, ' ').toLowerCase();
}
