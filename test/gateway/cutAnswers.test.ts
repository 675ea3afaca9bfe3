// An answer of which only a beginning came, cut at every byte: none of it is believed (fault A10).

import { describe, expect, it } from 'vitest';
import type { BatchEntry } from '../../src/gateway/batches/prepareBatch.js';
import { readBatchAnswer } from '../../src/gateway/batches/prepareBatch.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { batchOf, fineAnswer, rawAnswer, signed } from './batchAnswer.js';
import { ACCOUNT } from './rawServer.js';

const PROFILE = sandboxProfile();

const OPERATIONS = ['capture', 'cancel', 'refund', 'review'] as const;

describe('an answer that is cut', () => {
  it.each(OPERATIONS)('fault A10: at any byte leaves each entry of a %s unknown', (operation) => {
    const entries: BatchEntry[] = batchOf(operation, 3);
    const whole = JSON.stringify(signed(operation, fineAnswer(operation, entries)));
    const bytes = Buffer.from(whole);
    for (let length = 0; length < bytes.length; length += 1) {
      const answer = rawAnswer(bytes.subarray(0, length));
      const reading = readBatchAnswer(PROFILE, ACCOUNT, operation, entries, answer);
      expect(reading.trusted).toBe(false);
      expect(reading.entries.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
    }
  });
});
