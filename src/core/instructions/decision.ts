// What people may decide about an instruction, as data: which decision fits which state, why an
// instruction waits and whether an approval helps, who has to be another person. The guards in the
// database hold the same rows; a test compares them. Pure: it reads no clock and asks nobody.

import type { Decider } from './decider.js';
import { isSamePerson } from './decider.js';
import type { InstructionState } from './instruction.js';

export const DECISION_KINDS = ['approve', 'reject', 'resolve', 'replan'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/** The states in which each can be decided; elsewhere it comes too early or too late. */
const DECIDABLE_STATES: Record<DecisionKind, readonly InstructionState[]> = {
  approve: ['held'],
  reject: ['planned', 'held', 'queued'],
  // Accepted: a payout that is not done yet, and of nothing else.
  resolve: ['unknown', 'accepted'],
  replan: ['rejected', 'withdrawn'],
};

/** An approval that was not used by then is asked for again. */
export const APPROVAL_DAYS = 7;

const APPROVAL_LAPSES = ['approval_expired', 'approval_void'] as const;
export type ApprovalLapse = (typeof APPROVAL_LAPSES)[number];

interface HoldRule {
  isApprovable: boolean;
  words: string;
  /** what decides about it, for who may change that */
  setting?: string;
}

/** Why an instruction waits for a person, in words; and whether an approval lets it go. */
export const HOLD_REASONS = {
  observed: {
    isApprovable: false,
    words: 'the account is only observed: nothing is sent for it now',
    setting: 'liveFrom',
  },
  no_history: {
    isApprovable: false,
    words: 'the account is live for days, yet the database knows no earlier run of it',
    setting: 'liveFrom',
  },
  partial_capture: {
    isApprovable: false,
    words: 'less than was authorised: not allowed by configuration',
    setting: 'partialCapture in the profile',
  },
  invalid_payout: {
    isApprovable: false,
    words: 'the request lacks what a payout needs, or its shape',
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
    words: 'another request was paid or refused, and this may be the same one by another number',
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

/** What no approval frees, only the setting that holds it. */
export const NOT_APPROVABLE: readonly string[] = Object.entries(HOLD_REASONS).flatMap(
  ([name, { isApprovable }]) => (isApprovable ? [] : [name]),
);

/** What a person says the gateway really did with an unknown instruction. */
export const FINDINGS = ['happened', 'not_happened'] as const;
export type Finding = (typeof FINDINGS)[number];

/** What a decision needs to know of the instruction it is about. */
export interface Decidable {
  state: InstructionState;
  operation: string;
  holdReason: string | null;
  /** who asked for it, or had it planned again */
  askedBy: readonly string[];
  /** who proved that it did not happen; null: nobody did */
  disprovedBy: string | null;
  /** a person wants it planned again already */
  isReplanned: boolean;
  /** there is a later one for the same need, or an open one for the order */
  isSuperseded: boolean;
  /** a refund of money that was taken back already, or may be */
  hasDispute: boolean;
  /** a payout that the gateway took and has not done yet */
  isPending: boolean;
  seenSha256: string;
}

export type Refusal =
  | { kind: 'wrong_state'; state: InstructionState; possible: readonly InstructionState[] }
  | { kind: 'answered' }
  | { kind: 'not_approvable'; holdReason: string }
  | { kind: 'asked_by_same_person' }
  | { kind: 'unseen' }
  | { kind: 'unseen_dispute' }
  | { kind: 'second_person_needed' }
  | { kind: 'changed_since_seen'; seen: string }
  | { kind: 'superseded' }
  | { kind: 'replanned_already' };

/** Shortest beginning of a digest that still names what was seen. */
const SEEN_CHARS_MIN = 8;

/** Why this person may not decide this now; null: it is theirs to decide. */
export function refusalOf(
  decision: DecisionKind,
  who: Decider,
  facts: Decidable,
  seen: string | null,
): Refusal | null {
  const possible = DECIDABLE_STATES[decision];
  if (!possible.includes(facts.state)) return { kind: 'wrong_state', state: facts.state, possible };
  if (facts.state === 'accepted' && !facts.isPending) return { kind: 'answered' };
  if (seen !== null && (seen.length < SEEN_CHARS_MIN || !facts.seenSha256.startsWith(seen))) {
    return { kind: 'changed_since_seen', seen: facts.seenSha256 };
  }
  if (decision === 'approve') return refusalOfApproval(who, facts, seen !== null);
  return decision === 'replan' ? refusalOfReplan(who, facts) : null;
}

function refusalOfApproval(
  who: Decider,
  { holdReason, askedBy, hasDispute }: Decidable,
  wasSeen: boolean,
): Refusal | null {
  if (!isApprovable(holdReason)) return { kind: 'not_approvable', holdReason: holdReason ?? '' };
  if (askedBy.some((name) => isSamePerson(name, who.name))) return { kind: 'asked_by_same_person' };
  if (wasSeen) return null;
  if (holdReason === 'restored') return { kind: 'unseen' };
  return hasDispute && holdReason !== 'disputed' ? { kind: 'unseen_dispute' } : null;
}

function refusalOfReplan(who: Decider, facts: Decidable): Refusal | null {
  if (facts.isReplanned) return { kind: 'replanned_already' };
  if (facts.isSuperseded) return { kind: 'superseded' };
  if (!NEEDS_TWO.has(facts.operation) || facts.disprovedBy === null) return null;
  return isSamePerson(facts.disprovedBy, who.name) ? { kind: 'second_person_needed' } : null;
}

const BEFORE_SENDING: ReadonlySet<string> = new Set(['held', 'planned', 'queued']);

/** Whether an approval, or its end, still decides what becomes of it. */
export function isUndecided(state: string): boolean {
  return BEFORE_SENDING.has(state);
}

/** Money that leaves: "it did not happen, send it again" takes two people. */
const NEEDS_TWO: ReadonlySet<string> = new Set(['refund', 'payout']);

export function isApprovable(reason: string | null): boolean {
  return reason !== null && HOLD_REASONS[reason as HoldReason]?.isApprovable === true;
}

/** Why a decision was not taken, for the person who wanted it. */
export function refusalWords(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'wrong_state':
      return `it is ${refusal.state}; this can be decided only while it is ${refusal.possible.join(
        ', ',
      )}`;
    case 'answered':
      return 'the gateway said that it is done: the next look confirms it, or makes it unknown';
    case 'not_approvable':
      return `no approval helps: ${holdLabel(refusal.holdReason)}`;
    case 'asked_by_same_person':
      return 'who asked for it, or had it planned again, cannot approve it';
    case 'unseen':
      return (
        'it was sent before the database came back, or may have been: look for it in the ' +
        'merchant portal, and approve it by itself with the digest that its sheet shows (--seen)'
      );
    case 'unseen_dispute':
      return (
        'the payment is disputed, which was not known when this began to wait: look at its ' +
        'sheet, and approve it with the digest that stands there (--seen)'
      );
    case 'second_person_needed':
      return 'who found that it did not happen cannot have it planned again: a second person must';
    case 'changed_since_seen':
      return `it is no longer what you saw; look again (now ${refusal.seen.slice(0, 12)})`;
    case 'superseded':
      return 'a later instruction stands in its place';
    case 'replanned_already':
      return 'it is to be planned again already';
  }
}

/** With the setting that decides about it. */
export function holdLabel(reason: string): string {
  const rule: HoldRule | undefined = HOLD_REASONS[reason as HoldReason];
  if (rule === undefined) return reason;
  return rule.setting === undefined ? rule.words : `${rule.words} (${rule.setting})`;
}

/** The same for who approves, without names of settings. */
export function holdWords(reason: string): string {
  return HOLD_REASONS[reason as HoldReason]?.words ?? reason;
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  planned: 'planned, not yet on its way',
  queued: 'on its way: sent by a worker or the next run',
  sending: 'being sent',
  accepted: 'accepted by the gateway, not yet shown by it',
  rejected: 'refused by the gateway: see its message',
  unknown: 'sent, outcome unknown: a person has to find out',
};

/** What an instruction waits for, and whose turn it is; empty where nothing waits. */
export function reasonToWait(state: string, holdReason: string): string {
  if (holdReason === '') return STATE_WORDS[state] ?? '';
  const turn = isApprovable(holdReason) ? ': look, then approve' : '';
  return `${holdLabel(holdReason)}${turn}`;
}
