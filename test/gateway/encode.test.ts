// Bodies and amounts as they go over the wire.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { readWireAmount, wireAmount } from '../../src/gateway/wire/amount.js';
import { encodeAs, encodeMessage, readForm } from '../../src/gateway/wire/encode.js';

const FORM = 'application/x-www-form-urlencoded';
const MESSAGE = { merchant_id: 'M 1', refund_orders: [{ order_no: 'Ä&=', refund_amount: '1.00' }] };

describe('encodeMessage', () => {
  it('follows the bodies of the profile by operation', () => {
    const { bodies } = sandboxProfile();
    expect(encodeMessage(bodies, 'capture', MESSAGE).contentType).toBe('application/json');
    expect(encodeMessage(bodies, 'retrievalTrans', { a: 'b' }).contentType).toBe(FORM);
  });

  it('sends JSON text under the content type of a form where the profile says so', () => {
    const { contentType, body } = encodeAs('json-as-form', MESSAGE);
    expect(contentType).toBe(FORM);
    expect(JSON.parse(body.toString())).toEqual(MESSAGE);
  });

  it('spells arrays of a form with brackets and indices from 0', () => {
    const text = encodeAs('form', MESSAGE).body.toString();
    expect(decodeURIComponent(text.replaceAll('+', ' '))).toBe(
      'merchant_id=M 1&refund_orders[0][order_no]=Ä&=&refund_orders[0][refund_amount]=1.00',
    );
  });

  it('reads back every form that it writes', () => {
    const value = fc.string({ unit: 'grapheme' });
    const message = fc.record({
      merchant_id: value,
      refund_orders: fc.array(fc.record({ order_no: value, amount: value }), { minLength: 1 }),
    });
    fc.assert(
      fc.property(message, (given) => {
        expect(readForm(encodeAs('form', given).body.toString())).toEqual(given);
      }),
    );
  });

  it.each(['a=1&a=2', 'a[b=1', '=1', 'a=1&a[b]=2', 'a[b]=1&a=2'])('refuses the form %s', (text) => {
    expect(readForm(text)).toBeNull();
  });
});

describe('wireAmount', () => {
  const currencies = { KWD: 3, JPY: 0, CLF: 4, XTS: 1 };
  it.each([
    ['EUR', 1234n, '12.34'],
    ['EUR', 5n, '0.05'],
    ['KWD', 1234n, '12.340'],
    ['CLF', 1234n, '12.3400'],
    ['JPY', 1200n, '12'],
    ['JPY', 1234n, null],
    ['XTS', 1230n, '12.3'],
    ['XTS', 1234n, null],
    ['EUR', -1n, null],
    ['constructor', 100n, '1.00'],
  ])('writes %s %s as %j', (currency, amount, text) => {
    expect(wireAmount(currencies, currency, amount)).toBe(text);
  });

  it.each([
    ['EUR', '12.34', 1234n],
    ['EUR', '12.3', null],
    ['EUR', '12', null],
    ['KWD', '12.340', 1234n],
    ['KWD', '12.345', null],
    ['KWD', '12.34', null],
    ['JPY', '12', 1200n],
    ['JPY', '12.', null],
    ['JPY', '12.00', null],
    ['XTS', '12.3', 1230n],
    ['KWD', '1.2.340', null],
    ['KWD', '-1.000', null],
    ['JPY', '1e3', null],
    ['JPY', '', null],
  ])('reads %s %s as %s', (currency, text, amount) => {
    expect(readWireAmount(currencies, currency, text)).toBe(amount);
  });
});
