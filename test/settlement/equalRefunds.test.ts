// Equal refunds of one order that were made over two of its payments, and lines of which some name
// the payment and others the order: each has its line as soon as there are as many
// (docs/CONTRACT.md section 9). Neighbour: leftOver.test.ts.

import { expect, it } from 'vitest';
import type { Line } from './facts.js';
import { breaks, checkIdentities, matches, moved, ownFacts, settle, settled } from './facts.js';

ownFacts();

const over = (...transactions: string[]) =>
  moved(
    ...transactions.map((transaction) => ({
      ...{ order: '1', kind: 'refunded' as const, amount: '5.00', transaction },
    })),
  );
const named = (transaction: string): Line => {
  return { type: 'refunded', order: null, transaction, amount: '-5.00' };
};
const ofOrder: Line = { type: 'refunded', order: '1', amount: '-5.00' };

it.each<[string, string[], Line[][], string[], string[]]>([
  [
    'two that name the order, and one the payment',
    ['T1', 'T1', 'T2'],
    [[named('T1'), ofOrder, ofOrder]],
    ['transaction', 'order', 'order'],
    [],
  ],
  [
    'the same, file by file',
    ['T1', 'T1', 'T2'],
    [[ofOrder], [named('T1')], [ofOrder]],
    ['order', 'transaction', 'order'],
    [],
  ],
  [
    'one of each payment, and two of the order',
    ['T1', 'T1', 'T2', 'T2'],
    [[named('T1'), named('T2'), ofOrder, ofOrder]],
    ['transaction', 'transaction', 'order', 'order'],
    [],
  ],
  [
    'more of the order than are left over: these say again what is settled',
    ['T1', 'T1', 'T2'],
    [[named('T1'), named('T1'), ofOrder, ofOrder, ofOrder]],
    ['transaction', 'transaction', 'order'],
    ['1 settled_twice 10.00 EUR'],
  ],
  [
    'fewer lines than refunds: nobody can say',
    ['T1', 'T1', 'T2'],
    [[named('T1'), ofOrder]],
    [],
    [],
  ],
  [
    'what names one payment is not of the other',
    ['T1', 'T1', 'T2', 'T2'],
    [[named('T1'), named('T1'), named('T1'), ofOrder]],
    ['transaction', 'transaction'],
    ['1 settled_twice 5.00 EUR'],
  ],
])('%s', async (_name, transactions, files, by, told) => {
  await over(...transactions);
  for (const lines of files) {
    await settled(...lines);
    await settle();
  }
  expect((await matches()).map((line) => line.split(' ').at(-1))).toEqual(by);
  expect(await breaks()).toEqual(told);
  await checkIdentities();
  expect(await settle()).toBe(0);
});
