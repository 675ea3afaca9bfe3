// One entry of a money answer: accepted, rejected or unknown, rule by rule.

import { describe, expect, it } from 'vitest';
import { judgeEntry } from '../../src/gateway/batches/answers.js';

const SENT = { transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' };
const CAPTURED = { ...SENT, capture_status: '1', error_message: '' };
const REFUND = { ...SENT, refund_amount: '4.00', refund_reason: 'late' };
const REFUNDED = { ...REFUND, refund_status: '1', refund_message: 'V0000:OK' };
const REVIEW = { ...SENT, review_flag: '1' };
const REVIEWED = { ...REVIEW, review_status: '1', error_message: '' };
const ABSENT = undefined;

describe('judgeEntry of capture, cancel and review', () => {
  it.each([
    ['the good sample', {}, 'accepted'],
    ['an error message beside status 1', { error_message: 'no' }, 'unknown'],
    ['no error message at all', { error_message: ABSENT }, 'unknown'],
    ['an error message that is null', { error_message: null }, 'unknown'],
    ['a blank error message', { error_message: ' ' }, 'unknown'],
    ['another status with a message', { capture_status: '0', error_message: 'no' }, 'rejected'],
    ['another status without a message', { capture_status: '0' }, 'unknown'],
    ['a status with a space', { capture_status: '1 ' }, 'unknown'],
    ['a status as a number', { capture_status: 1 }, 'unknown'],
    ['an empty status', { capture_status: '', error_message: 'no' }, 'unknown'],
    ['no status', { capture_status: ABSENT, error_message: 'no' }, 'unknown'],
    ['the status of another operation', { capture_status: ABSENT, cancel_status: '1' }, 'unknown'],
    ['another amount', { amount: '10.01' }, 'unknown'],
    [
      'another amount of a rejected one',
      { amount: '1.00', capture_status: '0', error_message: 'no' },
      'unknown',
    ],
    ['an amount of one decimal', { amount: '10.0' }, 'unknown'],
    ['an amount of three decimals', { amount: '10.000' }, 'unknown'],
    ['an amount with a comma', { amount: '10,00' }, 'unknown'],
    ['an amount with a space', { amount: ' 10.00' }, 'unknown'],
    ['an amount as a number', { amount: 10 }, 'unknown'],
    ['an amount in full-width digits', { amount: '１０.00' }, 'unknown'],
    ['a negative amount', { amount: '-10.00' }, 'unknown'],
    ['no amount', { amount: ABSENT }, 'unknown'],
    ['another currency', { currency: 'USD' }, 'unknown'],
    ['a currency in lower case', { currency: 'eur' }, 'unknown'],
    ['no currency', { currency: ABSENT }, 'unknown'],
  ])('reads %s', (_, change, kind) => {
    const outcome = judgeEntry('capture', ['1'], SENT, { ...CAPTURED, ...change });
    expect(outcome.kind).toBe(kind);
    expect('reason' in outcome).toBe(kind === 'unknown');
  });

  it('takes the accepted statuses of the profile', () => {
    const outcome = (status: string) =>
      judgeEntry('capture', ['OK', '00'], SENT, { ...CAPTURED, capture_status: status }).kind;
    expect([outcome('OK'), outcome('00'), outcome('1')]).toEqual([
      'accepted',
      'accepted',
      'unknown',
    ]);
  });

  it('wants the review flag back that was sent', () => {
    expect(judgeEntry('review', ['1'], REVIEW, REVIEWED).kind).toBe('accepted');
    expect(judgeEntry('review', ['1'], REVIEW, { ...REVIEWED, review_flag: '2' }).kind).toBe(
      'unknown',
    );
  });

  it('cuts a message within no character', () => {
    const long = { capture_status: '7', error_message: `x${'😀'.repeat(400)}` };
    const outcome = judgeEntry('capture', ['1'], SENT, { ...CAPTURED, ...long });
    expect(outcome).toMatchObject({ kind: 'rejected', message: `x${'😀'.repeat(249)}` });
  });

  it('keeps status and message of a rejection', () => {
    const answered = { ...CAPTURED, capture_status: '7', error_message: 'expired' };
    expect(judgeEntry('capture', ['1'], SENT, answered)).toEqual({
      transactionId: 'T1',
      orderNo: 'SO-1',
      kind: 'rejected',
      code: '7',
      message: 'expired',
      reference: null,
    });
  });
});

describe('judgeEntry of refund', () => {
  it.each([
    ['the good sample', {}, 'accepted'],
    ['V0000 with another text', { refund_message: 'V0000:done' }, 'accepted'],
    ['V0000 with no text', { refund_message: 'V0000:' }, 'accepted'],
    ['V0000 without a colon', { refund_message: 'V0000' }, 'unknown'],
    ['V0000 in lower case', { refund_message: 'v0000:OK' }, 'unknown'],
    ['V00001', { refund_message: 'V00001:OK' }, 'unknown'],
    ['status 1 with another code', { refund_message: 'E1:no' }, 'unknown'],
    ['V0000 with status 0', { refund_status: '0' }, 'unknown'],
    [
      'another status with another code',
      { refund_status: '0', refund_message: 'E1:no' },
      'rejected',
    ],
    [
      'another status with a code and no text',
      { refund_status: '0', refund_message: 'E1:' },
      'rejected',
    ],
    ['another status with no code', { refund_status: '0', refund_message: ':no' }, 'unknown'],
    ['another status with a text only', { refund_status: '0', refund_message: 'no' }, 'unknown'],
    ['another status with an empty message', { refund_status: '0', refund_message: '' }, 'unknown'],
    ['no message', { refund_message: ABSENT }, 'unknown'],
    ['an empty error message beside V0000', { error_message: '' }, 'accepted'],
    ['an error message beside V0000', { error_message: 'no' }, 'unknown'],
    ['another refund amount', { refund_amount: '4.01' }, 'unknown'],
    ['the whole amount refunded', { refund_amount: '10.00' }, 'unknown'],
    ['no refund amount', { refund_amount: ABSENT }, 'unknown'],
    ['another reason', { refund_reason: 'cut' }, 'unknown'],
    ['a reason that is gone', { refund_reason: '' }, 'unknown'],
    ['no reason', { refund_reason: undefined }, 'accepted'],
    ['a reason that is null', { refund_reason: null }, 'accepted'],
  ])('reads %s', (_, change, kind) => {
    expect(judgeEntry('refund', ['1'], REFUND, { ...REFUNDED, ...change }).kind).toBe(kind);
  });

  it('splits code and text and keeps the reference as it is', () => {
    const reference = '4111111111111111-01';
    const answered = {
      ...REFUNDED,
      refund_status: '0',
      refund_message: 'E77:too: late\nnow',
      refund_reference_id: reference,
    };
    expect(judgeEntry('refund', ['1'], REFUND, answered)).toMatchObject({
      kind: 'rejected',
      code: 'E77',
      message: 'too: late now',
      reference,
    });
  });
});
