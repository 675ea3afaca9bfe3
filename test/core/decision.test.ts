// Which decision fits what: the rules of core/instructions/decision.ts as tables, worked out from the contract.

import { describe, expect, test } from 'vitest';
import { isSamePerson } from '../../src/core/instructions/decider.js';
import type { Decidable, DecisionKind } from '../../src/core/instructions/decision.js';
import { DECISION_KINDS, refusalOf, refusalWords } from '../../src/core/instructions/decision.js';
import { HOLD_REASONS } from '../../src/core/instructions/holdReasons.js';
import { INSTRUCTION_STATES } from '../../src/core/instructions/instruction.js';
import { nextStep } from '../../src/core/instructions/nextStep.js';

const SEEN = 'a'.repeat(64);
const ANNA = { name: 'Anna', isClaim: true };

function facts(changes: Partial<Decidable> = {}): Decidable {
  return {
    state: 'held',
    operation: 'refund',
    holdReason: 'approval',
    askedBy: [],
    disprovedBy: null,
    isReplanned: false,
    isSuperseded: false,
    hasDispute: false,
    isPending: false,
    seenSha256: SEEN,
    ...changes,
  };
}

function kindOf(
  decision: DecisionKind,
  changes: Partial<Decidable>,
  seen: string | null = null,
  isAlone = true,
) {
  return refusalOf(decision, ANNA, facts(changes), seen, isAlone)?.kind ?? 'may';
}

describe('each decision has its states', () => {
  const MAY: Record<DecisionKind, string> = {
    approve: 'held',
    reject: 'planned held queued',
    resolve: 'unknown',
    replan: 'rejected withdrawn',
  };
  test.each(DECISION_KINDS)('%s', (decision) => {
    const may = INSTRUCTION_STATES.filter((state) => kindOf(decision, { state }) === 'may');
    expect(may.join(' ')).toBe(MAY[decision]);
  });
});

describe('an approval', () => {
  test.each(Object.entries(HOLD_REASONS))(
    'of what waits for %s',
    (holdReason, { isApprovable }) => {
      const seen = 'aaaaaaaa';
      expect(kindOf('approve', { holdReason }, seen)).toBe(isApprovable ? 'may' : 'not_approvable');
    },
  );

  test('of what may have been sent already only with the digest of what was seen', () => {
    expect(kindOf('approve', { holdReason: 'restored' })).toBe('unseen');
    // Nor among others, or in a list: what may have been sent stands on its own sheet alone.
    expect(kindOf('approve', { holdReason: 'restored' }, SEEN, false)).toBe('unseen');
  });

  test.each(['anna', ' ANNA ', 'Anna'])('not by who asked, written %j', (name) => {
    expect(kindOf('approve', { askedBy: ['bob', name] })).toBe('asked_by_same_person');
  });

  test.each([
    [SEEN, 'may'],
    [SEEN.slice(0, 8), 'may'],
    [SEEN.slice(0, 7), 'changed_since_seen'],
    [`${SEEN.slice(0, 20)}b`, 'changed_since_seen'],
    ['', 'changed_since_seen'],
  ])('of %s', (seen, outcome) => {
    expect(kindOf('approve', {}, seen)).toBe(outcome);
  });
});

describe('planning again', () => {
  const disproved = { state: 'rejected', disprovedBy: 'anna' } as const;
  test.each([
    ['a refund that the same person found not to have happened', disproved, 'second_person_needed'],
    ['by another person', { ...disproved, disprovedBy: 'bob' }, 'may'],
    ['a capture that the same person found', { ...disproved, operation: 'capture' }, 'may'],
    ['a payout', { ...disproved, operation: 'payout' }, 'second_person_needed'],
    ['a refusal of the gateway', { state: 'rejected' }, 'may'],
    ['a second time', { state: 'rejected', isReplanned: true }, 'replanned_already'],
    ['what a later one replaced', { state: 'rejected', isSuperseded: true }, 'superseded'],
  ] as const)('%s', (_, changes, outcome) => {
    expect(kindOf('replan', changes)).toBe(outcome);
  });
});

test.each([
  ['unknown', 'refund', false, 'may'],
  ['accepted', 'payout', true, 'may'],
  ['accepted', 'payout', false, 'answered'],
  ['accepted', 'capture', false, 'answered'],
  ['confirmed', 'payout', false, 'wrong_state'],
] as const)('what became of %s %s, pending: %s: %s', (state, operation, isPending, outcome) => {
  expect(kindOf('resolve', { state, operation, isPending })).toBe(outcome);
});

test.each([
  ['Anna  Berg', ' anna berg ', true],
  ['anna', 'annab', false],
  ['Jose\u0301', 'JOS\u00c9', true],
  ['anna\u00a0berg', 'anna berg', true],
  ['\ufeffan\u00adna\u200b berg\u2060', 'anna berg', true],
])('%j and %j are one person: %s', (one, other, same) => {
  expect(isSamePerson(one, other)).toBe(same);
});

test('every refusal has words', () => {
  expect(
    refusalWords({ kind: 'wrong_state', state: 'sending', possible: ['planned', 'held'] }),
  ).toBe(
    'it is sending; this can be decided only while it is planned, waiting for approval or held ' +
      'by a setting',
  );
});

test.each([
  ['observed', 'liveFrom, which an operator sets when tieout is to act'],
  [
    'no_history',
    'the database restored from its backup, since it may have been paid before; only where this ' +
      'is a new installation, liveFrom set anew by an operator',
  ],
  ['partial_capture', 'partialCapture in the profile, which an operator changes; or reject it'],
  [
    'operation_off',
    'operations in tieout.yaml, where an operator sets its operation to another word; or reject it',
  ],
  [
    'invalid_payout',
    'a corrected request in the ledger, or none where it is paid already or another account has ' +
      'it: its page says which; or reject it',
  ],
])('what frees %s is said where somebody approves or reads it', (holdReason, frees) => {
  expect(refusalWords({ kind: 'not_approvable', holdReason })).toMatch(
    new RegExp(`What frees it is ${frees}$`),
  );
  const held = { ...facts({ holdReason }), instructionId: '7', transactionId: 'T1' };
  expect(nextStep({ ...held, currency: 'EUR', amount: '1.00' })).toBe(
    `nothing frees it but ${frees}`.replace('reject it', 'reject it here by Decision and Reason'),
  );
});

test('each that no approval frees says what does, and only these', () => {
  for (const rule of Object.values(HOLD_REASONS)) {
    expect('freedBy' in rule).toBe(!rule.isApprovable);
  }
});
