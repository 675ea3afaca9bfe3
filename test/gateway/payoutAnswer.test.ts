// What became of a payout, by its answer alone: every field that comes back is held to what was
// asked, and what its status means is the profile's word.

import { describe, expect, it } from 'vitest';
import { preparePayout, readPayoutAnswer } from '../../src/gateway/batches/preparePayout.js';
import type { Profile } from '../../src/gateway/document/profile.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { rawAnswer } from './batchAnswer.js';
import { ACCOUNT } from './rawServer.js';
import { PAYOUT, payoutJson } from './samples.js';

type Statuses = Profile['payout']['statuses'];

function readingOf(change: Record<string, unknown>, statuses: Partial<Statuses> = {}) {
  const profile = sandboxProfile();
  profile.payout.statuses = { ...profile.payout.statuses, ...statuses };
  const sent = preparePayout(profile, ACCOUNT, PAYOUT);
  return readPayoutAnswer(profile, sent, rawAnswer(payoutJson(change)));
}

const { beneficiary, payer } = PAYOUT;
const bank = beneficiary.bank_details;
const [paper] = beneficiary.person_documents;

describe('the answer to a payout', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['another IBAN', { bank_details: { iban: 'PL00' } }, 'beneficiary.bank_details.iban'],
    ['an IBAN that is a number', { bank_details: { iban: 1 } }, 'beneficiary.bank_details.iban'],
    ['an empty IBAN', { bank_details: { iban: '' } }, 'beneficiary.bank_details.iban'],
    ['a bank that is a text', { bank_details: 'PL61' }, 'beneficiary.bank_details'],
    ['another company', { company_name: 'Lok sp. z o.o.' }, 'beneficiary.company_name'],
    ['another country', { address: { country_code: 'DE' } }, 'beneficiary.address.country_code'],
    ['a list for a record', { address: [] }, 'beneficiary.address'],
    ['a document less', { person_documents: [] }, 'beneficiary.person_documents'],
    [
      'another label of a document',
      { person_documents: [{ ...paper, labels: ['front', 'side'] }] },
      'beneficiary.person_documents[0].labels[1]',
    ],
  ])('is unknown with %s of the beneficiary', (_, change, path) => {
    const outcome = readingOf({ beneficiary: { ...beneficiary, ...change } });
    expect(outcome).toEqual({ kind: 'unknown', reason: `${path} is not what was sent` });
  });

  it.each([
    ['merchant_id', 'M9'],
    ['account_id', 'A9'],
    ['request_id', '0f8fad5b-d9cb-469f-a165-70867728950f'],
    ['payment_amount', '150001'],
    ['payment_currency', 'EUR'],
    ['payment_date', '2026-11-21'],
    ['payment_method', 'LOCAL'],
    ['fee_paid_by', 'BENEFICIARY'],
    ['swift_charge_option', 'OUR'],
    ['fund_source', 'Other'],
    ['reason', 'salary'],
    ['payer', 'Shop'],
    ['payer', []],
    ['beneficiary', 'Łuk sp. z o.o.'],
    ['merchant_id', undefined],
    ['account_id', null],
    ['request_id', undefined],
    ['payment_amount', null],
    ['payment_currency', undefined],
  ])('is unknown with another %s: %s', (name, value) => {
    const outcome = readingOf({ [name]: value });
    expect(outcome).toEqual({ kind: 'unknown', reason: `${name} is not what was sent` });
  });

  it.each<[string, Record<string, unknown>]>([
    ['what is not echoed', { reason: undefined, payer: null, beneficiary: undefined }],
    ['a part that is not echoed', { beneficiary: { ...beneficiary, bank_details: null } }],
    ['what the gateway knows besides', { beneficiary_id: 'B-7', source_currency: 'PLN' }],
    [
      'a bank that it knows better',
      {
        beneficiary: { ...beneficiary, bank_details: { iban: bank.iban, swift_code: 'BANKPL' } },
      },
    ],
    ['the amount as a number', { payment_amount: 150_000 }],
    ['a signature of its own', { encryption_data: 'cd' }],
  ])('is accepted with %s', (_, change) => {
    expect(readingOf(change).kind).toBe('accepted');
  });

  it('is unknown with another payer', () => {
    const outcome = readingOf({ payer: { ...payer, company_name: 'Other' } });
    expect(outcome).toEqual({ kind: 'unknown', reason: 'payer.company_name is not what was sent' });
  });

  it('names no value that came back', () => {
    const secret = 'DE89370400440532013000';
    const outcome = readingOf({ beneficiary: { ...beneficiary, bank_details: { iban: secret } } });
    expect(JSON.stringify(outcome)).not.toContain(secret);
  });
});

describe('the status of a payout', () => {
  const statuses = { done: ['PAID'], pending: ['PENDING', 'SENT'], failed: ['RETURNED'] };
  it.each([
    ['PAID', {}, 'accepted'],
    ['PENDING', {}, 'pending'],
    ['SENT', {}, 'pending'],
    ['RETURNED', {}, 'rejected'],
    ['RETURNED', { failure_reason: 'closed' }, 'rejected'],
    ['OTHER', { failure_reason: 'closed' }, 'rejected'],
    ['OTHER', {}, 'unknown'],
    // The default is a list like any other: the profile replaces it.
    ['COMPLETED', {}, 'unknown'],
    ['pending', {}, 'unknown'],
    ['PENDING', { failure_type: 'BANK' }, 'unknown'],
    ['PAID', { failure_type: 'BANK' }, 'unknown'],
    ['PENDING', { transaction_id: '' }, 'unknown'],
  ])('%s with %j is %s', (status, change, kind) => {
    expect(readingOf({ status, ...change }, statuses).kind).toBe(kind);
  });

  it.each(['PENDING', 'FAILED', 'RETURNED', ''])('%j means nothing by itself', (status) => {
    expect(readingOf({ status }).kind).toBe('unknown');
  });
});
