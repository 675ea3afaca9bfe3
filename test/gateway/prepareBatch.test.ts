// What may be sent, and when an answer about money is believed as a whole.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/core/orders/order.js';
import {
  type BatchEntry,
  prepareBatch,
  readBatchAnswer,
} from '../../src/gateway/batches/prepareBatch.js';
import { BATCH_SHAPES } from '../../src/gateway/document/messages.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { RawAnswer } from '../../src/gateway/transport/transport.js';
import { signatureOf } from '../../src/gateway/wire/sign.js';
import {
  batchOf,
  fineAnswer,
  fineEntry,
  type Json,
  profileWith,
  rawAnswer,
  signed,
} from './batchAnswer.js';
import { ACCOUNT } from './rawServer.js';

const PROFILE = sandboxProfile();

describe('prepareBatch', () => {
  it('writes the fields that the document prints, signed', () => {
    const batch = prepareBatch(PROFILE, ACCOUNT, 'refund', batchOf('refund', 1));
    const message = JSON.parse(batch.body.toString());
    expect(batch.path).toBe('/v1/refund');
    expect(batch.sha256).toBe(createHash('sha256').update(batch.body).digest('hex'));
    const { encryption_data, ...rest } = message;
    expect(rest).toEqual({
      merchant_id: 'M1',
      account_id: 'A1',
      refund_orders: [
        {
          transaction_id: 'T0',
          order_no: 'SO-0',
          currency: 'EUR',
          amount: '10.00',
          refund_amount: '1.50',
          refund_reason: 'late',
        },
      ],
    });
    expect(encryption_data).toBe(signatureOf(PROFILE.signing, 'refund', 'key-of-a1', rest));
  });

  it('takes the review flags of the profile', () => {
    const profile = { ...PROFILE, reviewFlags: { accept: 'Y', reject: 'N' } };
    const entries = batchOf('review', 2).map((entry, index) => ({
      ...entry,
      decision: index === 0 ? ('accept' as const) : ('reject' as const),
    }));
    const { body } = prepareBatch(profile, ACCOUNT, 'review', entries);
    const flags = JSON.parse(body.toString()).review_orders.map((entry: Json) => entry.review_flag);
    expect(flags).toEqual(['Y', 'N']);
  });

  it('gives the same bytes for the same entries', () => {
    const once = prepareBatch(PROFILE, ACCOUNT, 'capture', batchOf('capture', 50));
    expect(prepareBatch(PROFILE, ACCOUNT, 'capture', batchOf('capture', 50))).toEqual(once);
  });

  const one = (change: Partial<BatchEntry>): BatchEntry[] =>
    batchOf('refund', 1).map((entry) => ({ ...entry, ...change }));
  const refused: [string, (typeof OPERATIONS)[number], BatchEntry[]][] = [
    ['no entry', 'capture', []],
    ['51 captures', 'capture', batchOf('capture', 51)],
    ['51 cancels', 'cancel', batchOf('cancel', 51)],
    ['51 refunds', 'refund', batchOf('refund', 51)],
    ['101 reviews', 'review', batchOf('review', 101)],
    ['an order twice', 'refund', [...one({}), ...one({ transactionId: 'T9' })]],
    ['a transaction twice', 'refund', [...one({}), ...one({ orderNo: 'SO-9' })]],
    ['an amount of one decimal', 'refund', one({ amount: '10.0' })],
    ['an amount of zero', 'capture', one({ amount: '0.00' })],
    ['an amount with a comma', 'capture', one({ amount: '10,00' })],
    ['a refund of zero', 'refund', one({ refundAmount: '0.00' })],
    ['a refund above the order', 'refund', one({ refundAmount: '10.01' })],
    ['a refund without its amount', 'refund', batchOf('capture', 1)],
    ['a review without a decision', 'review', batchOf('capture', 1)],
    ['a currency that is none', 'capture', one({ currency: 'eur' })],
    ['an empty order number', 'capture', one({ orderNo: '' })],
    ['an empty transaction', 'capture', one({ transactionId: '' })],
  ];
  it.each(refused)('refuses %s', (_, operation, entries) => {
    expect(() => prepareBatch(PROFILE, ACCOUNT, operation, entries)).toThrow(operation);
  });

  it('takes 100 reviews and the decimals of a listed currency', () => {
    expect(prepareBatch(PROFILE, ACCOUNT, 'review', batchOf('review', 100)).path).toBe(
      '/v1/review',
    );
    const dinar = { ...PROFILE, currencies: { KWD: 3 } };
    const entries = one({ currency: 'KWD', amount: '1.500' });
    expect(() => prepareBatch(dinar, ACCOUNT, 'capture', entries)).not.toThrow();
    expect(() => prepareBatch(PROFILE, ACCOUNT, 'capture', entries)).toThrow('printed shape');
  });
});

describe('readBatchAnswer', () => {
  const sent = batchOf('capture', 3);
  const fine = signed('capture', fineAnswer('capture', sent));
  const list = fine.capture_orders as Json[];
  const read = (answer: RawAnswer, profile = PROFILE) =>
    readBatchAnswer(profile, ACCOUNT, 'capture', sent, answer);
  const withList = (entries: unknown) => rawAnswer({ ...fine, capture_orders: entries });

  it.each(OPERATIONS)('accepts every entry of a good %s answer', (operation) => {
    const entries = batchOf(operation, 5);
    const answer = rawAnswer(signed(operation, fineAnswer(operation, entries)));
    const reading = readBatchAnswer(PROFILE, ACCOUNT, operation, entries, answer);
    expect(reading).toMatchObject({ trusted: true, signatureWarning: null });
    expect(reading.entries.map((entry) => entry.kind)).toEqual(Array(5).fill('accepted'));
  });

  it('finds entries by id: no order of the answer changes an outcome', () => {
    const entries = batchOf('refund', 5);
    const answers = entries.map((entry) => fineEntry('refund', entry));
    answers[2] = { ...answers[2], refund_status: '0', refund_message: 'E1:no' };
    fc.assert(
      fc.property(fc.shuffledSubarray(answers, { minLength: 5 }), (shuffled) => {
        const answer = rawAnswer(
          signed('refund', { ...fineAnswer('refund', entries), refund_orders: shuffled }),
        );
        const reading = readBatchAnswer(PROFILE, ACCOUNT, 'refund', entries, answer);
        expect(
          reading.entries.map((entry) => [entry.orderNo, entry.kind, entry.reference]),
        ).toEqual(
          entries.map((entry, index) => [
            entry.orderNo,
            index === 2 ? 'rejected' : 'accepted',
            `${entry.transactionId}-01`,
          ]),
        );
      }),
    );
  });

  it('calls exactly the missing entries unknown, for every subset of a batch of six', () => {
    const entries = batchOf('cancel', 6);
    for (let mask = 0; mask < 64; mask += 1) {
      const kept = entries.filter((_, index) => (mask >> index) % 2 === 1);
      const answer = rawAnswer(signed('cancel', fineAnswer('cancel', kept)));
      const reading = readBatchAnswer(PROFILE, ACCOUNT, 'cancel', entries, answer);
      expect(reading.entries.map((entry) => entry.kind === 'accepted')).toEqual(
        entries.map((entry) => kept.includes(entry)),
      );
      expect(reading.entries.every((entry) => entry.kind !== 'rejected')).toBe(true);
    }
  });

  const swapped = [{ ...list[0], order_no: 'SO-1' }, { ...list[1], order_no: 'SO-0' }, list[2]];
  const untrusted: [string, RawAnswer][] = [
    ['HTTP 502', rawAnswer(fine, { status: 502 })],
    ['HTTP 201', rawAnswer(fine, { status: 201 })],
    ['HTTP 429', rawAnswer(fine, { status: 429 })],
    ['a compressed body', rawAnswer(fine, { contentEncoding: 'gzip' })],
    ['HTML', rawAnswer('<html>200</html>', { contentType: 'text/html' })],
    ['an empty body', rawAnswer('')],
    ['a cut body', rawAnswer(JSON.stringify(fine).slice(0, -1))],
    ['a field twice', rawAnswer(JSON.stringify(fine).replace('{', '{"return_status":"1",'))],
    [
      'bad UTF-8',
      rawAnswer(Buffer.concat([Buffer.from([0xff]), Buffer.from(JSON.stringify(fine))])),
    ],
    ['return_status 0', rawAnswer({ ...fine, return_status: '0' })],
    ['return_status as a number', rawAnswer({ ...fine, return_status: 1 })],
    ['no return_status', rawAnswer({ ...fine, return_status: undefined })],
    ['another merchant', rawAnswer({ ...fine, merchant_id: 'M2' })],
    ['another account', rawAnswer({ ...fine, account_id: 'A2' })],
    ['no account', rawAnswer({ ...fine, account_id: undefined })],
    ['no list', rawAnswer({ ...fine, capture_orders: undefined })],
    ['a list that is none', withList({ 0: list[0] })],
    ['an entry that is no object', withList([...list, null])],
    ['an entry without ids', withList([...list, {}])],
    ['an id that is a number', withList([{ ...list[0], order_no: 1 }])],
    ['an entry nobody asked for', withList([...list, { ...list[0], transaction_id: 'T9' }])],
    ['an entry twice', withList([...list, list[0]])],
    ['an entry twice, contradicting', withList([...list, { ...list[0], capture_status: '0' }])],
    ['ids swapped between entries', withList(swapped)],
    [
      'the list of another operation',
      rawAnswer({ ...fine, capture_orders: undefined, cancel_orders: list }),
    ],
  ];
  it.each(untrusted)('believes nothing of an answer with %s', (_, answer) => {
    const reading = read(answer);
    expect(reading).toMatchObject({ trusted: false, reason: expect.any(String) });
    expect(reading.entries.map((entry) => [entry.orderNo, entry.kind])).toEqual(
      sent.map((entry) => [entry.orderNo, 'unknown']),
    );
  });

  it('tells a return_status that is no text from none', () => {
    const reason = (value: unknown) =>
      (read(rawAnswer({ ...fine, return_status: value })) as { reason: string }).reason;
    expect(reason(1)).toContain('return_status (number) 1');
    expect(reason(undefined)).toContain('return_status none');
  });

  const ours = JSON.parse(prepareBatch(PROFILE, ACCOUNT, 'capture', sent).body.toString());
  const unsigned = fineAnswer('capture', sent);
  const echoed: Json = { ...unsigned, encryption_data: ours.encryption_data };
  const upper: Json = { ...fine, encryption_data: String(fine.encryption_data).toUpperCase() };
  const kinds = ['off', 'warn', 'enforce'] as const;
  const signatures: [string, 'signed' | 'echo', Json, boolean][] = [
    ['a right signature', 'signed', fine, true],
    ['no signature', 'signed', unsigned, false],
    ['an upper-case signature', 'signed', upper, false],
    ['our own signature sent back', 'signed', echoed, false],
    ['our own signature sent back', 'echo', echoed, true],
    ['a signature of its own', 'echo', fine, false],
    ['no signature', 'echo', unsigned, false],
  ];
  it.each(signatures)('holds %s in mode %s to the profile', (_, responseMode, answer, isRight) => {
    for (const responses of kinds) {
      const reading = read(rawAnswer(answer), profileWith({ responses, responseMode }));
      expect(reading.trusted).toBe(isRight || responses !== 'enforce');
      if (!reading.trusted) continue;
      expect(reading.signatureWarning !== null).toBe(!isRight && responses === 'warn');
    }
  });

  it('believes the key before while it is given, says so, and signs with the new one', () => {
    const changed = { ...ACCOUNT, signingKey: 'key-after', previousSigningKey: ACCOUNT.signingKey };
    const after = { ...changed, previousSigningKey: null };
    const echo = profileWith({ responses: 'enforce', responseMode: 'echo' });
    const own = profileWith({ responses: 'enforce' });
    for (const [profile, answer] of [
      [own, fine],
      [echo, echoed],
    ] as const) {
      const judged = [changed, after, { ...changed, previousSigningKey: 'another' }].map(
        (account) => {
          const reading = readBatchAnswer(profile, account, 'capture', sent, rawAnswer(answer));
          return reading.trusted ? reading.signatureWarning : reading.reason;
        },
      );
      expect(judged).toEqual([
        'the answer is signed with accounts[].previousSigningKey',
        'the signature of the answer is wrong',
        'the signature of the answer is wrong',
      ]);
    }
    const request = prepareBatch(PROFILE, changed, 'capture', sent).body.toString();
    expect(request).toBe(prepareBatch(PROFILE, after, 'capture', sent).body.toString());
    expect(request).not.toContain(ours.encryption_data);
  });

  it('never masks an id but masks a card number in a reason', () => {
    const answer = {
      ...fine,
      return_status: '9',
      return_message: 'card 4111111111111111 \u001b[31m',
    };
    const reading = read(rawAnswer(answer));
    expect(reading).toMatchObject({ trusted: false });
    expect(JSON.stringify(reading)).not.toContain('4111111111111111');
    expect(JSON.stringify(reading)).not.toContain('\\u001b');
  });

  it('never accepts an entry out of an answer with spoilt values', () => {
    const entries = batchOf('refund', 4);
    const fields = Object.keys(fineEntry('refund', entries[0] as BatchEntry));
    const value = fc.constantFrom<unknown>(
      ...['0', '1', '', 'T1', 'SO-2', 'EUR', 'USD', '10.00', '1.50', '2.50', 'V0000:OK', 'E1:no'],
      ...[1, null, true, [], {}, undefined],
    );
    const spoil = fc.tuple(fc.nat(3), fc.constantFrom(...fields), value);
    const envelope = fc.constantFrom(
      'merchant_id',
      'account_id',
      'return_status',
      'return_message',
    );
    fc.assert(
      fc.property(
        fc.array(spoil, { maxLength: 4 }),
        fc.option(fc.tuple(envelope, value), { freq: 5 }),
        (spoils, outer) => {
          const answer = fineAnswer('refund', entries);
          const list = answer.refund_orders as Json[];
          for (const [at, field, given] of spoils) list[at] = { ...list[at], [field]: given };
          const body = JSON.stringify({ ...answer, ...(outer && { [outer[0]]: outer[1] }) });
          const reading = readBatchAnswer(PROFILE, ACCOUNT, 'refund', entries, rawAnswer(body));
          for (const { kind, orderNo } of reading.entries) {
            if (kind === 'accepted') expect(saysSoPlainly(body, entries, orderNo)).toBe(true);
            if (kind === 'rejected') expect(saysSoPlainly(body, entries, orderNo)).toBe(false);
          }
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('never accepts an entry out of a spoilt answer that does not say so plainly', () => {
    const entries = batchOf('refund', 4);
    const text = JSON.stringify(signed('refund', fineAnswer('refund', entries)));
    const piece = fc.constantFrom(
      '0',
      '1',
      '"',
      ',',
      '{',
      '}',
      'T1',
      'SO-2',
      'EUR',
      '10.00',
      'E',
      ' ',
    );
    const spoil = fc.tuple(fc.nat(text.length), fc.nat(3), fc.array(piece, { maxLength: 2 }));
    fc.assert(
      fc.property(fc.array(spoil, { minLength: 1, maxLength: 3 }), (spoils) => {
        let body = text;
        for (const [at, cut, pieces] of spoils) {
          body = body.slice(0, at) + pieces.join('') + body.slice(at + cut);
        }
        const reading = readBatchAnswer(PROFILE, ACCOUNT, 'refund', entries, rawAnswer(body));
        for (const outcome of reading.entries) {
          if (outcome.kind !== 'accepted') continue;
          expect(saysSoPlainly(body, entries, outcome.orderNo)).toBe(true);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

/** An independent second reading: the one entry of these ids, with every field as it must be. */
function saysSoPlainly(body: string, entries: BatchEntry[], orderNo: string): boolean {
  const answer = JSON.parse(body) as Json;
  const sent = entries.find((entry) => entry.orderNo === orderNo);
  const list = answer[BATCH_SHAPES.refund.array] as Json[];
  const found = list.filter((entry) => entry.order_no === orderNo);
  const [entry] = found;
  return (
    found.length === 1 &&
    answer.return_status === '1' &&
    answer.account_id === 'A1' &&
    answer.merchant_id === 'M1' &&
    entry?.transaction_id === sent?.transactionId &&
    entry?.amount === sent?.amount &&
    entry?.refund_amount === sent?.refundAmount &&
    entry?.currency === sent?.currency &&
    entry?.refund_status === '1' &&
    String(entry?.refund_message).startsWith('V0000:')
  );
}
