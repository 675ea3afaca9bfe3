// `tieout gateway`: one call tried by a person, what is printed of it and what never is.

import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { gatewayCommand } from '../../src/cli/gateway/gateway.js';
import {
  CALLS,
  type CallName,
  type CallReport,
  callGateway,
  movesMoney,
} from '../../src/cli/gateway/gatewayCall.js';
import { callLines, shownCall } from '../../src/cli/gateway/gatewayText.js';
import { UsageError } from '../../src/core/errors.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import { ACCOUNT, httpText, type RawServer, rawServer } from './rawServer.js';
import {
  APM,
  APM_XML,
  BATCH_SAMPLES,
  batchJson,
  CARD,
  CHECKOUT_HTML,
  PAYMENT,
  PAYOUT,
  paymentXml,
  payoutJson,
  QUERY_JSON,
} from './samples.js';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function call(
  name: CallName,
  fields: Record<string, unknown>,
  answer: string,
  status = '200 OK',
  profile = sandboxProfile(),
): Promise<CallReport & { server: RawServer }> {
  const server = await rawServer({ asked: (socket) => socket.write(httpText(answer, [], status)) });
  const client = createPaymentClient({ profile, baseUrl: server.baseUrl });
  open.push(server.close, client.close);
  return { ...(await callGateway(client, ACCOUNT, name, fields)), server };
}

const ENTRY = { transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' };
const batch = (name: keyof typeof BATCH_SAMPLES) => ({
  [`${name}_orders`]: [{ ...ENTRY, ...BATCH_SAMPLES[name].sent }],
});

describe('one call', () => {
  const fine: [CallName, Record<string, unknown>, string, string, string][] = [
    ['query', { order_no: 'SO-1' }, QUERY_JSON, 'page', '/v1/retrievalTrans'],
    ['capture', batch('capture'), batchJson('capture'), 'accepted', '/v1/capture'],
    ['cancel', batch('cancel'), batchJson('cancel'), 'accepted', '/v1/cancel'],
    ['refund', batch('refund'), batchJson('refund'), 'accepted', '/v1/refund'],
    ['review', batch('review'), batchJson('review'), 'accepted', '/v1/review'],
    ['authorise', { ...PAYMENT, ...CARD }, paymentXml(), 'accepted', '/v1/authorise'],
    ['authorise', { ...APM }, APM_XML, 'redirect', '/v1/authorise'],
    ['checkout', { ...PAYMENT }, CHECKOUT_HTML, 'page', '/v1/checkout'],
    ['payout', { ...PAYOUT }, payoutJson(), 'accepted', '/v1/payout'],
  ];
  it.each(fine)('%s: is sent once and understood', async (name, fields, answer, kind, path) => {
    const report = await call(name, fields, answer);
    expect(report).toMatchObject({ kind, isFine: true, request: { path }, unmapped: {} });
    expect(report.server.connections()).toBe(1);
    const lines = callLines(name, 'A1', report).join('\n');
    expect(lines).toContain(`POST ${path} (application/`);
    expect(lines).toContain(`Answer: ${kind}`);
    expect(lines).toContain('Signed: merchant_id, account_id');
    const shown = shownCall(name, 'A1', report);
    expect(JSON.parse(JSON.stringify(shown))).toMatchObject({ operation: name, accountId: 'A1' });
  });

  it.each(fine)('%s: prints no secret', async (name, fields, answer) => {
    const cookie = name === 'authorise' ? { cookie_new: 'c00kie', note: `card ${CARD.card}` } : {};
    const unmasked = answer.replace('411111******1111', CARD.card);
    const report = await call(name, { ...fields, ...cookie }, unmasked);
    const printed = [
      callLines(name, 'A1', report).join('\n'),
      JSON.stringify(shownCall(name, 'A1', report)),
    ].join('\n');
    const [received = ''] = report.server.received;
    const signature = /[0-9a-f]{64}/.exec(received)?.[0] ?? 'no signature';
    for (const secret of [CARD.card, '"123"', 'c00kie', signature, ACCOUNT.signingKey, 'tok-1']) {
      expect(printed).not.toContain(secret);
    }
  });

  it('shows no half of a card number where an answer that is not understood is cut', async () => {
    const { card } = CARD;
    for (const start of [3_975, 3_985, 3_995]) {
      const answer = `${'x'.repeat(start)} ${card} declined`;
      const report = await call('authorise', { ...PAYMENT, ...CARD }, answer);
      const printed = callLines('authorise', 'A1', report).join('\n');
      expect(printed).toContain('xxxx 4');
      expect(printed).not.toContain(card.slice(0, 7));
    }
  });

  it('hides secrets of an answer that it does not understand, too', async () => {
    const answer = paymentXml({ card: CARD.card, merchant_id: 'M9' });
    const report = await call('authorise', { ...PAYMENT, ...CARD }, answer);
    const printed = callLines('authorise', 'A1', report).join('\n');
    expect(printed).toContain('<order_no>SO-1</order_no>');
    for (const secret of [CARD.card, 'tok-1', '"123"']) expect(printed).not.toContain(secret);
    expect(printed).not.toMatch(/[0-9a-f]{64}/);
  });

  it('says of a signature in the head under which name it goes, and what is signed as it is', async () => {
    const profile = sandboxProfile();
    Object.assign(profile.signing, { sort: true, inBody: false, output: 'base64' });
    profile.signing.algorithm = 'hmac-sha512';
    profile.signing.headers = { 'X-Signature': '{signature}', Authorization: 'Bearer {key}' };
    const date = '20261110153529';
    const answer = QUERY_JSON.replace(/"transaction_date":"\d+"/, `"transaction_date":"${date}"`);
    const report = await call('query', { order_no: 'SO-1' }, answer, '200 OK', profile);
    const printed = callLines('query', 'A1', report).join('\n');
    expect(printed).toContain('Signed: account_id, merchant_id\n');
    expect(printed).toContain('  X-Signature: ***\n  Authorization: ***\n');
    expect(printed).not.toContain('encryption_data');
    expect(printed).not.toContain(ACCOUNT.signingKey);
    // It passes for a card number.
    expect(printed).toContain(`"transactionDate": "${date}"`);
    const echoed = { return_status: '0', encryption_data: 'qrvM/+Y='.repeat(11) };
    const refused = await call(
      'capture',
      batch('capture'),
      JSON.stringify(echoed),
      '200 OK',
      profile,
    );
    expect(callLines('capture', 'A1', refused).join('\n')).not.toContain('qrvM');
  });

  it.each([
    ['200 OK', true],
    ['400 Bad Request', false],
  ])('calls an answer with %s of what nobody knows fine: %s', async (head, isFine) => {
    const profile = sandboxProfile();
    profile.operations.searchRefund = { path: '/v1/searchRefund', body: 'json' };
    const report = await call('searchRefund', {}, '{}', head, profile);
    expect(report).toMatchObject({ kind: 'answered', isFine });
  });

  it('names the codes that have no meaning in the profile yet', async () => {
    const answer = QUERY_JSON.replace('"3000"', '"7777"');
    const report = await call('query', { order_no: 'SO-1' }, answer);
    expect(report).toMatchObject({ kind: 'page', unmapped: { '7777': 1 }, isFine: false });
    expect(callLines('query', 'A1', report).at(-1)).toContain('payment_status 7777 of 1 order(s)');
  });

  it('names a code of subscriptions, which is no fault of the call', async () => {
    const entries = JSON.parse(QUERY_JSON) as { orders_list: Record<string, unknown>[] };
    const [first = {}] = entries.orders_list;
    const subscription = (recurring_status: string) => ({
      ...first,
      subscription_result: { recurring_status },
    });
    entries.orders_list = ['7', '7', '1', ''].map(subscription);
    const report = await call('query', { order_no: 'SO-1' }, JSON.stringify(entries));
    const told = { unmapped: {}, unmappedRecurring: { '7': 2 }, isFine: true };
    expect(report).toMatchObject(told);
    expect(shownCall('query', 'A1', report)).toMatchObject(told);
    expect(callLines('query', 'A1', report).at(-1)).toBe(
      'recurring_status 7 of 2 order(s) has no meaning in the profile yet: statuses.recurring',
    );
  });

  it.each([
    ['HTML', '<html>Sorry</html>', '200 OK', 'failed'],
    ['an error', '{"error":"signature"}', '403 No', 'failed'],
  ])('shows a query answer that is %s as it came', async (_, answer, status, kind) => {
    const report = await call('query', {}, answer, status);
    expect(report).toMatchObject({ kind, isFine: false });
    expect(callLines('query', 'A1', report)).toContain(answer);
  });

  it.each([
    ['capture', batch('capture'), batchJson('capture', { capture_status: '0' }), 'unknown'],
    [
      'capture',
      batch('capture'),
      batchJson('capture', { capture_status: '0', error_message: 'no' }),
      'rejected',
    ],
    ['authorise', { ...PAYMENT, ...CARD }, paymentXml({ result_info: '9:No' }), 'unknown'],
    ['payout', { ...PAYOUT }, payoutJson({ status: 'PENDING' }), 'unknown'],
  ] as const)('says what became of a %s', async (name, fields, answer, kind) => {
    const report = await call(name, fields, answer);
    expect(report).toMatchObject({ kind, isFine: false });
  });

  it.each([
    ['capture', { capture_orders: [{ ...ENTRY, amount: '10' }] }, 'printed shape'],
    ['capture', { capture_orders: [{ ...ENTRY, refund_amount: '1.00' }] }, 'no field of it'],
    ['capture', { orders: [] }, 'no field of it'],
    ['capture', {}, 'must be a list'],
    ['refund', { refund_orders: [ENTRY] }, 'refund_amount must be text'],
    [
      'capture',
      { capture_orders: [{ ...ENTRY, transaction_id: ` ${ENTRY.transaction_id}` }] },
      'capture: transaction_id begins or ends with a space',
    ],
    ['review', { review_orders: [{ ...ENTRY, review_flag: '9' }] }, 'must be 1 or 2'],
    ['authorise', { ...PAYMENT, amount: '1' }, 'amount must be an amount'],
    ['searchRefund', {}, 'operations.searchRefund'],
    ['query', { order_no: 1 }, 'order_no must be text'],
    ['query', { order_no: 'SO-1,'.repeat(100) }, 'at most 100 orders a request'],
    ['query', { page_no: '1', page_size: '101' }, 'at most 100 orders a request'],
  ] as const)('refuses a %s that must not be sent as wrong usage', async (name, fields, words) => {
    const failed = call(name, fields, '{}');
    await expect(failed).rejects.toThrow(UsageError);
    await expect(failed).rejects.toThrow(words);
  });

  it('names fields that the document does not print', async () => {
    const report = await call('authorise', { ...PAYMENT, ...CARD, colour: 'red' }, paymentXml());
    expect(callLines('authorise', 'A1', report)).toContain('Not in the document: colour');
  });
});

describe('the command', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-command-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const run = (...args: string[]) =>
    gatewayCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, {
        from: 'user',
      });

  const described = CALLS.filter((name) => movesMoney(name) && name !== 'cancelSubscription');
  it.each(described)('wants --yes for %s', async (name) => {
    await expect(run(name)).rejects.toThrow('repeat the command with --yes');
  });

  it('lets everybody look', () => {
    expect(CALLS.filter((name) => !movesMoney(name))).toEqual([
      'query',
      'searchRefund',
      'optimisePaymentMethods',
    ]);
  });

  it.each([
    ['no such file', 'none.json', null, 'cannot be read'],
    ['no JSON', 'a.json', 'order', 'it is not JSON'],
    ['a list', 'b.json', '[]', 'it is no JSON object'],
    ['a field twice', 'c.json', '{"order_no":"1","order_no":"2"}', 'it names a field twice'],
    ['too much', 'd.json', `{"a":"${'x'.repeat(1_048_577)}"}`, 'larger'],
  ])('refuses a body that is %s', async (_, name, text, words) => {
    const file = join(folder, name);
    if (text !== null) writeFileSync(file, text);
    const failed = run('query', '--body', file);
    await expect(failed).rejects.toThrow(UsageError);
    await expect(failed).rejects.toThrow(words);
  });

  it('knows its operations', async () => {
    await expect(run('pay')).rejects.toThrow(/choices|invalid/i);
  });
});
