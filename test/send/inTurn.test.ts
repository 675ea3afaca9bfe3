// The order in which waiting batches are enqueued: account by account in turn.

import { describe, expect, it } from 'vitest';
import { inTurn } from '../../src/send/enqueueWaiting.js';

describe('batches that wait', () => {
  it('are enqueued account by account in turn, oldest first', () => {
    const batches = ['A', 'A', 'A', 'A', 'B', 'C', 'C'].map((accountId, index) => ({
      accountId,
      batchId: BigInt(index + 1),
    }));
    expect(inTurn(batches)).toEqual(['1', '5', '6', '2', '7', '3', '4']);
  });

  it('are none where none wait', () => {
    expect(inTurn([])).toEqual([]);
  });
});
