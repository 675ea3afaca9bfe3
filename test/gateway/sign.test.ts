// Signatures against values computed here by hand from the profile's words.

import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { responseSignatureOf, sameSignature, signatureOf } from '../../src/gateway/wire/sign.js';

const sha = (name: string, text: string): string => createHash(name).update(text).digest('hex');
const hmac = (name: string, key: string, text: string): string =>
  createHmac(name, key).update(text).digest('hex');

const MESSAGE = {
  merchant_id: 'M1',
  account_id: 'A1',
  capture_orders: [
    { transaction_id: 'T1', amount: '1.00' },
    { transaction_id: 'T2', amount: '2.50' },
  ],
};

const signing = (change: object) => ({ ...sandboxProfile().signing, ...change });

describe('signatureOf', () => {
  it.each([
    ['the sandbox way', {}, sha('sha256', 'M1A1T1T21.002.50K')],
    ['sha512', { algorithm: 'sha512' }, sha('sha512', 'M1A1T1T21.002.50K')],
    ['the key first', { key: 'prepend' }, sha('sha256', 'KM1A1T1T21.002.50')],
    ['a separator', { separator: '|' }, sha('sha256', 'M1|A1|T1|T2|1.00|2.50|K')],
    [
      'key first, separator',
      { key: 'prepend', separator: '&' },
      sha('sha256', 'K&M1&A1&T1&T2&1.00&2.50'),
    ],
    ['hmac-sha256', { algorithm: 'hmac-sha256' }, hmac('sha256', 'K', 'M1A1T1T21.002.50')],
    [
      'hmac-sha512',
      { algorithm: 'hmac-sha512', separator: '.' },
      hmac('sha512', 'K', 'M1.A1.T1.T2.1.00.2.50'),
    ],
    [
      'absent values',
      { separator: '|', fields: { default: ['merchant_id', 'nothing', 'a.b', 'account_id'] } },
      sha('sha256', 'M1|||A1|K'),
    ],
    [
      'an absent array',
      { separator: '|', fields: { default: ['merchant_id', 'refund_orders[].amount'] } },
      sha('sha256', 'M1|K'),
    ],
    [
      'an absent value of an entry',
      { separator: '|', fields: { default: ['capture_orders[].note'] } },
      sha('sha256', '||K'),
    ],
    [
      'an inherited name',
      { separator: '|', fields: { default: ['constructor.name'] } },
      sha('sha256', '|K'),
    ],
  ])('signs %s', (_, change, expected) => {
    expect(signatureOf(signing(change), 'capture', 'K', MESSAGE)).toBe(expected);
  });

  it('expands one path over all entries before the next path begins', () => {
    const paths = ['capture_orders[].transaction_id', 'capture_orders[].amount'];
    const given = signing({ separator: ',', fields: { default: ['order_no'], capture: paths } });
    expect(signatureOf(given, 'capture', 'K', MESSAGE)).toBe(sha('sha256', 'T1,T2,1.00,2.50,K'));
  });

  it('signs text beyond ASCII as UTF-8', () => {
    const given = signing({ fields: { default: ['note'] } });
    expect(signatureOf(given, 'refund', 'Schlüssel', { note: 'Łódź €' })).toBe(
      sha('sha256', 'Łódź €Schlüssel'),
    );
  });

  it('takes the default fields for an operation that is not named', () => {
    expect(signatureOf(sandboxProfile().signing, 'retrievalTrans', 'K', MESSAGE)).toBe(
      sha('sha256', 'M1A1K'),
    );
  });

  it('signs answers over their own fields', () => {
    const answer = { merchant_id: 'M1', account_id: 'A1', return_status: '1' };
    expect(responseSignatureOf(sandboxProfile().signing, 'capture', 'K', answer)).toBe(
      sha('sha256', 'M1A11K'),
    );
  });
});

describe('sameSignature', () => {
  it.each([
    ['abc1', 'abc1', true],
    ['abc1', 'ABC1', false],
    ['abc1', 'abc', false],
    ['abc1', 'abc12', false],
    ['abc1', '', false],
    ['abc1', undefined, false],
    ['abc1', 1, false],
  ])('compares %j with %j', (expected, found, same) => {
    expect(sameSignature(expected, found)).toBe(same);
  });
});
