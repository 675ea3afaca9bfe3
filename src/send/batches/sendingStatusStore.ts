// What may stop the sending of an account, as rows: its newest run with canary and breaker, and the
// brakes. All workers read the same facts; what they mean is core/instructions/breaker.ts.
// Neighbours: send/permit.ts asks, attemptsStore.ts moves canary and breaker on,
// cli/runs/brake.ts pulls the brake.

import type {
  Brake,
  SendingFacts,
  SendingState,
  SendsUnderWay,
} from '../../core/instructions/breaker.js';
import type { Decider } from '../../core/instructions/decider.js';
import type { Db, Tx } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import { signDecided } from '../../signatures/signaturesStore.js';
import type { WaitingBecause } from '../journal/hostReasons.js';
import type { BatchRow } from './batchesStore.js';

export interface SendingStatus extends SendingFacts {
  accountId: string;
  /** the account's newest run; null: none */
  runId: bigint | null;
  /** of that run: test or live; null: none */
  environment: string | null;
  /** by which settings that run was taken last; null: none */
  settingsSha256: string | null;
}

interface RawSendingStatus {
  now: Date;
  account_id: string;
  run_id: bigint | null;
  send_block: string | null;
  sending: SendingState | null;
  sending_reason: string | null;
  environment: string | null;
  settings_sha256: string | null;
  brakes: {
    kind: Brake['kind'];
    account_id: string | null;
    reason: string;
    by: string;
    at: string;
  }[];
}

interface RawBatch {
  batch_run_id: bigint;
  operation: BatchRow['operation'];
  state: string;
  attempts: number;
}

/** One for each account, in the order of their names. */
export async function sendingStatuses(
  db: Db,
  accountIds: readonly string[],
): Promise<SendingStatus[]> {
  return statusesBy(db, accountIds, 'sendingStatus');
}

/**
 * The same inside a claim, under a name of its own: the plan that is made once there, without
 * reading small tables whole, seems so dear elsewhere that the server would plan it anew each time.
 */
export async function statusInClaim(tx: Db, accountId: string): Promise<SendingStatus | undefined> {
  // By a statement of its own: what it waited for is seen by the next one.
  await tx.query(`select pg_advisory_xact_lock_shared(hashtext('tieout.claim'))`);
  return (await statusesBy(tx, [accountId], 'statusInClaim'))[0];
}

async function statusesBy(
  db: Db,
  accountIds: readonly string[],
  name: string,
): Promise<SendingStatus[]> {
  const { rows } = await db.query<RawSendingStatus>(
    'select standing.*, now() from tieout.sending_status($1) standing order by account_id',
    [accountIds],
    name,
  );
  return rows.map(sendingStatusOf);
}

function sendingStatusOf(row: RawSendingStatus): SendingStatus {
  return {
    accountId: row.account_id,
    runId: row.run_id,
    environment: row.environment,
    settingsSha256: row.settings_sha256,
    at: row.now,
    hasRun: row.run_id !== null,
    block: row.send_block,
    state: row.sending ?? 'untried',
    reason: row.sending_reason,
    brakes: row.brakes.map(({ account_id, at, ...brake }) => ({
      ...brake,
      accountId: account_id,
      at: new Date(at),
    })),
  };
}

/** A batch and where the sending of its account stands, in one question. */
export async function batchStatus(
  db: Db,
  batchId: bigint,
): Promise<{ batch: BatchRow; status: SendingStatus } | null> {
  const { rows } = await db.query<RawSendingStatus & RawBatch>(
    `select b.run_id as batch_run_id, b.operation, b.state, b.attempts, standing.*, now()
     from tieout.batches b cross join lateral tieout.sending_status(array[b.account_id]) standing
     where b.batch_id = $1::bigint`,
    [batchId],
    'batchStanding',
  );
  const row = rows[0];
  if (!row) return null;
  const { batch_run_id: runId, account_id: accountId, operation, state, attempts } = row;
  return {
    batch: { batchId, runId, accountId, operation, state, attempts },
    status: sendingStatusOf(row),
  };
}

/** False when another batch has become the canary meanwhile. */
export async function beginCanary(
  tx: Db,
  runId: bigint,
  accountId: string,
  batchId: bigint,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update tieout.run_accounts set sending = 'canary', canary_batch_id = $3
     where run_id = $1 and account_id = $2 and sending = 'untried'`,
    [runId, accountId, batchId],
  );
  return rowCount === 1;
}

/** Those of the accounts whose newest run waits for one of these batches as its canary. */
export async function behindCanaries(
  db: Db,
  accountIds: readonly string[],
  batchIds: readonly bigint[],
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select ra.account_id from tieout.sending_status($1) s
     join tieout.run_accounts ra on ra.run_id = s.run_id and ra.account_id = s.account_id
     where ra.sending = 'canary' and ra.canary_batch_id = any ($2::bigint[])`,
    [accountIds, batchIds.map(String)],
  );
  return rows.map((row) => row.account_id);
}

/** Takes everything but these instructions out of a queued batch, into a batch of its own. */
export async function splitBatch(tx: Db, batchId: bigint, stay: readonly bigint[]): Promise<void> {
  await tx.query(statement('send/batches/splitBatch'), [batchId, stay.map(String)]);
}

interface BrakeWord {
  /**
   * `breaker`: that of an account, which only a person lifts before its time; `put_back`: the
   * database came back, which stops nothing
   */
  kind: Brake['kind'] | 'breaker' | 'put_back';
  accountId: string | null;
  isOn: boolean;
  reason: string;
  who: Decider;
  found?: unknown;
}

/** Puts a word on record; the newest on each kind and account holds. */
export async function sayBrake(db: Db, word: BrakeWord): Promise<Date> {
  const { rows } = await db.query<{ at: Date; seq: bigint }>(
    `insert into tieout.brakes (kind, account_id, is_on, reason, by, is_claim, found)
     values ($1, $2, $3, $4, $5, $6, $7) returning at, seq`,
    [
      word.kind,
      word.accountId,
      word.isOn,
      word.reason,
      word.who.name,
      word.who.isClaim,
      word.found === undefined ? null : JSON.stringify(word.found),
    ],
  );
  const written = rows.map((row) => row.seq);
  await signDecided(db, word.who, 'brake', written);
  return rows[0]?.at ?? new Date(0);
}

/** Every brake and freeze that holds, oldest first. */
export async function activeBrakes(db: Db): Promise<Brake[]> {
  const { rows } = await db.query<Omit<Brake, 'accountId'> & { account_id: string | null }>(
    'select kind, account_id, reason, by, at from tieout.standing_brakes order by seq',
  );
  return rows.map(({ account_id, ...brake }) => ({ ...brake, accountId: account_id }));
}

/** Lets a stopped account begin again with a canary; false when its newest run is not stopped. */
export async function releaseStopped(db: Db, accountId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tieout.run_accounts set sending = 'untried', sending_reason = null,
       unclean_batches = 0
     where account_id = $1 and sending = 'stopped' and run_id = (
       select run_id from tieout.run_accounts ra join tieout.runs r using (run_id)
       where ra.account_id = $1 and not r.is_dry and ra.merchant_id is not null
       order by ra.business_date desc limit 1)`,
    [accountId],
  );
  return rowCount === 1;
}

/**
 * Lets go of the breaker of accounts whose newest run is stopped, where every entry that nobody
 * could say anything of has turned out to have happened; answers them with what had stopped them.
 */
export async function releaseSeen(
  db: Db,
  accountIds: readonly string[],
): Promise<{ accountId: string; reason: string }[]> {
  const { rows } = await db.query<{ account_id: string; reason: string }>(
    statement('send/batches/releaseSeen'),
    [accountIds],
  );
  return rows.map(({ account_id: accountId, reason }) => ({ accountId, reason }));
}

/** Waits, where a brake was pulled or an account stopped, for claims that began before it. */
export async function awaitClaims(tx: Tx): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.claim'))`);
}

/**
 * Batches whose first byte may have left, or may leave within the budget of their claim; and calls
 * by hand without an end, of the last minute: one that is older has been answered or given up.
 */
export async function sendsUnderWay(
  db: Db,
  accountIds: readonly string[] | null,
): Promise<SendsUnderWay> {
  const { rows } = await db.query<{ batches: bigint; by_hand: bigint }>(
    `select (select count(*) from tieout.batches
         where state = 'sending' and ($1::text[] is null or account_id = any ($1))) as batches,
       (select count(*) from tieout.gateway_calls
         where outcome is null and at > clock_timestamp() - interval '1 minute'
           and ($1::text[] is null or account_id = any ($1))) as by_hand`,
    [accountIds],
  );
  const [row] = rows;
  return { batches: Number(row?.batches ?? 0n), byHand: Number(row?.by_hand ?? 0n) };
}

/** What waits in batches, by account and reason, the most first. */
export async function whyWaiting(
  db: Db,
  accountIds: readonly string[],
): Promise<(WaitingBecause & { accountId: string })[]> {
  const { rows } = await db.query<{
    account_id: string;
    reason: string | null;
    instructions: bigint;
  }>(
    `select b.account_id, b.reason, count(*) as instructions
     from tieout.batches b join tieout.instructions i using (batch_id)
     where b.state = 'queued' and i.state = 'queued' and b.account_id = any ($1)
     group by b.account_id, b.reason order by instructions desc, b.reason`,
    [accountIds],
  );
  return rows.map(({ account_id: accountId, reason, instructions }) => ({
    accountId,
    reason,
    instructions: Number(instructions),
  }));
}
