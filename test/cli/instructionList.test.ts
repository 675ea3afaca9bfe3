// What a list of instructions says of a payout request that cannot be sent.

import { expect, test } from 'vitest';
import { listLines } from '../../src/cli/instructions/instructionText.js';

test('of a payout that is not usable it says what is wrong with it', () => {
  const row = {
    ...{ id: '7', accountId: 'A1', orderNo: '', operation: 'payout', state: 'held' as const },
    ...{ transactionId: 'no-uuid', currency: 'EUR', amount: '0', isInTotals: false },
    ...{ refundId: null, reviewDecision: null, holdReason: 'invalid_payout' },
    ...{ reason: 'its request_id is no UUID', askedBy: [], businessDate: '2026-11-26' },
    ...{ createdAt: '2026-11-27T03:00:00Z', since: '2026-11-27T03:00:00Z', isReplanned: false },
  };
  const [line = ''] = listLines([row], new Date('2026-11-27T04:00:00Z'));
  expect([line].flat().join('')).toMatch(/or its shape: its request_id is no UUID$/);
});
