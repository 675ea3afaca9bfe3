// The document, field by field: each name stands in a type, a table or a reader of the program.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/core/orders/order.js';
import { prepareBatch } from '../../src/gateway/batches/batchOps.js';
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
  PAYMENT_ANSWER,
  PAYOUT_ANSWER,
  PAYOUT_REQUEST,
  QUERY_ANSWER,
  QUERY_ENTRY,
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

const sourceOf = (...files: string[]): string =>
  files
    .map((file) => readFileSync(new URL(`../../src/gateway/${file}`, import.meta.url), 'utf8'))
    .join('\n');

/** Names that no line of the sources declares or reads. */
function missing(names: readonly string[], source: string): string[] {
  return names.filter(
    (name) => !new RegExp(`(^|[\\s'.])${name}\\??[\\s'):;,\\]]`, 'm').test(source),
  );
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

describe('answers', () => {
  const batchFields = [...new Set(Object.values(BATCHES).flatMap(({ got }) => got))];
  it.each([
    ['a payment', PAYMENT_ANSWER, ['payments/paymentAnswer.ts', 'wire/responXml.ts']],
    ['a payout', PAYOUT_ANSWER, ['batches/payout.ts', 'document/payoutMessages.ts']],
    ['a payout, beyond the request', ['local_clearing_system'], ['document/payoutMessages.ts']],
    ['a query', QUERY_ANSWER, ['document/messages.ts']],
    ['an entry of a query, as a type', QUERY_ENTRY, ['document/messages.ts']],
    ['an entry of a query, as it is read', QUERY_ENTRY, ['query/queryRecord.ts']],
    ['a batch', batchFields, ['document/messages.ts']],
  ])('of %s are known field by field', (_, document, files) => {
    expect(missing(document, sourceOf(...files))).toEqual([]);
  });
});
