// From orders to planned instructions as a night does it: ledger, look, compare, withdraw, plan.
// One step behind the tests of plan.sql, withdraw.sql, cutBatches.sql and settle.sql. It decides
// nothing by itself and reads back what the database says in short text.

import { randomUUID } from 'node:crypto';
import { clearVerdicts, judgeOrders } from '../../src/compare/verdictsStore.js';
import type { Policy } from '../../src/core/instructions/policy.js';
import type { Rules } from '../../src/core/orders/facts.js';
import { OPERATIONS } from '../../src/core/orders/order.js';
import type { Database, Db } from '../../src/database/db.js';
import { planInstructions, withdrawNeedless } from '../../src/plan/planStore.js';
import { claimBatch } from '../../src/send/batches/attemptsStore.js';
import type { StoredOrder } from './orders.js';
import { plainRules, SNAPSHOT_AT } from './orders.js';
import type { Snapshot } from './snapshotStore.js';
import { compareRulesOf, storeLedger, storeSnapshot } from './snapshotStore.js';

export function policies(policy: Policy['policy'], changes: Partial<Policy> = {}): Policy[] {
  return OPERATIONS.map((operation) => ({
    operation,
    policy,
    above: null,
    maxCount: null,
    maxAmount: null,
    ...changes,
  }));
}

/** Looks at the orders of an account and plans; answers the snapshot. */
export async function snapshotAndPlan(
  db: Database,
  night: { runId: bigint; accountId: string; rules?: Partial<Rules>; policies?: Policy[] },
  orders: readonly StoredOrder[],
): Promise<Snapshot> {
  const rules = plainRules(night.rules);
  await storeLedger(db, night.accountId, orders);
  const snapshot = await storeSnapshot(db, night.runId, night.accountId, orders);
  await clearVerdicts(db, night.runId, [night.accountId]);
  await judgeOrders(db, snapshot, compareRulesOf(rules, [night.accountId]));
  const allowed = night.policies ?? policies('auto');
  await withdrawNeedless(db, night.runId, snapshot.pullId, SNAPSHOT_AT, allowed);
  await planInstructions(db, night.runId, SNAPSHOT_AT, allowed, rules.partialCapture);
  return snapshot;
}

/** Claims the one batch of the account that waits, as a sender does in a run that is under way. */
export async function claimQueued(db: Database, runId: bigint, accountId: string): Promise<void> {
  const { rows } = await db.query<{ batch_id: bigint; id: bigint }>(
    `select batch_id, instruction_id as id from tieout.instructions
     where account_id = $1 and state = 'queued'`,
    [accountId],
  );
  const claim = {
    attemptId: randomUUID(),
    instructionIds: rows.map(({ id }) => id),
    bodySha256: '',
    requestGzip: Buffer.from(''),
    runId,
    journalId: null,
  };
  const runner = { id: randomUUID(), host: 'h', boot: 'b', pid: 1, started: 's' };
  await db.transaction((tx) => claimBatch(tx, rows[0]?.batch_id ?? 0n, claim, runner));
}

/** "O1 capture 10.00 planned", "O1 refund R1 4.00 held: approval"; in the order they were made. */
export async function instructionTexts(db: Db, accountId: string): Promise<string[]> {
  const { rows } = await db.query<{
    order_no: string;
    operation: string;
    amount: string;
    refund_id: string | null;
    refund_amount: string | null;
    review_decision: string | null;
    state: string;
    why: string | null;
  }>(
    `select order_no, operation, amount, split_part(refund_id, '/', 2) as refund_id,
       refund_amount, review_decision, state, coalesce(hold_reason, reason) as why
     from tieout.instructions where account_id = $1 order by instruction_id`,
    [accountId],
  );
  return rows.map((row) => {
    const refund = row.refund_id ? `${row.refund_id} ` : '';
    const decision = row.review_decision ? `${row.review_decision} ` : '';
    const what = `${refund}${decision}${row.refund_amount ?? row.amount}`;
    const why = row.why === null ? '' : `: ${row.why}`;
    return `${row.order_no} ${row.operation} ${what} ${row.state}${why}`;
  });
}
