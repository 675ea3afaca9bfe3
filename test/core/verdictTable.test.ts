// Every case of test/support/cases.ts through core/orders/decideVerdict.ts; compare.test.ts runs the same cases
// through the database.

import { describe, expect, test } from 'vitest';
import { decideOrder } from '../../src/core/orders/decideVerdict.js';
import { BREAK_KINDS, positionRows } from '../../src/core/orders/verdict.js';
import { caseSets } from '../support/cases.js';
import { factsOf, orderOf, verdictText } from '../support/orders.js';

for (const { name, rules, cases } of caseSets()) {
  describe(name, () => {
    test.each(cases.map((one) => [one.name, one.want, one] as const))('%s: %s', (_, want, one) => {
      const facts = factsOf(orderOf('O1', one));
      const verdict = verdictText(decideOrder(facts, rules));
      // An order that is never asked is one nobody looked at, before the reason is told apart.
      const wanted = want === 'not compared: separator' ? 'not compared: no_look' : want;
      expect(verdict).toBe(wanted);
    });
  });
}

test('the cases have every kind of break', () => {
  const wanted = caseSets().flatMap(({ cases }) => cases.flatMap((one) => one.want.split('; ')));
  // A request without an order is no verdict on one: test/faults/people/editedLedger.test.ts. Nor
  // are those of settlement, which come behind it: test/settlement/matching.test.ts.
  const ofOrders = BREAK_KINDS.slice(0, BREAK_KINDS.indexOf('refund_without_order'));
  expect(ofOrders.filter((kind) => !wanted.includes(kind))).toEqual([]);
});

test('no two cases of a set bear the same name', () => {
  for (const { cases } of caseSets()) {
    expect(new Set(cases.map((one) => one.name)).size).toBe(cases.length);
  }
});

test('the spelled-out table has each combination once', () => {
  const rows = positionRows();
  const keys = new Set(
    rows.map((row) => [row.expected, row.observed, row.ripe, row.decision, row.refunds].join()),
  );
  expect(rows).toHaveLength(4 * 9 * 2 * 3 * 5);
  expect(keys.size).toBe(rows.length);
});
