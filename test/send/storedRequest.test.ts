// Requests are kept as they went out: the copy has the digest of the bytes that left, save where
// something looks like a card number, and ids are never altered.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storedRequest } from '../../src/send/storedRequest.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

let house: House;
beforeAll(async () => {
  house = await buildHouse({ orders: 200, seed: 9 });
  await house.run();
});
afterAll(() => house.end());

test('every attempt of a night keeps what it sent', async () => {
  const { rows } = await house.db.query<{ request: Buffer; sha256: string; entries: string[] }>(
    'select request_gzip as request, body_sha256 as sha256, entries from tieout.attempts',
  );
  expect(rows.length).toBeGreaterThan(3);
  for (const { request, sha256 } of rows) {
    const body = gunzipSync(request);
    expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
    expect(body.toString()).toContain('merchant_id');
  }
});

test('a card number in free text is masked, the same digits as an order number are not', () => {
  const card = '4111111111111111';
  const body = Buffer.from(`{"order_no":"${card}","refund_reason":"card 5500 0000 0000 0004"}`);
  const sent = {
    account: { merchantId: 'M1', accountId: 'A1' },
    entries: [{ orderNo: card, transactionId: 'T1' }],
  };
  expect(gunzipSync(storedRequest(body, sent as never)).toString()).toBe(
    `{"order_no":"${card}","refund_reason":"card 5500 00** **** 0004"}`,
  );
});
