// Every case of test/support/cases.ts through compare.sql on a real PostgreSQL: all cases of a set
// are orders of one pull, compared at once.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeOrders } from '../../src/compare/verdictsStore.js';
import type { Verdict } from '../../src/core/orders/decideVerdict.js';
import { caseSets } from '../support/cases.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf, verdictText } from '../support/orders.js';
import type { StoredVerdict } from '../support/snapshotStore.js';
import {
  compareRulesOf,
  storedVerdicts,
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
} from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

for (const { name, rules, cases } of caseSets()) {
  describe(name, () => {
    const orders = cases.map((one, index) => orderOf(`O${index}`, one));
    const accountId = `A ${name}`;
    let verdicts: Map<string, StoredVerdict>;
    let matched: number | undefined;

    beforeAll(async () => {
      const { db } = fresh;
      const runId = await storeRun(db, accountId);
      await storeLedger(db, accountId, orders);
      await storeInstructions(db, runId, accountId, orders);
      const snapshot = await storeSnapshot(db, runId, accountId, orders);
      matched = (await judgeOrders(db, snapshot, compareRulesOf(rules, [accountId]))).get(
        accountId,
      );
      verdicts = await storedVerdicts(db, snapshot);
    });

    test.each(cases.map((one, index) => [one.name, one.want, `O${index}`] as const))(
      '%s: %s',
      (_, want, orderNo) => {
        expect(textOf(verdicts.get(orderNo))).toBe(want);
      },
    );

    test('what has no verdict is counted as matched, save what is gone on both sides', () => {
      const plain = cases.filter((one) => one.want === 'matched');
      const gone = plain.filter((one) => one.ledger === null);
      expect(matched).toBe(plain.length - gone.length);
    });
  });
}

function textOf(verdict: StoredVerdict | undefined): string {
  return verdict === undefined ? 'matched' : verdictText(verdict as Omit<Verdict, 'transaction'>);
}
