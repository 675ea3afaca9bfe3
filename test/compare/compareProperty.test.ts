// Two roads, one verdict: compare.sql over a whole set and core/orders/decideVerdict.ts over each of its orders,
// for generated orders under generated rules. And neither the order of pages nor that of entries in
// an answer bears on any verdict.

import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { judgeOrders } from '../../src/compare/verdictsStore.js';
import { decideOrder } from '../../src/core/orders/decideVerdict.js';
import type { Rules } from '../../src/core/orders/facts.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { generatedOrder, generatedRules } from '../support/generatedOrders.js';
import type { StoredOrder } from '../support/orders.js';
import { factsOf, verdictText } from '../support/orders.js';
import {
  compareRulesOf,
  storedVerdicts,
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
} from '../support/snapshotStore.js';

const SETS = 15;
const ORDERS_IN_SET = 600;
const SHUFFLED_SETS = 6;

// A set is never shrunk: each order stands for itself, and the first that differs is shown whole.
// The seed of a failure can be given again.
const seed = Number(process.env.PROPERTY_SEED ?? randomInt(2 ** 31));

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test('the database and the reference decide thousands of generated orders alike', async () => {
  const seen = new Map<string, number>();
  const sets = fc.sample(fc.tuple(orderSet(ORDERS_IN_SET), generatedRules), {
    seed,
    numRuns: SETS,
  });
  for (const [orders, rules] of sets) {
    const wanted = orders.map((order) => verdictText(decideOrder(factsOf(order), rules)));
    for (const text of wanted) {
      const kind = text.replace(/ T\d .*/, '');
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    const decided = await decideInDatabase(orders, rules);
    const other = orders.findIndex((_, index) => decided.verdicts[index] !== wanted[index]);
    expect(decided.verdicts[other], shown(orders[other], rules)).toBe(wanted[other]);
    const matched = orders.filter((order, index) => isMatched(order, wanted[index])).length;
    expect(decided.matched, `matched orders, seed ${seed}`).toBe(matched);
  }
  // The generator is no good if it never comes upon these.
  for (const verdict of [
    'matched',
    'need refund',
    'need capture',
    'instruction_rejected',
    'duplicate_transaction',
  ]) {
    expect(seen.get(verdict) ?? 0, verdict).toBeGreaterThan(0);
  }
});

test('the order of pages and entries changes no verdict', async () => {
  const shuffled = orderSet(200).chain((orders) =>
    fc.tuple(
      fc.constant(orders),
      fc
        .shuffledSubarray(orders, { minLength: orders.length })
        .chain((list) => fc.tuple(...list.map(shuffledEntries))),
    ),
  );
  const sets = fc.sample(fc.tuple(shuffled, generatedRules), { seed, numRuns: SHUFFLED_SETS });
  for (const [[orders, others], rules] of sets) {
    const first = await decideInDatabase(orders, rules);
    const second = await decideInDatabase(others, rules);
    const byOrder = new Map(others.map((order, index) => [order.orderNo, second.verdicts[index]]));
    const moved = orders.findIndex((o, index) => byOrder.get(o.orderNo) !== first.verdicts[index]);
    const order = orders[moved];
    expect(byOrder.get(order?.orderNo ?? ''), shown(order, rules)).toBe(first.verdicts[moved]);
    expect(second.matched, `seed ${seed}`).toBe(first.matched);
  }
});

function shown(order: StoredOrder | undefined, rules: Rules): string {
  return inspect({ seed, order, rules }, { depth: 6 });
}

let accounts = 0;

async function decideInDatabase(
  orders: readonly StoredOrder[],
  rules: Rules,
): Promise<{ verdicts: string[]; matched: number | undefined }> {
  const { db } = fresh;
  accounts += 1;
  const accountId = `A${accounts}`;
  const runId = await storeRun(db, accountId);
  await storeLedger(db, accountId, orders);
  await storeInstructions(db, runId, accountId, orders);
  const snapshot = await storeSnapshot(db, runId, accountId, orders);
  const counts = await judgeOrders(db, snapshot, compareRulesOf(rules, [accountId]));
  const matched = counts.get(accountId);
  const stored = await storedVerdicts(db, snapshot);
  const verdicts = orders.map((order) => {
    const verdict = stored.get(order.orderNo);
    if (verdict === undefined) return 'matched';
    const { notCompared, ...rest } = verdict;
    return verdictText({ ...rest, notCompared: notCompared === 'separator' ? null : notCompared });
  });
  return { verdicts, matched };
}

function isMatched(order: StoredOrder, verdict: string | undefined): boolean {
  const isGone = order.ledger === null && order.entries.length === 0;
  return verdict === 'matched' && !isGone;
}

function orderSet(size: number): fc.Arbitrary<StoredOrder[]> {
  return fc
    .array(generatedOrder, { minLength: size, maxLength: size })
    .map((orders) => orders.map((order, index) => ({ ...order, orderNo: `O${index}` })));
}

function shuffledEntries(order: StoredOrder): fc.Arbitrary<StoredOrder> {
  return fc
    .shuffledSubarray(order.entries, { minLength: order.entries.length })
    .map((entries) => ({ ...order, entries }));
}
