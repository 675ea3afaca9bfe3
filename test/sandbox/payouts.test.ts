// Payouts on the wire, held against the tables "Payout request" and "Payout response".

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { ACCOUNT, OTHER_ACCOUNT, startHere } from './startedSandbox.js';
import { effects, type Fields, postJson, signed } from './wireClient.js';

const REQUEST = {
  request_id: 'c0ffee00-0000-4000-8000-000000000001',
  payment_currency: 'USD',
  payment_amount: '1250',
};
const WHOLE = {
  ...REQUEST,
  beneficiary_id: 'B-1',
  beneficiary: {
    entity_type: 'COMPANY',
    company_name: 'Żabka',
    bank_details: { iban: 'PL00', bank_code: '77', bank_name: 'Bank' },
  },
  payer: { entity_type: 'COMPANY', company_name: 'Shop' },
  ...{ client_data: 'mine', fee_paid_by: 'PAYER', payment_date: '2026-11-20' },
  ...{ payment_method: 'SWIFT', reason: 'services', reference: 'INV-1', source_amount: '1250' },
  ...{ source_currency: 'USD', swift_charge_option: 'SHARED', fund_source: 'DepositAccount' },
};

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startHere();
});
afterEach(() => sandbox.close());

async function payOut(fields: Fields, at = sandbox): Promise<Record<string, unknown>> {
  const answer = await postJson(`${at.baseUrl}/v1/payout`, signed(ACCOUNT, 'payout', fields));
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

describe('a payout', () => {
  it('needs only what is signed', async () => {
    expect(await payOut(REQUEST)).toMatchObject({ ...REQUEST, status: 'COMPLETED' });
  });

  it('is called as the profile calls it', async () => {
    const profile = sandboxProfile();
    profile.payout.statuses = { done: ['DONE'], pending: ['WAIT'], failed: ['BAD'] };
    const other = await startHere({ profile });
    const statusOf = async (reference: string, request_id = reference) =>
      (await payOut({ ...REQUEST, request_id, reference }, other)).status;
    expect([
      await statusOf('INV-1'),
      await statusOf('PENDING-1'),
      await statusOf('FAIL-1'),
    ]).toEqual(['DONE', 'WAIT', 'BAD']);
    await other.close();
  });

  it('answers with the request and every field that the document adds', async () => {
    const record = await payOut(WHOLE);
    const { beneficiary, ...echoed } = WHOLE;
    expect(record).toMatchObject(echoed);
    expect(record.beneficiary).toEqual({
      ...beneficiary,
      bank_details: { iban: 'PL00', bank_name: 'Bank', local_clearing_system: '' },
    });
    expect(record).toMatchObject({
      ...{ amount_beneficiary_receives: 1250, amount_payer_pays: 1250, fee_amount: 0 },
      ...{ fee_currency: 'USD', failure_reason: '', failure_type: '', status: 'COMPLETED' },
      ...{ created_at: '2026-11-20T03:00:00+0000', last_updated_at: '2026-11-20T03:00:00+0000' },
      payer_id: 'PYA1001',
    });
    expect(record.transaction_id).toMatch(/^P20261120A\d{6}$/);
    expect(record.short_reference_id).toMatch(/^20261120-\w{6}$/);
  });

  it('is an effect under its request_id', async () => {
    const { transaction_id } = await payOut(REQUEST);
    expect(await effects(sandbox.baseUrl)).toEqual([
      {
        at: '2026-11-20T03:00:00.000Z',
        operation: 'payout',
        account_id: ACCOUNT.accountId,
        order_no: REQUEST.request_id,
        transaction_id,
        amount: '1250',
        request: expect.stringMatching(/^request-\d+\.[0-9a-f]{64}$/),
      },
    ]);
  });

  it('pays again when it is asked again', async () => {
    const first = await payOut(REQUEST);
    const second = await payOut(REQUEST);
    expect(second.transaction_id).not.toBe(first.transaction_id);
    expect(await effects(sandbox.baseUrl)).toHaveLength(2);
  });

  it('is not paid again by a strict sandbox', async () => {
    const strict = await startHere({ strict: true });
    await payOut(REQUEST, strict);
    expect(await payOut(REQUEST, strict)).toMatchObject({
      status: 'FAILED',
      failure_type: 'DUPLICATE_REQUEST',
      transaction_id: '',
    });
    expect(await payOut({ ...REQUEST, request_id: 'another' }, strict)).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await effects(strict.baseUrl)).toHaveLength(2);
    await strict.close();
  });

  it.each<[string, Fields, string]>([
    ['a reference that begins with FAIL', { reference: 'FAIL-7' }, 'BENEFICIARY_REJECTED'],
    ['an amount with decimals', { payment_amount: '12.50' }, 'INVALID_REQUEST'],
    ['no money', { payment_amount: '0' }, 'INVALID_REQUEST'],
    ['no currency', { payment_currency: 'Dollar' }, 'INVALID_REQUEST'],
    ['no request_id', { request_id: '' }, 'INVALID_REQUEST'],
    ['an unknown account', { account_id: 'A9' }, 'INVALID_REQUEST'],
  ])('with %s fails, says why and pays nothing', async (_name, change, type) => {
    const record = await payOut({ ...REQUEST, ...change });
    expect(record).toMatchObject({ status: 'FAILED', failure_type: type });
    expect(record.failure_reason).not.toBe('');
    expect(record).toMatchObject({ amount_payer_pays: 0, transaction_id: '' });
    expect(await effects(sandbox.baseUrl)).toEqual([]);
  });

  it('with the signature of another account fails', async () => {
    const forged = { ...ACCOUNT, signingKey: OTHER_ACCOUNT.signingKey };
    const message = signed(forged, 'payout', REQUEST);
    const answer = await postJson(`${sandbox.baseUrl}/v1/payout`, message);
    expect(await answer.json()).toMatchObject({
      status: 'FAILED',
      failure_reason: 'wrong signature',
    });
  });
});
