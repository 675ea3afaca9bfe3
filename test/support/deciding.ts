// One account with instructions that people decide about, on a real database: nights up to their
// plan, decisions by name, and what the database says afterwards. One step behind the tests of
// instructions/decisions.ts; it decides nothing by itself.

import { updateBreaks } from '../../src/compare/verdictsStore.js';
import type { Database } from '../../src/database/db.js';
import type {
  Decision,
  DecisionRequest,
  DecisionVerdict,
} from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { dissolveWaiting } from '../../src/send/batches/batchesStore.js';
import type { OrderText } from './orders.js';
import { orderOf, SNAPSHOT_AT } from './orders.js';
import { policies, snapshotAndPlan } from './planning.js';
import { storeInstructions, storeRun } from './snapshotStore.js';

/** Where the test stands; a new account for each test. */
export const at = {
  db: undefined as unknown as Database,
  accountId: '',
  runId: 0n,
  /** queues that were enqueued */
  enqueued: [] as string[],
};

export const CAPTURE = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00'] };
export const REFUND = {
  ledger: 'captured 10.00 EUR',
  gateway: ['T1 captured 10.00'],
  refunds: ['R1 4.00'],
};
export const APPROVE: Decision = { kind: 'approve', reason: null };

let accounts = 0;

export async function newAccount(db: Database): Promise<void> {
  accounts += 1;
  at.db = db;
  at.accountId = `A${accounts}`;
  at.runId = await storeRun(db, at.accountId);
  at.enqueued = [];
}

export async function plan(texts: readonly OrderText[]): Promise<void> {
  const orders = texts.map((text, index) => orderOf(`O${index + 1}`, text));
  await snapshotAndPlan(
    at.db,
    { runId: at.runId, accountId: at.accountId, policies: policies('approve') },
    orders,
  );
}

/** The next night, up to its plan; what waited in batches is taken apart as a night does. */
export async function nextRun(texts: readonly OrderText[], { breaks = false } = {}): Promise<void> {
  await dissolveWaiting(at.db, [at.accountId]);
  at.runId = await storeRun(at.db, at.accountId);
  const orders = texts.map((text, index) => orderOf(`O${index + 1}`, text));
  const look = await snapshotAndPlan(
    at.db,
    { runId: at.runId, accountId: at.accountId, policies: policies('approve') },
    orders,
  );
  if (breaks) await updateBreaks(at.db, look, SNAPSHOT_AT);
}

/** An order with instructions in any state, looked at once. */
export async function given(text: OrderText, more?: string): Promise<void> {
  const order = orderOf('O1', text);
  await storeInstructions(at.db, at.runId, at.accountId, [order]);
  if (more !== undefined) await inThePast(more);
  await snapshotAndPlan(
    at.db,
    { runId: at.runId, accountId: at.accountId, policies: policies('approve') },
    [order],
  );
}

export interface Options extends Partial<DecisionRequest> {
  all?: boolean;
  newest?: boolean;
}

/** Decides about O1, or about all; "done queued", "refused wrong_state", "not_found". */
export async function decide(
  decision: Decision,
  name: string,
  { all = false, newest = false, ...rest }: Options = {},
): Promise<string[]> {
  const { rows } = await at.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where account_id = $1
     order by instruction_id ${newest ? 'desc' : ''}`,
    [at.accountId],
  );
  const ids = rows.map((row) => row.instruction_id).slice(0, all ? undefined : 1);
  const found = await verdicts({ ids, decision, who: { name, isClaim: true }, ...rest });
  return found.map((row) => {
    if (row.kind === 'not_found') return row.kind;
    return row.kind === 'done' ? `done ${row.becomes}` : `refused ${row.why}`;
  });
}

export function verdicts(request: DecisionRequest): Promise<DecisionVerdict[]> {
  const enqueue = async (queue: string): Promise<void> => {
    at.enqueued.push(queue);
  };
  const config = { accounts: [{ accountId: at.accountId, liveFrom: new Date(0) }] };
  const deps = { config, db: at.db, queuePort: { enqueue }, now: () => SNAPSHOT_AT };
  return decideInstructions({ ...deps, log: () => {} }, request);
}

export async function idOf(orderNo: string, state?: string): Promise<bigint> {
  const { rows } = await at.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where account_id = $1 and order_no = $2
       and ($3::text is null or state = $3)`,
    [at.accountId, orderNo, state ?? null],
  );
  return rows[0]?.instruction_id ?? 0n;
}

export async function states(): Promise<string[]> {
  const { rows } = await at.db.query<{ text: string }>(
    `select order_no || ' ' || operation || ' ' || state as text from tieout.instructions
     where account_id = $1 order by order_no`,
    [at.accountId],
  );
  return rows.map((row) => row.text);
}

export async function columns(list: string): Promise<object[]> {
  return (
    await at.db.query(
      `select ${list} from tieout.instructions where account_id = $1 order by instruction_id`,
      [at.accountId],
    )
  ).rows;
}

export async function openBreaks(): Promise<string[]> {
  const { rows } = await at.db.query<{ kind: string }>(
    `select kind from tieout.breaks where account_id = $1 and state = 'open' order by kind`,
    [at.accountId],
  );
  return rows.map((row) => row.kind);
}

export async function requestedBy(name: string): Promise<void> {
  await at.db.query('update ledger.refund_requests set requested_by = $2 where account_id = $1', [
    at.accountId,
    name,
  ]);
}

export async function addRequest(): Promise<void> {
  await at.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at) values ($1, 'more', 'O1', 1, now())`,
    [at.accountId],
  );
}

/** Past the guards, for what only time would bring about. */
export async function inThePast(statement: string): Promise<void> {
  await at.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `${statement} ${/ where /.test(statement) ? 'and' : 'where'} account_id = '${at.accountId}'`,
    );
  });
}

export function writeApproval(name: string) {
  return writeDecision('approve', name);
}

export function writeDecision(kind: string, name: string) {
  return at.db.query<{ decision_id: bigint }>(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim, seen,
       seen_sha256, row_before, expires_at)
     select instruction_id, account_id, $2, $3, false, tieout.seen_of(i),
       tieout.seen_sha256(tieout.seen_of(i)), to_jsonb(i),
       case when $2 = 'approve' then now() + interval '1 day' end
     from tieout.instructions i where account_id = $1 and order_no = 'O1' returning decision_id`,
    [at.accountId, kind, name],
  );
}
