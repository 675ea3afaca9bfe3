// Signatures as acquirers really make them, each expressed by keys of the profile alone. The
// vectors were worked out outside of the program, the text by hand and its digest with openssl:
//   printf '%s' 'account_id=A1&...&key=secret' | openssl dgst -sha256
//   printf '%s' 'M1|A1|SO-1' | openssl dgst -sha512 -hmac secret -binary | openssl base64 -A
// And the sandbox speaks each of them, so that a night can be rehearsed with them.

import { afterAll, describe, expect, it } from 'vitest';
import { parseProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { signMessage } from '../../src/gateway/wire/sign.js';
import { ACCOUNT as SANDBOX_ACCOUNT, startHere } from '../sandbox/startedSandbox.js';
import { PAYOUT } from './samples.js';

const ACCOUNT = { merchantId: 'M1', accountId: 'A1', signingKey: 'secret' };
const IDS = { merchant_id: 'M1', account_id: 'A1' };
const PAYMENT = { ...IDS, order_no: 'SO-1', amount: '10.00', note: '' };
const CAPTURE = {
  ...IDS,
  capture_orders: [
    { transaction_id: 'T1', amount: '1.00' },
    { transaction_id: 'T2', amount: '2.50' },
  ],
};

function profileOf(signing: string) {
  return parseProfile(
    `signing: { ${signing} }\nstatuses: { payment: { "2000": authorised, "3000": captured } }`,
    'p.yaml',
  );
}

const signed = (signing: string, message: Record<string, unknown>) =>
  signMessage(profileOf(signing).signing, 'capture', ACCOUNT, message);

/** What, the profile's signing, the message, and its digest by openssl. */
const VECTORS: [string, string, Record<string, unknown>, string][] = [
  [
    'entries one after the other: M1A1T11.00T22.50secret',
    'fields: { default: [merchant_id, account_id, "capture_orders[].{transaction_id,amount}"] }',
    CAPTURE,
    'e82536118d542a854a5e56b1e5ca44c2241499c873b6b2b392a3347f1ed0bacd',
  ],
  [
    'name=value with a separator: merchant_id=M1&account_id=A1&order_no=SO-1&key=secret',
    'separator: "&", pairs: { keyName: key }, fields: { default: [merchant_id, account_id, order_no] }',
    PAYMENT,
    'c16da48770ab0300c82d1e5784a20a525c7aabf806ba6bf4ece8db61555c9fdc',
  ],
  [
    'sorted names: account_id=A1&amount=10.00&merchant_id=M1&order_no=SO-1&key=secret',
    'separator: "&", sort: true, pairs: { keyName: key }, ' +
      'fields: { default: [order_no, merchant_id, amount, account_id] }',
    PAYMENT,
    '06d12e4f79f84863729d1c0553fbb4630346cb7a8f5402024afc8abb829c0473',
  ],
  [
    'upper-case hex: M1A1secret',
    'output: hex-upper, fields: { default: [merchant_id, account_id] }',
    PAYMENT,
    '57ECE8CE5709A1ADEF1CB948B6E665CEE50B4A9E62D414A06EDA9F8860984B3D',
  ],
  [
    'base64 of an hmac: M1|A1|SO-1',
    'algorithm: hmac-sha512, separator: "|", output: base64, ' +
      'fields: { default: [merchant_id, account_id, order_no] }',
    PAYMENT,
    'ohTsukAW4Lx2AlfejtNslgoZTgczDeiyDxoreEc5jn0yLqLQVrU31LsOjCamEz/prtBZElCOyNoqQ3XMBO02cg==',
  ],
  [
    'without empty values: merchant_id=M1&order_no=SO-1&secret',
    'separator: "&", pairs: { skipEmpty: true }, fields: { default: [merchant_id, note, order_no] }',
    PAYMENT,
    'a4a8d2dee5b6d9d34b73cbc2f1abb38101df3cd366a58cd5f8576433827b2e97',
  ],
  [
    'names and entries: merchant_id:M1;transaction_id:T1;amount:1.00;transaction_id:T2;amount:2.50',
    'algorithm: hmac-sha256, separator: ";", pairs: { join: ":" }, ' +
      'fields: { default: [merchant_id, "capture_orders[].{transaction_id,amount}"] }',
    CAPTURE,
    '88e56c02c5455c18d9da168262532ddcc13c90f83a65554536f66d6a9a37bfe5',
  ],
];

describe('a signature', () => {
  it.each(VECTORS)('of %s', (_, signing, message, digest) => {
    expect(signed(signing, message)).toEqual({
      signature: digest,
      message: { ...message, encryption_data: digest },
      headers: {},
    });
  });

  it('stands in a header, with a token beside it, where the profile says so', () => {
    const given =
      'inBody: false, fields: { default: [merchant_id, account_id] }, ' +
      'headers: { X-Signature: "v1={signature}", Authorization: "Bearer {key}", X-Shop: "{accountId}" }';
    expect(signed(given, PAYMENT)).toMatchObject({
      message: PAYMENT,
      headers: {
        'X-Signature': 'v1=57ece8ce5709a1adef1cb948b6e665cee50b4a9e62d414a06eda9f8860984b3d',
        Authorization: 'Bearer secret',
        'X-Shop': 'A1',
      },
    });
  });

  it('is never sent with a line of its own in a header', () => {
    const { signing } = profileOf('headers: { X-Key: "{key}" }');
    const account = { ...ACCOUNT, signingKey: 'a\r\nx: y' };
    expect(() => signMessage(signing, 'capture', account, PAYMENT)).toThrow('X-Key');
  });

  it.each([
    ['headers: { Content-Length: "5" }', 'signing.headers'],
    ['headers: { "X Key": "5" }', 'signing.headers'],
    ['headers: { X-Key: "{password}" }', 'signing.headers.X-Key'],
    ['output: hexa', 'signing.output'],
    ['pairs: { with: ":" }', 'signing.pairs.with'],
    ['fields: { default: ["a[].{b"] }', 'signing.fields.default.0'],
    ['fields: { default: ["{a,b}.c"] }', 'signing.fields.default.0'],
  ])('is refused as %s', (signing, key) => {
    expect(() => profileOf(signing)).toThrow(key);
  });
});

describe('the sandbox speaks', () => {
  const close: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of close.reverse()) await end();
  });

  it.each<[string, string]>([
    ...VECTORS.map(([words, signing]): [string, string] => [words, signing]),
    ['a signature in a header', 'inBody: false, headers: { X-Signature: "{signature}" }'],
    ['a token in a header', 'headers: { Authorization: "Bearer {key}" }'],
  ])('%s', async (_, signing) => {
    const profile = profileOf(`${signing}, responses: enforce`);
    const sandbox = await startHere({ profile });
    close.push(sandbox.close);
    const client = createPaymentClient({ profile, baseUrl: sandbox.baseUrl });
    close.push(client.close);
    const account = { ...SANDBOX_ACCOUNT, liveFrom: null };
    const stranger = { ...account, signingKey: 'another' };
    expect(await client.tryQuery(account, {})).toMatchObject({ kind: 'page' });
    expect(await client.tryQuery(stranger, {})).toMatchObject({
      reason: expect.stringContaining('wrong signature'),
    });
    expect(await client.payout(account, PAYOUT)).toMatchObject({ kind: 'accepted' });
    expect(await client.payout(stranger, PAYOUT)).toMatchObject({ kind: 'rejected' });
  });
});
