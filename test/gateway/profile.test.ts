// The profile file: defaults as printed in the contract, errors that name key and file.

import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/core/errors.js';
import {
  forOperation,
  parseProfile,
  profileOrigins,
  sandboxProfile,
  stateOf,
} from '../../src/gateway/document/profile.js';
import { SHOWN } from '../../src/gateway/document/profileShown.js';

const REQUIRED = 'signing: { algorithm: sha256 }\nstatuses: { payment: { "9": captured } }\n';

describe('sandboxProfile', () => {
  it('is the profile printed in the contract', () => {
    const profile = sandboxProfile();
    expect(Object.keys(profile)).toEqual([
      'signing',
      'query',
      'statuses',
      'results',
      'payments',
      'bodies',
      'siteField',
      'transactionDate',
      'reviewFlags',
      'partialCapture',
      'refundReasonTag',
      'currencies',
      'payout',
      'operations',
      'limits',
    ]);
    expect(profile.signing.fields.refund).toEqual([
      'merchant_id',
      'account_id',
      'refund_orders[].transaction_id',
      'refund_orders[].refund_amount',
    ]);
    expect(profile.query).toEqual({
      select: 'order_list',
      orderList: { field: 'order_no', separator: ',' },
      window: {
        from: 'date_from',
        to: 'date_to',
        format: 'yyyyMMddHHmmss',
        timezone: 'UTC',
        page: 'page_no',
        firstPage: 1,
        size: 'page_size',
      },
      found: ['1'],
    });
    expect(profile.limits).toEqual({
      timeoutMs: 30_000,
      requestsPerSecond: 20,
      concurrency: 8,
      maxResponseBytes: 8_388_608,
    });
    expect(profile.bodies).toEqual({ default: 'json', retrievalTrans: 'form' });
    expect(profile.payout.unit).toBeNull();
    expect(profile.operations.searchRefund).toBeNull();
  });

  it('gives each caller a copy of its own', () => {
    sandboxProfile().statuses.payment['1'] = 'captured';
    expect(sandboxProfile().statuses.payment['1']).toBeUndefined();
  });
});

describe('parseProfile', () => {
  it('is read as it was used where it was kept with a night', () => {
    const text = `${REQUIRED}transactionDate: { timezone: CET }\n`;
    const { transactionDate } = parseProfile(text, 'kept', { isKept: true });
    expect(transactionDate.timezone).toBe('CET');
  });

  it('takes what the file gives and the printed defaults for the rest', () => {
    const profile = parseProfile(`${REQUIRED}limits: { concurrency: 2 }\n`, 'p.yaml');
    expect(profile.limits.concurrency).toBe(2);
    expect(profile.limits.timeoutMs).toBe(30_000);
    expect(profile.signing.key).toBe('append');
  });

  it('lets a given map replace the default whole', () => {
    const profile = parseProfile(
      `signing: { fields: { default: [order_no] } }\nstatuses: { payment: { 3000: captured } }\n`,
      'p.yaml',
    );
    expect(profile.statuses.payment).toEqual({ '3000': 'captured' });
    expect(profile.signing.fields).toEqual({ default: ['order_no'] });
    expect(forOperation(profile.signing.fields, 'capture')).toEqual(['order_no']);
  });

  const refused: [string, string, string][] = [
    ['an unknown key', `${REQUIRED}colour: red\n`, 'colour'],
    [
      'an unknown key below',
      `${REQUIRED}query: { orderList: { sep: x } }\n`,
      'query.orderList.sep',
    ],
    [
      'an operation nobody knows',
      `${REQUIRED}bodies: { default: json, buy: form }\n`,
      'bodies.buy',
    ],
    [
      'a map by operation without default',
      `${REQUIRED}bodies: { refund: form }\n`,
      'bodies.default',
    ],
    ['a signing that is missing', 'statuses: { payment: { "9": captured } }\n', 'signing'],
    ['statuses that are missing', 'signing: { algorithm: sha256 }\n', 'statuses.payment'],
    ['statuses that are empty', 'signing: { key: append }\nstatuses: {}\n', 'statuses.payment'],
    ['an empty file', '', 'signing'],
    ['an unknown algorithm', 'signing: { algorithm: md5 }\n', 'signing.algorithm'],
    ['a state nobody knows', 'statuses: { payment: { "1": paid } }\n', 'statuses.payment.1'],
    ['a code that is a number', `${REQUIRED}results: { accepted: [1] }\n`, 'results.accepted.0'],
    ['a code that would lose its zeros', 'statuses: { payment: { 0012: captured } }\n', '0012'],
    [
      'a timezone nobody knows',
      `${REQUIRED}transactionDate: { timezone: Mars }\n`,
      'transactionDate.timezone',
    ],
    [
      'an abbreviation of a timezone',
      `${REQUIRED}transactionDate: { timezone: EET }\n`,
      'transactionDate.timezone',
    ],
    ['a limit of zero', `${REQUIRED}limits: { concurrency: 0 }\n`, 'limits.concurrency'],
    ['a limit past all sense', `${REQUIRED}limits: { timeoutMs: 9999999 }\n`, 'limits.timeoutMs'],
    [
      'a signature that signs itself',
      'signing: { fields: { default: [encryption_data] } }\n',
      'signing.fields.default.0',
    ],
    ['a broken path', 'signing: { fields: { default: ["a[0].b"] } }\n', 'signing.fields.default.0'],
    ['equal review flags', `${REQUIRED}reviewFlags: { accept: "2" }\n`, 'reviewFlags'],
    ['a currency in lower case', `${REQUIRED}currencies: { kwd: 3 }\n`, 'currencies.kwd'],
    ['a payout unit nobody knows', `${REQUIRED}payout: { unit: cents }\n`, 'payout.unit'],
    [
      'an empty separator of the order list',
      `${REQUIRED}query: { orderList: { separator: "" } }\n`,
      'query.orderList.separator',
    ],
    ['a key given twice', `${REQUIRED}siteField: a\nsiteField: b\n`, 'siteField'],
    [
      'a code given once quoted and once not',
      'statuses: { payment: { "2000": authorised, 2000: captured } }\n',
      '2000',
    ],
    [
      'the same the other way round, by an alias',
      'siteField: &a "2000"\nstatuses: { payment: { 2000: authorised, *a : captured } }\n',
      '2000',
    ],
    ['a list in place of the map', '- signing\n', ''],
  ];
  it.each(refused)('refuses %s and names file and key', (_, text, key) => {
    let error: unknown;
    try {
      parseProfile(text, 'gateway-profile.yaml');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).key).toBe(key);
    expect((error as ConfigurationError).message).toContain('gateway-profile.yaml');
  });

  it.each([
    ['an unknown key', 'siteFeld: x\n', 'siteFeld: unknown key (line 3)'],
    ['a value that cannot be', 'limits:\n  concurrency: 0\n', ' (line 4)'],
    ['a key given twice', 'currencies:\n  KWD: 3\n  "KWD": 2\n', ' (line 5)'],
  ])('tells the line of %s', (_, text, words) => {
    expect(() => parseProfile(REQUIRED + text, 'p.yaml')).toThrow(words);
  });
});

describe('profileOrigins', () => {
  it('tells for each key whether the file gives it', () => {
    const text = `${REQUIRED}query: { orderList: { field: orders } }\ncurrencies: { KWD: 3 }\n`;
    const origins = new Map(profileOrigins(text, 'p.yaml').map((o) => [o.key, o.origin]));
    expect(origins.get('query.orderList.field')).toBe('file');
    expect(origins.get('query.orderList.separator')).toBe('default');
    expect(origins.get('statuses.payment')).toBe('file');
    expect(origins.get('currencies')).toBe('file');
    expect(origins.get('limits.timeoutMs')).toBe('default');
    expect(origins.get('operations.searchRefund')).toBe('default');
  });

  it('tells what the document shows where nothing is set', () => {
    const origins = profileOrigins(null, '');
    expect(origins.map(({ key }) => key).sort()).toEqual(Object.keys(SHOWN).sort());
    const shown = origins.filter(({ origin }) => origin !== 'default');
    expect(shown.map(({ key, origin }) => [key, origin])).toEqual([
      ['signing.inBody', 'document'],
      ['query.found', 'document'],
      ['results.accepted', 'document'],
      ['payments.accepted', 'document'],
      ['siteField', 'document'],
      ['currencies', 'document'],
      ['payout.statuses.done', 'document'],
    ]);
  });
});

describe('stateOf', () => {
  it.each([
    ['3000', 'captured'],
    ['1500', 'in_review'],
    ['9999', null],
    ['', null],
    ['constructor', null],
    ['__proto__', null],
  ])('reads the code %j as %j', (code, state) => {
    expect(stateOf(sandboxProfile(), code)).toBe(state);
  });
});
