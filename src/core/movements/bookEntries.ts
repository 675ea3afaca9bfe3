// What the book of movements gains by one transaction that the gateway shows: the rule that
// docs/RECONCILIATION.md tells, one transaction at a time. What we made is booked by its
// instruction; here is what was made elsewhere, and what a later look puts right. An amount is
// never guessed: a part that was refunded elsewhere stands in suspense until a look, a request or
// a settlement line tells it. Pure.

import type { Hundredths } from '../money.js';
import type { GatewayState } from '../orders/order.js';

export type MovementKind = 'captured' | 'refunded';

export interface BookedMovement {
  movementId: string;
  kind: MovementKind;
  made: 'here' | 'elsewhere';
  currency: string;
  /** what is known of it by now; null: it stands in suspense */
  amount: Hundredths | null;
}

export interface ShownTransaction {
  state: GatewayState;
  currency: string;
  amount: Hundredths;
  /** what an instruction of the order may have made, and nobody knows: it may be ours */
  undecided: readonly MovementKind[];
  /** refund requests that count as done and were not paid by us, in sum */
  requested: Hundredths;
  /** of this transaction, oldest first */
  booked: readonly BookedMovement[];
}

export type BookEntry =
  | { what: 'new'; kind: MovementKind; amount: Hundredths | null }
  | { what: 'known'; movementId: string; amount: Hundredths | null; by: 'look' | 'request' };

const TAKEN: readonly GatewayState[] = ['captured', 'partially_refunded', 'refunded'];

export function bookEntries(shown: ShownTransaction): BookEntry[] {
  if (shown.undecided.includes('captured')) return [];
  const isOpen = shown.undecided.includes('refunded');
  const elsewhere = shown.booked.filter(({ made }) => made === 'elsewhere');
  if (!TAKEN.includes(shown.state)) return isOpen ? [] : elsewhere.flatMap(takenBack);
  const ours = shown.booked.find(({ kind, made }) => kind === 'captured' && made === 'here');
  // What we captured is known: another currency is the gateway's mistake, or a break of the order.
  if (ours && ours.currency !== shown.currency) return [];
  const foreign = elsewhere.filter(({ currency }) => currency !== shown.currency);
  // Whatever becomes of a refund of ours, what it was to give back had been captured.
  if (isOpen) {
    return [...foreign.filter(isCapture).flatMap(takenBack), ...captureEntries(shown, ours)];
  }
  return [
    ...foreign.flatMap(takenBack),
    ...captureEntries(shown, ours),
    ...refundEntries(shown, ours?.amount ?? shown.amount),
  ];
}

function isCapture({ kind }: BookedMovement): boolean {
  return kind === 'captured';
}

function captureEntries(shown: ShownTransaction, ours: BookedMovement | undefined): BookEntry[] {
  const theirs = shown.booked.find(
    ({ kind, made, currency }) =>
      kind === 'captured' && made === 'elsewhere' && currency === shown.currency,
  );
  if (ours) return theirs ? takenBack(theirs) : [];
  if (theirs === undefined) return [{ what: 'new', kind: 'captured', amount: shown.amount }];
  return nowKnown(theirs, shown.amount);
}

function refundEntries(shown: ShownTransaction, captured: Hundredths): BookEntry[] {
  const refunds = shown.booked.filter(
    ({ kind, currency }) => kind === 'refunded' && currency === shown.currency,
  );
  const elsewhere = refunds.filter(({ made }) => made === 'elsewhere');
  const newest = elsewhere.at(-1);
  // All but the newest of those made elsewhere: the one that a look can still say more of.
  const told = refunds.reduce((sum, one) => sum + (one === newest ? 0n : (one.amount ?? 0n)), 0n);
  switch (shown.state) {
    case 'captured':
      return elsewhere.flatMap(takenBack);
    case 'refunded':
      return refundedInFull(newest, captured - told);
    default:
      return refundedInPart(newest, told, captured, shown.requested);
  }
}

/** `rest` is what the newest one, and one more where it is known, have to make up. */
function refundedInFull(newest: BookedMovement | undefined, rest: Hundredths): BookEntry[] {
  const known = newest?.amount ?? 0n;
  const missing = rest - known;
  if (newest && (known === 0n || missing < 0n)) return nowKnown(newest, rest > 0n ? rest : 0n);
  return missing > 0n ? [{ what: 'new', kind: 'refunded', amount: missing }] : [];
}

function refundedInPart(
  newest: BookedMovement | undefined,
  told: Hundredths,
  captured: Hundredths,
  requested: Hundredths,
): BookEntry[] {
  const isRequested = requested > 0n && told + requested < captured;
  const amount = isRequested ? requested : null;
  const by = isRequested ? 'request' : 'look';
  if (newest?.amount === null) return isRequested ? nowKnown(newest, amount, by) : [];
  const known = newest?.amount ?? 0n;
  const isExplained = told + known > 0n && told + known < captured;
  if (isExplained) return [];
  // More than a part was booked, by mistake: what is told beside the newest may be all of it.
  if (told > 0n) return newest ? nowKnown(newest, 0n) : [];
  return newest ? nowKnown(newest, amount, by) : [{ what: 'new', kind: 'refunded', amount }];
}

/** It was shown by mistake, or is not what it was taken for. */
function takenBack(movement: BookedMovement): BookEntry[] {
  return nowKnown(movement, 0n);
}

function nowKnown(
  { movementId, amount: before }: BookedMovement,
  amount: Hundredths | null,
  by: 'look' | 'request' = 'look',
): BookEntry[] {
  return before === amount ? [] : [{ what: 'known', movementId, amount, by }];
}
