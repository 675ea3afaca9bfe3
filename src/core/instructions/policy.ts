// What the merchant lets go without a person, for each operation: the settings as they are kept
// with a run, and whether they let one movement go. plan.sql asks the same of whole sets; a test
// holds the two equal. The claim of a batch asks here once more, since settings change while
// something waits. Neighbours: decision.ts has the words, instructions/policies.ts reads the
// settings.

import type { Hundredths } from '../money.js';
import { parseAmount } from '../money.js';
import type { InstructionOperation } from '../orders/order.js';
import { INSTRUCTION_OPERATIONS } from '../orders/order.js';
import type { ApprovalLapse } from './decision.js';
import type { HoldReason } from './holdReasons.js';

/** What the merchant allows for an operation; amounts by currency as text. */
export interface Policy {
  operation: InstructionOperation;
  policy: 'auto' | 'approve' | 'off';
  above: Record<string, string> | null;
  maxCount: number | null;
  maxAmount: Record<string, string> | null;
}

/** The operations as view.ts describes them, today's or those of a run. */
export interface RecordedOperations {
  mode: Record<InstructionOperation, Policy['policy']>;
  approveAbove: Record<InstructionOperation, Record<string, string> | null>;
  maxPerRun: Record<
    InstructionOperation,
    { count: number | null; amount: Record<string, string> } | null
  >;
}

export function policiesOf({ mode, approveAbove, maxPerRun }: RecordedOperations): Policy[] {
  return INSTRUCTION_OPERATIONS.map((operation) => ({
    operation,
    policy: mode[operation],
    above: approveAbove[operation],
    maxCount: maxPerRun[operation]?.count ?? null,
    maxAmount: maxPerRun[operation]?.amount ?? null,
  }));
}

/** A movement as far as a policy asks about it. */
export interface Wanted {
  money: Hundredths;
  currency: string;
  /** false: a payout whose unit nobody knows, so that no limit can be kept */
  isInTotals: boolean;
  /** payouts: what leaves the payer's account; money null: nobody knows how much that is */
  source?: { money: Hundredths | null; currency: string } | null | undefined;
}

/** Why a policy does not let it go without a person; null: it does. */
export function heldBy({ policy, above }: Policy, wanted: Wanted): HoldReason | null {
  if (policy !== 'auto' || !wanted.isInTotals) return 'approval';
  if (above === null) return null;
  const sides = [wanted, ...(wanted.source ? [wanted.source] : [])];
  const isAbove = sides.some(({ money, currency }) => {
    const limit = amountIn(above, currency);
    return limit === null || money === null || money > limit;
  });
  return isAbove ? 'above_limit' : null;
}

/**
 * The same right before the claim. `planned` are the settings of the account's newest run: whoever
 * sends may have older ones or newer ones, and nobody can tell, so that both have to let it go. A
 * limit of one run that is lower than the one the plan kept to was weighed by nobody.
 */
export function heldAtClaim(own: Policy, planned: Policy, wanted: Wanted): HoldReason | null {
  const held = heldBy(own, wanted) ?? heldBy(planned, wanted);
  if (held !== null) return held;
  const currencies = [wanted.currency, ...(wanted.source ? [wanted.source.currency] : [])];
  const isPast = currencies.some((currency) => isLower(own, planned, currency));
  return isPast ? 'over_limit_of_run' : null;
}

/**
 * A refund of disputed money goes only by an approval that still holds: what was seen names the
 * disputes, so that one from before them has lapsed.
 */
export function isUnseenDispute(refund: {
  hasDispute: boolean;
  isApproved: boolean;
  lapse: ApprovalLapse | null;
}): boolean {
  return refund.hasDispute && (!refund.isApproved || refund.lapse !== null);
}

/** What is history of an instruction, as the claim reads it (function `tieout.waits_still`). */
export interface OnRecord {
  /** the database came back since, and nobody approved it in sight of that */
  restored: boolean;
  freed: boolean;
  left_disputed: boolean;
}

/**
 * Why it waits by what is on record, whatever its row says: a plan holds it for just that, so that
 * the claim finds it only where somebody let it go behind the program's back.
 */
export function stillHeld(found: OnRecord): HoldReason | null {
  if (found.restored) return 'restored';
  if (found.left_disputed) return 'disputed';
  return found.freed ? 'newly_freed' : null;
}

function isLower(own: Policy, planned: Policy, currency: string): boolean {
  const amount = amountIn(own.maxAmount ?? {}, currency);
  const before = amountIn(planned.maxAmount ?? {}, currency);
  return isBelow(own.maxCount, planned.maxCount) || isBelow(amount, before);
}

/** null: no limit */
function isBelow<T extends number | bigint>(limit: T | null, before: T | null): boolean {
  return limit !== null && (before === null || limit < before);
}

function amountIn(amounts: Readonly<Record<string, string>>, currency: string): Hundredths | null {
  return Object.hasOwn(amounts, currency) ? parseAmount(amounts[currency] ?? '') : null;
}
