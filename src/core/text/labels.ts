// Codes as people say them: kinds of break, states, reasons to wait. For sentences and sheets only;
// what programs read (CSV, NDJSON, JSON, the database) keeps the codes. Pure data and lookups, no
// rule is decided here. Neighbours: summary.ts (the run's sentence), reports/columns.ts.

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
};

/** A state as people say it: of a run and an account `broken` is what did not tie out. */
export function stateLabel(state: string): string {
  return state === 'broken' ? 'did not tie out' : labelOf(state);
}

/** Text that may name states of the gateway, with those in words; all else stays as it is. */
export function labelStates(text: string): string {
  return text.replace(/\b(?:in_review|partially_refunded)\b/g, labelOf);
}

/** Why an instruction waits, for the person whose turn it is; empty where nothing waits. */
export function reasonToWait(state: string, holdReason: string): string {
  if (holdReason !== '') return HOLD_REASONS[holdReason] ?? labelOf(holdReason);
  return STATE_REASONS[state] ?? '';
}

/** A dispute, or a chargeback of a settlement, as it is named beside a refund of the same money. */
export function disputeText(one: {
  disputeId: string | null;
  batch?: string | null;
  stage: string | null;
  amount: string | null;
  currency: string | null;
}): string {
  const money = `${one.amount ?? 'no amount'} ${one.currency ?? ''}`.trim();
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
  outside: 'the gateway changed without us',
  ledger: 'the ledger changed',
  tolerance: 'the difference is within the tolerance now',
  gone: 'the gateway has it no more',
  other_break: 'another break stands in its place',
  settlement: "the acquirer's lines and the movements agree now",
  rules: 'neither side changed: the settings, the profile or the clock did',
};

const HOLD_REASONS: Readonly<Record<string, string>> = {
  approval: 'waiting for approval',
  above_limit:
    'above the limit, or no limit is set for its currency, so that each waits ' +
    '(operations.approveAbove)',
  over_limit_of_run: 'past the limit of this run: waiting for approval (operations.maxPerRun)',
  newly_freed: 'a changed setting would let it go: waits until somebody has seen it',
  partial_capture:
    'less than was authorised: not allowed by configuration (partialCapture in the profile)',
  observed: 'the account is only observed: nothing is sent for it now (liveFrom)',
  second_capture: 'the order was captured already, by another transaction: look, then approve',
  moved_already: 'captured or cancelled by us, yet shown as reserved: look, then approve',
  shared_refund: 'another order or account has a refund of this transaction: look, then approve',
  shared_transaction: 'another order or account moves this transaction, too: look, then approve',
  by_hand: 'done at the gateway by hand, or may have been: look, then approve',
  over_captured: 'more would go back than we captured: look, then approve',
  twin_request:
    'it may be a request that was paid, or that the gateway refused: look, then approve',
  disputed: 'the payment is disputed, or was taken back: look at the dispute, then approve',
  not_signed: 'a decision about it is not signed by tieout: find out who made it, then approve',
  restored: 'the database came back from a backup: this was sent before, or may have been',
  no_history: 'the account is live for days, yet the database knows no earlier run (liveFrom)',
};

const STATE_REASONS: Readonly<Record<string, string>> = {
  planned: 'planned, not yet on its way',
  queued: 'on its way: sent by a worker or the next run',
  sending: 'being sent',
  accepted: 'accepted by the gateway, not yet shown by it',
  rejected: 'refused by the gateway: see its message',
  unknown: 'sent, outcome unknown: a person has to find out',
};
