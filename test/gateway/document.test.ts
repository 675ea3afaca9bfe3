// The requests of the document, field by field: each name stands in a table of the program, and no
// other does. What becomes of the fields of answers: takenUp.test.ts.

import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/core/orders/order.js';
import { prepareBatch } from '../../src/gateway/batches/prepareBatch.js';
import type { RecordShape, Shape } from '../../src/gateway/document/messageShape.js';
import { BATCH_SHAPES, QUERY_ORDERS_MAX, QUERY_PATH } from '../../src/gateway/document/messages.js';
import { APM_SHAPE, DIRECT_SHAPE, HOSTED_SHAPE } from '../../src/gateway/document/paymentShapes.js';
import { PAYOUT_SHAPE } from '../../src/gateway/document/payoutShapes.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { batchOf, type Json } from './batchAnswer.js';
import {
  APM_REQUEST,
  BATCHES,
  DIRECT_REQUEST,
  HOSTED_REQUEST,
  PAYOUT_REQUEST,
} from './documentFields.js';
import { ACCOUNT } from './rawServer.js';

/** All paths of a table, written as in the list of the document. */
function pathsOf(shape: RecordShape, prefix = ''): string[] {
  return Object.entries(shape).flatMap(([name, part]) => pathsBelow(part, prefix + name));
}

function pathsBelow(shape: Shape, path: string): string[] {
  if (typeof shape === 'string') return [path];
  return 'record' in shape
    ? pathsOf(shape.record, `${path}.`)
    : pathsBelow(shape.list, `${path}[]`);
}

describe('requests', () => {
  it.each([
    ['direct payment', DIRECT_SHAPE, DIRECT_REQUEST, ['site']],
    ['hosted page', HOSTED_SHAPE, HOSTED_REQUEST, ['site', 'return_url', 'cancel_url']],
    ['alternative payment method', APM_SHAPE, APM_REQUEST, []],
    ['payout', PAYOUT_SHAPE, PAYOUT_REQUEST, []],
  ])('know every field of the %s and no other', (_, shape, document, ours) => {
    expect(pathsOf(shape).sort()).toEqual([...document, ...ours].sort());
  });

  it('call the web site as the document does, unless the profile knows better', () => {
    expect(sandboxProfile().siteField).toBe('the service');
  });

  it.each(Object.entries(BATCHES))(
    'of %s have the printed path, array and fields',
    (name, batch) => {
      const operation = name as Operation;
      expect(BATCH_SHAPES[operation]).toMatchObject({ path: batch.path, entriesMax: batch.max });
      const { body } = prepareBatch(sandboxProfile(), ACCOUNT, operation, batchOf(operation, 1));
      const { merchant_id, account_id, encryption_data, ...rest } = JSON.parse(
        String(body),
      ) as Json;
      expect([merchant_id, account_id, typeof encryption_data]).toEqual(['M1', 'A1', 'string']);
      expect(Object.keys(rest)).toEqual([`${name}_orders`]);
      const [entry] = rest[`${name}_orders`] as Json[];
      expect(Object.keys(entry ?? {}).sort()).toEqual([...batch.sent].sort());
    },
  );

  it('ask for at most a hundred orders', () => {
    expect([QUERY_PATH, QUERY_ORDERS_MAX]).toEqual(['/v1/retrievalTrans', 100]);
  });
});
