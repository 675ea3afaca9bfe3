// The redirect's request as XML: text worked out by hand, what XML cannot hold, what the profile may
// say, and the sandbox that reads it.

import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { readXmlMessage, xmlMessage } from '../../src/gateway/wire/messageXml.js';
import { ACCOUNT, startHere } from '../sandbox/startedSandbox.js';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';
const MAX = 100_000;

describe('a message as XML', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'fields',
      { order_no: 'SO-1', amount: '10.00' },
      '<order_no>SO-1</order_no><amount>10.00</amount>',
    ],
    ['signs of markup', { note: '<a>&"\'' }, '<note>&lt;a&gt;&amp;"\'</note>'],
    ['line ends', { note: 'a\r\n\tb' }, '<note>a&#13;\n\tb</note>'],
    ['other scripts', { note: 'Zoé 東京 😀' }, '<note>Zoé 東京 😀</note>'],
    ['no value, an empty one, a number', { a: undefined, b: null, c: '', d: 3 }, '<c></c><d>3</d>'],
    ['several values', { item: ['x', 'y'] }, '<item>x</item><item>y</item>'],
    ['fields of a field', { cycle: { unit: 'M' } }, '<cycle><unit>M</unit></cycle>'],
  ])('has %s', (_, message, inner) => {
    expect(xmlMessage('request', message)).toBe(`${HEAD}<request>${inner}</request>`);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a name with a blank', { 'the service': 'x' }, /^the service: is no name of an XML element$/],
    ['a control character', { note: 'a\u0000secret' }, /^note: holds a character/],
    ['half a character', { note: 'a\ud800' }, /^note: holds a character/],
  ])('is refused with %s, without its value', (_, message, problem) => {
    expect(() => xmlMessage('request', message)).toThrow(problem);
  });

  it('is read back as it was', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what is refused above.
      return !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(one);
    });
    const message = fc.record({ order_no: text, note: text, amount: fc.constant('1.00') });
    fc.assert(
      fc.property(message, (given) => {
        expect(readXmlMessage(xmlMessage('request', given), MAX)).toEqual(given);
      }),
    );
  });

  it.each([
    '<!DOCTYPE r [<!ENTITY a "b">]><r><x>&a;</x></r>',
    '<r><x>1</x>',
    '<r><x>1</x></r><r/>',
    '<r a="1"><x>1</x></r>',
    '<r>text<x>1</x></r>',
    '<r></r>',
    `<r><x>${'1'.repeat(MAX)}</x></r>`,
  ])('is none as %.60s', (text) => {
    expect(readXmlMessage(text, MAX)).toBeNull();
  });
});

const REQUIRED = 'signing: { algorithm: sha256 }\nstatuses: { payment: { "2000": authorised } }\n';

describe('the profile', () => {
  it.each([
    ['{ default: json, capture: "xml:request" }', 'bodies.capture'],
    ['{ default: "xml:request" }', 'bodies.default'],
    ['{ default: json, checkout: xml }', 'bodies.checkout'],
    ['{ default: json, checkout: "xml:a b" }', 'bodies.checkout'],
  ])('refuses bodies %s', (bodies, key) => {
    expect(() => parseProfile(`${REQUIRED}bodies: ${bodies}\n`, 'p.yaml')).toThrow(key);
  });
});

describe('a hosted page asked for in XML', () => {
  const close: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of close.reverse()) await end();
  });

  it('comes, for what was signed alone', async () => {
    const profile = parseProfile(
      `${REQUIRED}siteField: service\nbodies: { default: json, checkout: "xml:request" }\n`,
      'p.yaml',
    );
    const sandbox = await startHere({ profile });
    close.push(sandbox.close);
    const client = createPaymentClient({ profile, baseUrl: sandbox.baseUrl });
    close.push(client.close);
    const account = { ...ACCOUNT, liveFrom: null };
    const payment = { order_no: 'X-1', amount: '20.00', currency: 'EUR', note: ' <b> & "é"\r\n' };
    const outcome = await client.checkout(account, payment);
    expect(outcome).toMatchObject({ kind: 'page' });
    // As the page's script echoes it.
    const echoed = 'name="note" value=" &lt;b&gt; &amp; &quot;é&quot;';
    expect(outcome.kind === 'page' && outcome.html).toContain(echoed);
    const stranger = { ...account, signingKey: 'another' };
    expect((await client.checkout(stranger, payment)).kind).not.toBe('page');
  });
});
