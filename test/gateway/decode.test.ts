// A page is parsed as bytes where that is enough; what is read from it is the same as when all of
// it is decoded first, whatever characters and escapes its texts are made of.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeQueryAnswer } from '../../src/gateway/query/decode.js';

const ACCOUNT = { merchantId: 'Kraków', accountId: 'A1', signingKey: 'k', liveFrom: null };

function page(entries: readonly Record<string, unknown>[], isEscaped: boolean): Buffer {
  const text = JSON.stringify({
    merchant_id: ACCOUNT.merchantId,
    account_id: ACCOUNT.accountId,
    return_status: '1',
    orders_list: entries,
  });
  if (!isEscaped) return Buffer.from(text);
  return Buffer.from(
    text.replace(/[^\x20-\x7e]/g, (unit) => {
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    }),
  );
}

function read(body: Buffer) {
  return decodeQueryAnswer(ACCOUNT, {
    status: 200,
    contentType: null,
    contentEncoding: null,
    body,
  });
}

describe('the texts of a page', () => {
  test('are what the bytes say, escaped or not', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !one.includes('\0'));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), fc.boolean(), (texts, isEscaped) => {
        const entries = texts.map((one) => ({
          order_no: one,
          reference_no: `${one}é`,
          other: one,
        }));
        const decoded = read(page(entries, isEscaped));
        if (decoded.kind !== 'page') throw new Error(decoded.reason);
        expect(decoded.entries.map((entry) => [entry.orderNo, entry.referenceNo])).toEqual(
          texts.map((one) => [one, `${one}é`]),
        );
      }),
    );
  });

  test('may be escaped in one place and not in another', () => {
    const body = Buffer.from(
      page([{ order_no: 'Ł1', reference_no: 'x' }], false)
        .toString()
        .replace('"x"', '"\\u0142ł\\u00e9é"'),
    );
    const decoded = read(body);
    expect(decoded).toMatchObject({ entries: [{ orderNo: 'Ł1', referenceNo: 'łłéé' }] });
  });

  test('are decoded in the message of a refusal, too', () => {
    const body = Buffer.from('{"return_status":"0","return_message":"Händler gesperrt"}');
    expect(read(body)).toEqual({
      kind: 'failed',
      reason: 'the gateway answered return_status 0: Händler gesperrt',
    });
  });
});
