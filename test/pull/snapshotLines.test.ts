// Which of several entries of one order stands for it, as rows for the database: the one that is
// alive, however many were declined before it.

import { expect, test } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { QueryEntry } from '../../src/gateway/query/decode.js';
import { ENTRY_COLUMNS } from '../../src/pull/snapshot/snapshotsStore.js';
import { snapshotLines } from '../../src/pull/snapshotLines.js';

const AUTHORISED = '2000';
const CAPTURED = '3000';
const CANCELLED = '4000';
const DECLINED = '5000';
const UNHEARD_OF = '9999';
const columns = String(ENTRY_COLUMNS)
  .split(', ')
  .map((column) => column.slice(1, -1));

function entry(orderNo: string, paymentStatus: string | null): QueryEntry {
  return {
    ...{ orderNo, paymentStatus, transactionId: 'T1', currency: 'EUR', amount: '1.00' },
    ...{ queryResult: '1', transactionDate: null, referenceNo: null, fraudRejected: false },
    recurringStatus: null,
  };
}

/** The positions of those that stand for an order; the others are extra. */
function plainOf(orderNos: readonly string[], entries: readonly QueryEntry[]): number[] {
  const page = { pageNo: 0, orderNos: [...orderNos] };
  const { text } = snapshotLines(sandboxProfile(), { pullId: 1n, accountId: 'A1' }, page, entries);
  const extra = text.split('\n').map((row) => row.split('\t')[columns.indexOf('is_extra')]);
  return entries.flatMap((_, position) => (extra[position] === 'f' ? [position] : []));
}

test.each([
  ['the only one', [DECLINED], 0],
  ['the live one after a declined one', [DECLINED, CAPTURED], 1],
  ['the live one after several dead ones', [DECLINED, CANCELLED, AUTHORISED, DECLINED], 2],
  ['the live one before a dead one', [CAPTURED, CANCELLED], 0],
  ['the first of two live ones', [AUTHORISED, CAPTURED], 0],
  ['the first of two dead ones', [CANCELLED, DECLINED], 0],
  ['one whose code has no meaning, which may be alive', [DECLINED, UNHEARD_OF], 1],
  ['one without a code', [DECLINED, null], 1],
])('of an order stands for it: %s', (_, statuses, plain) => {
  const entries = statuses.map((status) => entry('O1', status));
  expect(plainOf(['O1'], entries)).toEqual([plain]);
});

test('an order has one however its entries lie among others; what nobody asked for is extra', () => {
  const entries = [
    entry('O1', DECLINED),
    entry('O2', CAPTURED),
    entry('unasked', CAPTURED),
    entry('O1', CAPTURED),
    entry('O2', DECLINED),
  ];
  expect(plainOf(['O1', 'O2', 'O3'], entries)).toEqual([1, 3]);
});

test('a value that is no text means nothing, whatever the profile lists', () => {
  const profile = sandboxProfile();
  profile.query.found.push('(number) 1');
  profile.statuses.payment['(number) 3000'] = 'captured';
  const odd = {
    ...entry('O1', '(number) 3000'),
    queryResult: '(number) 1',
    currency: '(number) 9',
  };
  const page = { pageNo: 0, orderNos: ['O1'] };
  const { text } = snapshotLines(profile, { pullId: 1n, accountId: 'A1' }, page, [odd]);
  const row = text.trimEnd().split('\t');
  const of = (name: string) => row[columns.indexOf(name)];
  expect([of('found'), of('query_result')]).toEqual(['f', '(number) 1']);
  expect([of('state'), of('payment_status')]).toEqual(['\\N', '(number) 3000']);
  expect([of('amount'), of('amount_text')]).toEqual(['\\N', '1.00']);
});
