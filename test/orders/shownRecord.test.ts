// What the gateway showed of an order beside state and money, read from a page as it was kept:
// every field of the document that no rule asks for reaches a person, and no person is named whole.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { shownLines, shownRecords } from '../../src/orders/shownRecord.js';
import { QUERY_JSON } from '../gateway/samples.js';

const PROFILE = sandboxProfile();
const shownOf = (json: string, orderNo = 'SO-1', profile = PROFILE) =>
  shownRecords(profile, orderNo, gzipSync(json));

describe('an entry of a page', () => {
  it('is shown with site, checks, shopper, delivery and subscription', () => {
    expect(shownOf(QUERY_JSON).flatMap(shownLines)).toEqual([
      'site: https://shop.example',
      'reference: REF-1',
      '3-D Secure: 0',
      'fraud checks: guard, velocity ACCEPT, address REJECT',
      'shopper: z***@mail.example, ***000',
      'delivery: S***, Łódź, PL, Z***, Ł***, 9***, LD',
      'subscription: monthly, R-7, 30, next 2026-12-19, active',
    ]);
  });

  it('has its reference whole, also where the digits of it could be those of a card', () => {
    const json = QUERY_JSON.replace('REF-1', 'RT4111111111111111');
    expect(shownOf(json).map(({ reference }) => reference)).toEqual(['RT4111111111111111']);
  });

  it('names no person whole, whoever reads the data', () => {
    const printed = JSON.stringify(shownOf(QUERY_JSON));
    for (const personal of ['zoe@', 'Zoé', 'Łuk', 'Street', '90-001', '+48']) {
      expect(printed).not.toContain(personal);
    }
  });

  it.each([
    ['1', { '1': 'active' }, 'active'],
    ['0', { '1': 'active', '0': 'ended' }, 'ended'],
    ['0', { '1': 'active' }, 'recurring_status 0, without a meaning in the profile'],
  ] as const)('recurring_status %s by %j: %s', (code, recurring, words) => {
    const profile = { ...PROFILE, statuses: { ...PROFILE.statuses, recurring } };
    const json = QUERY_JSON.replace('"recurring_status":"1"', `"recurring_status":"${code}"`);
    expect(shownOf(json, 'SO-1', profile).flatMap(shownLines).at(-1)).toContain(words);
  });

  it('says nothing of what is empty', () => {
    const entry = { order_no: 'SO-1', transaction_id: 'T1', subscription_result: {} };
    const [record] = shownOf(JSON.stringify({ orders_list: [entry] }));
    expect(record?.subscription).toBeNull();
    expect(record && shownLines(record)).toEqual([]);
  });

  it.each([
    ['of another order', gzipSync(QUERY_JSON), 'SO-2'],
    ['of a page that is no JSON', gzipSync('<html>'), 'SO-1'],
    ['of what is no page', Buffer.from('x'), 'SO-1'],
  ])('is none %s', (_, page, orderNo) => {
    expect(shownRecords(PROFILE, orderNo, page)).toEqual([]);
  });
});
