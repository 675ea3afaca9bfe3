// Why an instruction is held, in words, and whether an approval frees it: the one table. The rule
// that gives a reason is policy.ts, or the set statement of the step that holds. Pure.

interface HoldRule {
  isApprovable: boolean;
  words: string;
  /** what decides about it, for who may change that */
  setting?: string;
  /** of what no approval frees: what frees it, and whether to reject it is another way out */
  freedBy?: string;
  mayReject?: boolean;
}

/** Why an instruction waits for a person, in words; and whether an approval lets it go. */
export const HOLD_REASONS = {
  observed: {
    isApprovable: false,
    words: 'the account is only observed: nothing is sent for it now',
    setting: 'liveFrom',
    freedBy: 'liveFrom, which an operator sets when tieout is to act',
  },
  no_history: {
    isApprovable: false,
    words: 'the account is live for days, yet the database knows no earlier run of it',
    setting: 'liveFrom',
    freedBy:
      'the database restored from its backup, since it may have been paid before; only where ' +
      'this is a new installation, liveFrom set anew by an operator',
  },
  partial_capture: {
    isApprovable: false,
    words: 'less than was authorised: not allowed by configuration',
    setting: 'partialCapture in the profile',
    freedBy: 'partialCapture in the profile, which an operator changes',
    mayReject: true,
  },
  operation_off: {
    isApprovable: false,
    words: 'its operation is off: nothing of it is sent, approved or not',
    setting: 'operations',
    freedBy: 'operations in tieout.yaml, where an operator sets its operation to another word',
    mayReject: true,
  },
  invalid_payout: {
    isApprovable: false,
    words: 'the request lacks what a payout needs, or its shape',
    freedBy:
      'a corrected request in the ledger, or none where it is paid already or another account ' +
      'has it: its page says which',
    mayReject: true,
  },
  fraud_rejected: { isApprovable: true, words: 'the fraud check of the order says REJECT' },
  approval: { isApprovable: true, words: 'the operation needs approval' },
  above_limit: {
    isApprovable: true,
    words: 'above the limit, or no limit is set for its currency, so that each waits',
    setting: 'operations.approveAbove',
  },
  over_limit_of_run: {
    isApprovable: true,
    words: 'past the limits of one run',
    setting: 'operations.maxPerRun',
  },
  approval_expired: { isApprovable: true, words: 'its approval has expired' },
  approval_void: { isApprovable: true, words: 'something changed since it was approved' },
  newly_freed: {
    isApprovable: true,
    words: 'a setting that has changed would let it go, and nobody has seen that yet',
  },
  second_capture: {
    isApprovable: true,
    words: 'the order was captured already, by another transaction',
  },
  moved_already: {
    isApprovable: true,
    words: 'we captured or cancelled this transaction, and the gateway shows it as reserved again',
  },
  shared_refund: {
    isApprovable: true,
    words: 'another order or account has a refund of the same transaction',
  },
  shared_transaction: {
    isApprovable: true,
    words: 'another order or account has a movement of the same transaction',
  },
  by_hand: {
    isApprovable: true,
    words: 'a person did this at the gateway by hand, or may have',
  },
  twin_request: {
    isApprovable: true,
    words: 'it was paid or refused before, or another one that may be the same by another number',
  },
  over_captured: {
    isApprovable: true,
    words: 'more would go back than we captured of the transaction',
  },
  disputed: {
    isApprovable: true,
    words: 'the cardholder disputes the payment, or has taken it back: a refund would pay twice',
  },
  not_signed: {
    isApprovable: true,
    words: 'a decision that lets it go bears no signature of tieout: nobody may have made it',
  },
  restored: {
    isApprovable: true,
    words: 'the database came back from a backup: this was sent before, or may have been',
  },
} as const satisfies Record<string, HoldRule>;
export type HoldReason = keyof typeof HOLD_REASONS;

/** What no approval frees. */
export const NOT_APPROVABLE: readonly string[] = Object.entries(HOLD_REASONS).flatMap(
  ([name, { isApprovable }]) => (isApprovable ? [] : [name]),
);

export function isApprovable(reason: string | null): boolean {
  return reason !== null && HOLD_REASONS[reason as HoldReason]?.isApprovable === true;
}

/**
 * What a decision has to look up stands on its own sheet alone; a list or a workbook shows none of
 * it, so that nobody approves several together.
 */
export function isApprovedAlone(reason: string | null): boolean {
  return reason === 'restored';
}

/** With the setting that decides about it. */
export function holdLabel(reason: string): string {
  const rule: HoldRule | undefined = HOLD_REASONS[reason as HoldReason];
  if (rule === undefined) return reason;
  return rule.setting === undefined ? rule.words : `${rule.words} (${rule.setting})`;
}

/** With what it waits for once it is approved for that. */
export function holdLabels(reason: string, next: string | null): string {
  const then = next === null ? '' : `; approved for that, it waits again: ${holdLabel(next)}`;
  return `${holdLabel(reason)}${then}`;
}

/** The same for who approves, without names of settings. */
export function holdWords(reason: string): string {
  return HOLD_REASONS[reason as HoldReason]?.words ?? reason;
}

/** What frees one that no approval frees; `orReject` where to reject it is another way out. */
export function freedBy(reason: string, orReject: string): string {
  const rule: HoldRule | undefined = HOLD_REASONS[reason as HoldReason];
  const frees = rule?.freedBy ?? 'what its page names';
  return rule?.mayReject === true ? `${frees}; or ${orReject}` : frees;
}

/** Why it cannot be approved, and what can be done. */
export function notApprovable(reason: string, orReject = 'reject it'): string {
  const frees = `What frees it is ${freedBy(reason, orReject)}`;
  return `no approval frees it: ${holdWords(reason)}. ${frees}`;
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  planned: 'planned, not yet on its way',
  queued: 'on its way: sent by a worker or the next run',
  sending: 'being sent',
  accepted: 'accepted by the gateway, not yet shown by it',
  rejected: 'refused by the gateway: see its message',
  unknown: 'sent, outcome unknown: a person has to find out',
};

/** The state of an instruction that waits; of a held one, whether an approval frees it. */
export function waitingState(state: string, holdReason: string | null): string {
  if (state !== 'held') return state;
  return NOT_APPROVABLE.includes(holdReason ?? '') ? 'held by a setting' : 'waiting for approval';
}

/** What an instruction waits for, and whose turn it is; empty where nothing waits. */
export function reasonToWait(state: string, holdReason: string): string {
  if (holdReason === '') return STATE_WORDS[state] ?? '';
  const turn = isApprovable(holdReason) ? ': look, then approve' : '';
  return `${holdLabel(holdReason)}${turn}`;
}
