// What the gateway said of an order that was looked at. Only what was asked and answered may be
// called missing; everything else has a name of its own. Pure: the words and their figures.

import { countText } from '../text/amounts.js';

const COVERAGES = [
  'answered',
  'no_entry',
  'twice_same',
  'twice_different',
  'other_result',
  'unanswered',
  'not_asked',
  'unasked',
] as const;
export type Coverage = (typeof COVERAGES)[number];

/** Orders of one account by what was said of them; one answered twice is answered, too. */
export interface CoverageFigures {
  /** by number, or by a walk that would have shown them */
  asked: number;
  /** asked, and the gateway has at least one entry */
  answered: number;
  /** asked, and the answer, complete, holds no such order */
  noEntry: number;
  /** asked, and the page has no answer */
  unanswered: number;
  /** of the ledger, and cannot be asked for */
  notAsked: number;
  /** answered more than once: equal entries count once, others are not compared */
  twiceSame: number;
  twiceDifferent: number;
  /** answered with a query_result that says of none that it was found; absent: of none */
  otherResult?: number;
  /** came without being asked for */
  unasked: number;
}

const WORDS: Readonly<Record<Coverage, string>> = {
  answered: 'asked and answered',
  no_entry: 'asked and answered: the gateway has no such order',
  twice_same: 'answered twice, the same: counts once',
  twice_different: 'answered twice, differently: not compared',
  other_result: 'answered with a query_result that is none of query.found: not compared',
  unanswered: 'asked, not answered: not compared',
  not_asked: 'not asked: not compared',
  unasked: 'answered without being asked',
};

export function coverageLabel(coverage: Coverage): string {
  return WORDS[coverage];
}

/** When in a night the gateway was asked, in words. */
export function lookLabel(kind: string): string {
  return LOOKS[kind] ?? kind;
}

const LOOKS: Readonly<Record<string, string>> = {
  night: 'at its beginning',
  confirm: 'after sending',
  fresh: 'before sending what was approved',
};

/** One line for all of an account: "1230 answered, 4 without an entry, 0 unanswered ...". */
export function coverageText(figures: CoverageFigures): string {
  const parts: [number, string][] = [
    [figures.noEntry, 'answered: no such order'],
    [figures.unanswered, 'NOT answered'],
    [figures.notAsked, 'cannot be asked'],
    [figures.twiceSame, 'answered twice, the same'],
    [figures.twiceDifferent, 'answered twice, differently'],
    [figures.otherResult ?? 0, 'answered with a query_result that is none of query.found'],
    [figures.unasked, 'came unasked'],
  ];
  return [
    `${figures.asked} asked`,
    `${figures.answered} answered with an entry`,
    ...parts.filter(([count]) => count > 0).map(([count, words]) => `${countText(count)} ${words}`),
  ].join(', ');
}
