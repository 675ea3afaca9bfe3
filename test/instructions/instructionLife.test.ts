// The data of core against the database: the states and moves of an instruction, the kinds of break
// and the other lists that stand in CHECK constraints; and what the database itself refuses.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ATTEMPT_OUTCOMES, BATCH_STATES } from '../../src/core/instructions/batch.js';
import { SENDING_STATES } from '../../src/core/instructions/breaker.js';
import type { InstructionState } from '../../src/core/instructions/instruction.js';
import {
  INSTRUCTION_STATES,
  LEGAL_MOVES,
  OPEN_STATES,
} from '../../src/core/instructions/instruction.js';
import { EXPECTED_STATES, INSTRUCTION_OPERATIONS } from '../../src/core/orders/order.js';
import { BREAK_KINDS } from '../../src/core/orders/verdict.js';
import type { Db, Tx } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { orderOf } from '../support/orders.js';
import { storeInstructions, storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let runId: bigint;
beforeAll(async () => {
  fresh = await freshDatabase();
  runId = await storeRun(fresh.db, 'A1');
  await fresh.db.query(
    `insert into tieout.batches (run_id, account_id, operation, state, created_at)
     values ($1, 'A1', 'capture', 'queued', now())`,
    [runId],
  );
});
afterAll(() => fresh.drop());

describe('the lists of core stand in the database', () => {
  test.each([
    ['tieout.instructions', 'instructions_state_check', INSTRUCTION_STATES],
    ['tieout.instructions', 'instructions_operation_check', INSTRUCTION_OPERATIONS],
    ['tieout.batches', 'batches_operation_check', INSTRUCTION_OPERATIONS],
    ['tieout.breaks', 'breaks_kind_check', BREAK_KINDS],
    ['tieout.batches', 'batches_state_check', BATCH_STATES],
    ['tieout.attempts', 'attempts_outcome_check', ATTEMPT_OUTCOMES],
    ['tieout.run_accounts', 'run_accounts_sending_check', SENDING_STATES],
    ['ledger.orders', 'orders_expected_check', EXPECTED_STATES],
  ] as const)('%s %s', async (table, constraint, list) => {
    const definition = await definitionOf(
      `select pg_get_constraintdef(oid) as text from pg_constraint
       where conrelid = $1::regclass and conname = $2`,
      [table, constraint],
    );
    expect(quoted(definition)).toEqual([...list].sort());
  });

  test('an order has one instruction in an open state', async () => {
    const definition = await definitionOf(
      `select indexdef as text from pg_indexes where indexname = $1`,
      ['instructions_open_order'],
    );
    expect(definition).toMatch(/^CREATE UNIQUE INDEX .* WHERE is_open$/);
    const { rows } = await fresh.db.query<{ state: string; is_open: boolean }>(
      `select state, tieout.is_open(state) from unnest($1::text[]) as state`,
      [[...INSTRUCTION_STATES]],
    );
    const open = rows.filter((row) => row.is_open).map((row) => row.state);
    expect(open.sort()).toEqual([...OPEN_STATES].sort());
  });
});

describe('moves', () => {
  test.each(INSTRUCTION_STATES.map((state) => [state]))('from %s', async (from) => {
    const order = orderOf(`O ${from}`, {
      ledger: 'captured 10.00 EUR',
      did: [`capture T1 ${from}`],
    });
    await storeInstructions(fresh.db, runId, 'A1', [order]);
    const possible: InstructionState[] = [];
    for (const to of INSTRUCTION_STATES) {
      if (to !== from && (await mayBecome(order.orderNo, to))) possible.push(to);
    }
    expect(possible.sort()).toEqual([...LEGAL_MOVES[from]].sort());
  });

  test.each(INSTRUCTION_STATES.map((state) => [state]))('one that begins %s', async (state) => {
    const begins = await tried((tx) => insertInstruction(tx, `new ${state}`, state));
    expect(begins).toBe(state === 'planned' || state === 'held' ? 'done' : 'refused');
  });
});

describe('what the database refuses', () => {
  test.each([
    ['account_id', `'A2'`],
    ['order_no', `'other'`],
    ['operation', `'cancel'`],
    ['transaction_id', `'other'`],
    ['currency', `'USD'`],
    ['amount', '10.01'],
    ['refund_id', `'R1'`],
    ['refund_amount', '1.00'],
  ])('a change of %s', async (column, value) => {
    const outcome = await tried(async (tx) => {
      await insertInstruction(tx, 'fixed', 'planned');
      await tx.query(
        `update tieout.instructions set ${column} = ${value} where order_no = 'fixed'`,
      );
    });
    expect(outcome).toBe('refused');
  });

  test('two open instructions of an order', async () => {
    const outcome = await tried(async (tx) => {
      await insertInstruction(tx, 'twice', 'planned', 'T1');
      await insertInstruction(tx, 'twice', 'planned', 'T2');
    });
    expect(outcome).toBe('refused');
  });

  test('two captures of a transaction, even under two orders', async () => {
    const outcome = await tried(async (tx) => {
      await insertInstruction(tx, 'first', 'planned', 'T7');
      await insertInstruction(tx, 'second', 'planned', 'T7');
    });
    expect(outcome).toBe('refused');
  });

  test('two refunds of a request', async () => {
    const outcome = await tried(async (tx) => {
      await insertRefund(tx, 'first', 'R7');
      await insertRefund(tx, 'second', 'R7');
    });
    expect(outcome).toBe('refused');
  });

  test('a refund of more than the amount', async () => {
    expect(await tried((tx) => insertRefund(tx, 'greedy', 'R8', '10.01'))).toBe('refused');
  });
});

describe('attempts', () => {
  test.each([
    ['its entries', `update tieout.attempts set entries = '[]'`],
    ['its body', `update tieout.attempts set body_sha256 = 'other'`],
    ['its time', `update tieout.attempts set claimed_at = claimed_at + interval '1 second'`],
    ['its outcome, once written', `update tieout.attempts set outcome = 'not_sent'`],
    ['itself', 'delete from tieout.attempts'],
  ])('an attempt keeps %s', async (_, statement) => {
    const outcome = await tried(async (tx) => {
      await insertAttempt(tx);
      await tx.query(`update tieout.attempts set outcome = 'answered', finished_at = now()`);
      await tx.query(statement);
    });
    expect(outcome).toBe('refused');
  });

  test('a batch has one attempt under way', async () => {
    const outcome = await tried(async (tx) => {
      await insertAttempt(tx, 1);
      await insertAttempt(tx, 2);
    });
    expect(outcome).toBe('refused');
  });
});

test('every move leaves an event', async () => {
  await fresh.db.transaction(async (tx) => {
    await insertInstruction(tx, 'told', 'planned');
    await tx.query(`update tieout.instructions set state = 'held', hold_reason = 'approval',
      changed_by = 'anna' where order_no = 'told'`);
    await tx.query(`update tieout.instructions set changed_by = 'bob' where order_no = 'told'`);
  });
  const { rows } = await fresh.db.query(
    `select e.from_state, e.to_state, e.by, e.reason from tieout.instruction_events e
     join tieout.instructions using (instruction_id) where order_no = 'told' order by seq`,
  );
  expect(rows).toEqual([
    { from_state: null, to_state: 'planned', by: 'tieout', reason: null },
    { from_state: 'planned', to_state: 'held', by: 'anna', reason: 'approval' },
  ]);
});

async function definitionOf(text: string, values: readonly unknown[]): Promise<string> {
  const { rows } = await fresh.db.query<{ text: string }>(text, values);
  return rows[0]?.text ?? '';
}

function quoted(definition: string): string[] {
  return [...definition.matchAll(/'(\w+)'/g)].map((match) => match[1] ?? '').sort();
}

async function mayBecome(orderNo: string, to: InstructionState): Promise<boolean> {
  const outcome = await tried(async (tx) => {
    // What was held leaves for the queue only when somebody approved it.
    const approval = await tx.query<{ decision_id: bigint }>(
      `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim, seen,
         seen_sha256, row_before, expires_at)
       select instruction_id, account_id, 'approve', 'bob', false, tieout.seen_of(i),
         tieout.seen_sha256(tieout.seen_of(i)), to_jsonb(i), now() + interval '1 day'
       from tieout.instructions i where order_no = $1 and state = 'held' returning decision_id`,
      [orderNo],
    );
    // What may have moved is rejected only when somebody found that it did not happen.
    if (to === 'rejected') await foundNotHappened(tx, orderNo);
    await tx.query(
      `update tieout.instructions set state = $2, approval_id = $4,
         hold_reason = case when $2 = 'held' then 'approval' end,
         batch_id = (select max(batch_id) from tieout.batches), reason = 'test',
         settled_at = case when $2 in ('confirmed', 'rejected', 'withdrawn') then now() end,
         settled_run_id = case when $2 in ('confirmed', 'rejected', 'withdrawn')
           then $3::bigint end,
         resends = case when state = 'unknown' and $2 = 'planned' then 1 else resends end
       where order_no = $1`,
      [orderNo, to, runId, approval.rows[0]?.decision_id ?? null],
    );
  });
  return outcome === 'done';
}

/** Of one that was accepted nobody may but of a payout that was still pending. */
async function foundNotHappened(tx: Db, orderNo: string): Promise<void> {
  await tx.query('set local session_replication_role = replica');
  await tx.query(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim,
       reason, reference, finding, answers_known, seen, seen_sha256, row_before)
     select instruction_id, account_id, 'resolve', 'bob', false, 'not there', 'portal',
       'not_happened', '{}', '{}', repeat('0', 64), '{}'
     from tieout.instructions where order_no = $1 and state in ('accepted', 'unknown')`,
    [orderNo],
  );
  await tx.query('set local session_replication_role = origin');
}

const undo = new Error('undone');

/** Does the work, learns whether the database lets it, and undoes it. */
async function tried(work: (tx: Tx) => Promise<unknown>): Promise<'done' | 'refused'> {
  try {
    await fresh.db.transaction(async (tx) => {
      await work(tx);
      throw undo;
    });
  } catch (error) {
    if (error === undo) return 'done';
    const code = (error as { code?: string }).code ?? '';
    // 23514: a check, our guards among them; 23505: a unique index
    if (code === '23514' || code === '23505') return 'refused';
    throw error;
  }
  throw new Error('the work was not undone');
}

async function insertInstruction(
  db: Db,
  orderNo: string,
  state: string,
  transactionId = `T ${orderNo}`,
): Promise<void> {
  await db.query(
    `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
       currency, amount, from_state, done_states, state, hold_reason, batch_id, created_at,
       settled_at, settled_run_id, reason)
     select $1, 'A1', $2, 'capture', $4, 'EUR', 10, 'authorised', '{captured}', $3,
       case when $3 = 'held' then 'approval' end, (select max(batch_id) from tieout.batches),
       now(), case when $3 in ('confirmed', 'rejected', 'withdrawn') then now() end,
       case when $3 in ('confirmed', 'rejected', 'withdrawn') then $1::bigint end,
       case when $3 in ('unknown', 'withdrawn') then 'test' end`,
    [runId, orderNo, state, transactionId],
  );
}

async function insertRefund(
  db: Db,
  orderNo: string,
  refundId: string,
  refundAmount = '4.00',
): Promise<void> {
  await db.query(
    `insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id,
       currency, amount, refund_id, refund_amount, from_state, done_states, state, created_at)
     values ($1, 'A1', $2, 'refund', 'T', 'EUR', 10, $3, $4, 'captured', '{refunded}', 'planned',
       now())`,
    [runId, orderNo, refundId, refundAmount],
  );
}

async function insertAttempt(db: Db, attemptNo = 1): Promise<void> {
  await db.query(
    `insert into tieout.attempts (attempt_id, batch_id, attempt_no, account_id, entries,
       body_sha256, host, boot_id, pid, process_started, claimed_at, send_by)
     select gen_random_uuid(), max(batch_id), $1, 'A1', '["1"]', 'x', 'h', 'b', 1, 's', now(),
       now() from tieout.batches`,
    [attemptNo],
  );
}
