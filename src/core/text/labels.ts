// Codes as people say them: kinds of break, states, causes. For sentences and sheets only;
// what programs read (CSV, NDJSON, JSON, the database) keeps the codes. Pure data and lookups, no
// rule is decided here. Neighbours: summary.ts (the run's sentence), reports/columns.ts.

import { moneyIn } from './amounts.js';

/** `amount_mismatch` is "amount mismatch", `notCompared` "not compared"; some have other words. */
export function labelOf(code: string): string {
  const words = WORDS[code];
  if (words !== undefined) return words;
  return code
    .replaceAll('_', ' ')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const WORDS: Readonly<Record<string, string>> = {
  missing_at_gateway: 'not at the gateway',
  missing_in_ledger: 'not in the ledger',
  unknown_status: 'new status code',
  invalid_record: 'entry that cannot be read',
  waiver_agreed: 'waived as the second person',
  waiver_taken_back: 'request for a waiver taken back',
};

/** A state as people say it: of a run and an account `broken` is what did not tie out. */
export function stateLabel(state: string): string {
  return STATES[state] ?? labelOf(state);
}

const STATES: Readonly<Record<string, string>> = {
  broken: 'did not tie out',
  // Where its reason is not at hand; with it waitingState of holdReasons.ts says which of the two.
  held: 'waiting for approval or held by a setting',
  waiver_asked: 'waits for a second person',
};

/** A class of orders as people say it: `broken` is what differs. */
export function classLabel(name: string): string {
  return name === 'broken' ? 'differs' : labelOf(name);
}

/** Text that may name states of the gateway, with those in words; all else stays as it is. */
export function labelStates(text: string): string {
  return text.replace(/\b(?:in_review|partially_refunded)\b/g, labelOf);
}

/** A dispute, or a chargeback of a settlement, as it is named beside a refund of the same money. */
export function disputeText(one: {
  disputeId: string | null;
  batch?: string | null;
  stage: string | null;
  amount: string | null;
  currency: string | null;
}): string {
  const money = one.amount === null ? 'no amount' : moneyIn(one.amount, one.currency);
  if (one.batch) {
    return `${labelOf(one.stage ?? '')} in batch ${one.batch}, line ${one.disputeId}: ${money}`;
  }
  return `dispute ${one.disputeId ?? '(no number)'}: ${one.stage ?? 'no stage'}, ${money}`;
}

/** By what a break went away. */
export function causeLabel(cause: string): string {
  return CAUSES[cause] ?? labelOf(cause);
}

const CAUSES: Readonly<Record<string, string>> = {
  instruction: 'what we sent was confirmed',
  decision: 'a person said what became of what we sent',
  outside: 'the gateway changed without us',
  ledger: 'the ledger changed',
  tolerance: 'the difference is within the tolerance now',
  gone: 'the gateway has it no more',
  other_break: 'another break stands in its place',
  settlement: "the acquirer's lines and the movements agree now",
  rules: 'neither side changed: the settings, the profile or the clock did',
};
