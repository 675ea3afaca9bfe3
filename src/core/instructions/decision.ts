// What people may decide about an instruction, as data: which decision fits which state, and who
// has to be another person; why an instruction waits is in holdReasons.ts. The guards in the
// database hold the same rows; a test compares them. Pure: it reads no clock and asks nobody.

import { stateLabel } from '../text/labels.js';
import type { Decider } from './decider.js';
import { isSamePerson } from './decider.js';
import type { HoldReason } from './holdReasons.js';
import { isApprovable, isApprovedAlone, notApprovable } from './holdReasons.js';
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

/** What a plan asks of an instruction by what may have been made before, and says first. */
export const OUTLIVES_APPROVAL: readonly HoldReason[] = [
  'by_hand',
  'disputed',
  'fraud_rejected',
  'moved_already',
  'over_captured',
  'restored',
  'second_capture',
  'shared_refund',
  'shared_transaction',
  'twin_request',
];

/** Why it waits, once its approval has lapsed: for what somebody had to look up, it does again. */
export function leftBy(lapse: ApprovalLapse, approvedFor: string | null): HoldReason {
  return OUTLIVES_APPROVAL.find((reason) => reason === approvedFor) ?? lapse;
}

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
  /** of what is seen, and of why it waits */
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

/**
 * Why this person may not decide this now; null: it is theirs to decide. `isAlone`: they have its
 * own sheet before them, and decide about nothing else with it.
 */
export function refusalOf(
  decision: DecisionKind,
  who: Decider,
  facts: Decidable,
  seen: string | null,
  isAlone = false,
): Refusal | null {
  const possible = DECIDABLE_STATES[decision];
  if (!possible.includes(facts.state)) return { kind: 'wrong_state', state: facts.state, possible };
  if (facts.state === 'accepted' && !facts.isPending) return { kind: 'answered' };
  if (seen !== null && (seen.length < SEEN_CHARS_MIN || !facts.seenSha256.startsWith(seen))) {
    return { kind: 'changed_since_seen', seen: facts.seenSha256 };
  }
  if (decision === 'approve') return refusalOfApproval(who, facts, seen !== null, isAlone);
  return decision === 'replan' ? refusalOfReplan(who, facts) : null;
}

function refusalOfApproval(
  who: Decider,
  { holdReason, askedBy, hasDispute }: Decidable,
  wasSeen: boolean,
  isAlone: boolean,
): Refusal | null {
  if (!isApprovable(holdReason)) return { kind: 'not_approvable', holdReason: holdReason ?? '' };
  if (askedBy.some((name) => isSamePerson(name, who.name))) return { kind: 'asked_by_same_person' };
  if (isApprovedAlone(holdReason) && !(wasSeen && isAlone)) return { kind: 'unseen' };
  return !wasSeen && hasDispute && holdReason !== 'disputed' ? { kind: 'unseen_dispute' } : null;
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

/** Why a decision was not taken, for the person who wanted it. */
export function refusalWords(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'wrong_state':
      return (
        `it is ${stateLabel(refusal.state)}; this can be decided only while it is ` +
        refusal.possible.map(stateLabel).join(', ')
      );
    case 'answered':
      return 'the gateway said that it is done: the next look confirms it, or makes it unknown';
    case 'not_approvable':
      return notApprovable(refusal.holdReason);
    case 'asked_by_same_person':
      return 'who asked for it, had it planned again, or found it not made cannot approve it';
    case 'unseen':
      return (
        'it was sent before the database came back, or may have been: look for it in the ' +
        'merchant portal, and approve it by itself on its own page, or with the digest that ' +
        '`tieout instructions show` prints (--seen)'
      );
    case 'unseen_dispute':
      return (
        'the payment is disputed, which was not known when this began to wait: look at its ' +
        'sheet, and approve it with the digest that stands there (--seen)'
      );
    case 'second_person_needed':
      return 'who found that it did not happen cannot have it planned again: a second person must';
    case 'changed_since_seen':
      return (
        'it is no longer what you saw, or waits for another reason: look again at its page, or ' +
        `in a workbook written since, and decide there (now ${refusal.seen.slice(0, 12)})`
      );
    case 'superseded':
      return 'a later instruction stands in its place';
    case 'replanned_already':
      return 'it is to be planned again already';
  }
}
