// A strict sandbox knows a refund again that it did before; a permissive one (server.test.ts) does it
// twice. Payouts are in payouts.test.ts.

import { describe, expect, it } from 'vitest';
import { ACCOUNT, startHere } from './startedSandbox.js';
import { batch, effects, pay } from './wireClient.js';

describe('a strict sandbox', () => {
  it('does the same refund once, and another of the same amount again', async () => {
    const strict = await startHere({ strict: true });
    const entry = await pay(strict.baseUrl, ACCOUNT, 'X-1');
    await batch(strict.baseUrl, ACCOUNT, 'capture', [entry]);
    const part = { ...entry, refund_amount: '3.00', refund_reason: 'late' };
    const other = { ...part, refund_reason: 'torn' };
    const twice = await batch(strict.baseUrl, ACCOUNT, 'refund', [part, part, other]);
    expect(twice.results.map((result) => result.refund_message)).toEqual([
      'V0000:OK',
      'E2006:this refund was done before',
      'V0000:OK',
    ]);
    const again = await batch(strict.baseUrl, ACCOUNT, 'refund', [part]);
    expect(again.results[0]).toMatchObject({ refund_status: '0', refund_reference_id: '' });
    expect(await effects(strict.baseUrl)).toHaveLength(3);
    await strict.close();
  });

  it('does again what was refused before', async () => {
    const strict = await startHere({ strict: true });
    const entry = await pay(strict.baseUrl, ACCOUNT, 'X-1');
    const part = { ...entry, refund_amount: '3.00', refund_reason: '' };
    const early = await batch(strict.baseUrl, ACCOUNT, 'refund', [part]);
    expect(early.results[0]?.refund_message).toBe('E2002:nothing captured to refund');
    await batch(strict.baseUrl, ACCOUNT, 'capture', [entry]);
    const now = await batch(strict.baseUrl, ACCOUNT, 'refund', [part]);
    expect(now.results[0]?.refund_message).toBe('V0000:OK');
    await strict.close();
  });
});
