// Stored payment responses: what of the XML is read, what is refused, which orders it reaches.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { parseProfile, sandboxProfile } from '../../src/gateway/document/profile.js';
import { parsePaymentResponse } from '../../src/gateway/payments/paymentResponse.js';
import { responseSignatureOf } from '../../src/gateway/wire/sign.js';
import { importResponses } from '../../src/ledger/imports/importResponses.js';
import { freshDatabase } from '../support/database.js';

const FIELDS = {
  merchant_id: 'M1',
  account_id: 'A1',
  order_no: '0001',
  amount: '10.00',
  currency: 'EUR',
  transaction_id: '0099',
  card: '411111******1111',
  order_status: '1',
  result_info: '0000:Success',
  encryption_data: 'ab',
};

function xml(fields: Record<string, string> = {}, extra = ''): string {
  const all = Object.entries({ ...FIELDS, ...fields });
  const body = all.map(([name, value]) => `  <${name}>${value}</${name}>\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<respon>\n${body}${extra}</respon>\n`;
}

describe('parsePaymentResponse', () => {
  it('reads the elements of the document and coerces none', () => {
    const extra = '<risk_reasons><name>a</name><status>b</status></risk_reasons><note/>';
    expect(
      parsePaymentResponse(xml({ note: 'a &amp; &#228;' }, extra.replace('<note/>', ''))),
    ).toEqual({
      kind: 'response',
      merchantId: 'M1',
      accountId: 'A1',
      orderNo: '0001',
      amount: 1000n,
      currency: 'EUR',
      transactionId: '0099',
      orderStatus: '1',
      resultCode: '0000',
      resultMessage: 'Success',
      signature: 'ab',
      values: { ...FIELDS, note: 'a & ä' },
    });
  });

  it('reads the answer of an alternative payment method, which has no transaction', () => {
    const apm = `<respon><merchant_id>M1</merchant_id><account_id>A1</account_id>
      <order_no>1</order_no><amount>1.00</amount><currency>EUR</currency>
      <issuer_url>https://x</issuer_url></respon>`;
    expect(parsePaymentResponse(apm)).toMatchObject({ transactionId: null, resultCode: null });
  });

  it.each([
    ['a DOCTYPE', `<!DOCTYPE respon [<!ENTITY a "b">]>${xml().slice(39)}`, 'DOCTYPE'],
    ['a DOCTYPE in small letters', `<!doctype x>${xml().slice(39)}`, 'DOCTYPE'],
    ['its end cut off', xml().slice(0, -12), 'well-formed'],
    ['an element left open', xml({}, '<note>'), 'well-formed'],
    ['two roots', `${xml()}${xml().slice(39)}`, 'well-formed'],
    ['an empty second root', `${xml()}<respon/>`, 'more than one root'],
    ['something after the root', `${xml()}<a/>`, 'no root element respon'],
    ['another root', xml().replaceAll('respon>', 'reply>'), 'no root element respon'],
    ['nothing in it', '', 'well-formed'],
    ['an empty root', '<respon/>', 'empty respon'],
    ['an amount twice', xml({}, '<amount>10.00</amount>'), 'amount more than once'],
    ['an order twice', xml({}, '<x:order_no>2</x:order_no>'), 'order_no more than once'],
    ['an amount with an attribute', xml().replace('<amount>', '<amount a="1">'), 'printed shape'],
    ['an amount with a child', xml({ amount: '<a>1.00</a>' }), 'printed shape'],
    ['an amount of another shape', xml({ amount: '10' }), 'printed shape'],
    ['an amount in scientific notation', xml({ amount: '1e5' }), 'printed shape'],
    ['no order number', xml({ order_no: '' }), 'order_no'],
    ['no currency', xml({ currency: '978' }), 'currency'],
    ['text between elements', xml({}, 'loose'), 'text outside'],
    ['a tag of the prototype', xml({}, '<__proto__>1</__proto__>'), ''],
    ['deep nesting', xml({}, `${'<a>'.repeat(50)}${'</a>'.repeat(50)}`), 'nested'],
    ['bottomless nesting', xml({}, `${'<a>'.repeat(9000)}${'</a>'.repeat(9000)}`), ''],
    ['too many bytes', xml({ note: 'x'.repeat(300_000) }), 'larger'],
    ['another encoding', xml().replace('UTF-8', 'ISO-8859-1'), 'encoding'],
    ['HTML', '<html><body><p>Bad gateway</body></html>', ''],
    ['JSON', '{"respon":{}}', ''],
  ])('refuses a document with %s', (_, text, reason) => {
    expect(parsePaymentResponse(text)).toEqual({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
  });

  it('refuses bytes that are no UTF-8', () => {
    const bytes = Buffer.from(xml({ note: 'ü' }), 'latin1');
    expect(parsePaymentResponse(bytes)).toEqual({ kind: 'refused', reason: 'is not UTF-8 text' });
  });

  it('never throws, whatever the bytes are', () => {
    const cut = fc.tuple(fc.nat(xml().length), fc.string(), fc.nat(20));
    fc.assert(
      fc.property(cut, ([at, inserted, gone]) => {
        const text = xml();
        const reading = parsePaymentResponse(text.slice(0, at) + inserted + text.slice(at + gone));
        expect(['response', 'refused']).toContain(reading.kind);
      }),
      { numRuns: 500 },
    );
  });
});

describe('import responses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-responses-'));
  const fresh = await freshDatabase();
  const { db } = fresh;
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await fresh.drop();
  });
  beforeEach(() =>
    db.query(`truncate ledger.orders;
      insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
      values ('A1', '0001', 'EUR', 10, 'captured', now()),
        ('A1', '0002', 'EUR', 20, 'captured', now()), ('A2', '0001', 'EUR', 30, 'captured', now())`),
  );

  const profile = sandboxProfile();
  profile.signing.responses = 'off';
  const accounts = [
    { merchantId: 'M1', accountId: 'A1', signingKey: 'k1', previousSigningKey: 'k0' },
    { merchantId: 'M1', accountId: 'A2', signingKey: 'k2' },
  ];
  let files = 0;

  async function load(texts: string[], check = false, over = profile) {
    const paths = texts.map((text) => {
      files += 1;
      const path = join(folder, `${files}.xml`);
      writeFileSync(path, text);
      return path;
    });
    return importResponses({ db, profile: over, accounts }, paths, { check });
  }

  async function transactions() {
    const sql = 'select transaction_id as t from ledger.orders order by account_id, order_no';
    return (await db.query<{ t: string | null }>(sql)).rows.map(({ t }) => t);
  }

  it('gives each order the transaction of its own response', async () => {
    const second = xml({ order_no: '0002', amount: '20.00', transaction_id: 'T2' });
    expect(await load([xml(), second])).toEqual({
      kind: 'imported',
      check: false,
      inserted: 0,
      updated: 2,
      unchanged: 0,
      skipped: 0,
      warnings: [],
    });
    expect(await transactions()).toEqual(['0099', 'T2', null]);
    expect(await load([xml(), second])).toMatchObject({ updated: 0, unchanged: 2 });
  });

  it('skips an answer without success', async () => {
    const declined = xml({ result_info: '0101:Declined', transaction_id: 'T0' });
    expect(await load([declined, xml()])).toMatchObject({ updated: 1, skipped: 1 });
    expect(await transactions()).toEqual(['0099', null, null]);
  });

  it('counts the same response stored twice once', async () => {
    expect(await load([xml(), xml()])).toMatchObject({ updated: 1, unchanged: 1 });
  });

  it('writes nothing under --check', async () => {
    expect(await load([xml()], true)).toMatchObject({ check: true, updated: 1 });
    expect(await transactions()).toEqual([null, null, null]);
  });

  it.each([
    ['an unknown order', [xml({ order_no: '0009' })], 'order_no', 'no such order of A1'],
    ['another amount', [xml({ amount: '10.01' })], 'amount', 'the ledger has 10.00'],
    ['another currency', [xml({ currency: 'USD' })], 'currency', 'the ledger has EUR'],
    ['two transactions', [xml(), xml({ transaction_id: 'T5' })], 'transaction_id', '0099'],
    ['no transaction', [xml({ transaction_id: '' })], null, 'no transaction_id'],
    ['another merchant', [xml({ merchant_id: 'M9' })], null, 'another merchant'],
    ['broken XML', ['<respon>'], null, 'well-formed'],
  ])('refuses %s and takes none of the files', async (_, texts, column, reason) => {
    const good = xml({ account_id: 'A2', amount: '30.00', transaction_id: 'T3' });
    const result = await load([good, ...texts]);
    expect(result).toMatchObject({
      kind: 'refused',
      problems: [{ line: null, column, reason: expect.stringContaining(reason) }],
    });
    expect(await transactions()).toEqual([null, null, null]);
  });

  it('never replaces a transaction that the ledger has', async () => {
    await load([xml()]);
    const other = await load([xml({ transaction_id: 'T5' })]);
    expect(other).toMatchObject({
      kind: 'refused',
      problems: [{ value: 'T5', reason: expect.stringContaining('0099') }],
    });
    expect(await transactions()).toEqual(['0099', null, null]);
  });

  it('asks for the signature as the profile says', async () => {
    const strict = parseProfile(
      PROFILE_TEMPLATE.replace('responses: warn', 'responses: enforce'),
      'p.yaml',
    );
    const signature = responseSignatureOf(strict.signing, 'authorise', 'k1', FIELDS);
    const signed = xml({ encryption_data: signature });
    const before = responseSignatureOf(strict.signing, 'authorise', 'k0', FIELDS);
    expect(await load([xml({ encryption_data: before })], true, strict)).toMatchObject({
      kind: 'imported',
      warnings: ['1 are signed with accounts[].previousSigningKey'],
    });
    expect(await load([signed], false, strict)).toMatchObject({ kind: 'imported', updated: 1 });
    expect(await load([xml()], false, strict)).toMatchObject({
      kind: 'refused',
      problems: [{ reason: expect.stringContaining('signature') }],
    });
    expect(await load([xml()], false, sandboxProfile())).toMatchObject({
      kind: 'imported',
      warnings: [expect.stringContaining('1 bear no signature')],
    });
  });
});
