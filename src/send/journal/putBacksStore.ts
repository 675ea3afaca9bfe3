// A database that came back older than it was: what it has forgotten is entered as lost, what
// waited to be sent waits for a person or for the next plan, which weighs it anew, and numbers that
// went outside never come to mean something else. Judges nothing (send/journal/journalGuard.ts).

import { TIEOUT } from '../../core/instructions/decider.js';
import { HOLD_REASONS, type HoldReason } from '../../core/instructions/holdReasons.js';
import type { InstructionOperation } from '../../core/orders/order.js';
import { INSTRUCTION_OPERATIONS } from '../../core/orders/order.js';
import type { Db } from '../../database/db.js';
import { bringNumbersForward } from '../../database/server/sequencesStore.js';
import { statement } from '../../database/statements.js';
import { sayBrake } from '../batches/sendingStatusStore.js';
import type { JournalPlace } from './journalsStore.js';
import type { LostPermit, PermitEntry } from './permitSegments.js';

/** Ids that went outside must never come to mean something else. */
export const IDS_SKIPPED = 1_000_000;
export const IDS_SEEN_OUTSIDE = ['tieout.instructions', 'tieout.batches'];

/** What a snapshot cannot always tell to have been done. */
const BLIND: readonly InstructionOperation[] = ['refund', 'payout'];

/** What could have gone since, by an approval or by a setting that came back. */
const MAY_HAVE_GONE = [
  ...Object.entries(HOLD_REASONS).flatMap(([reason, { isApprovable }]) =>
    isApprovable ? [reason] : [],
  ),
  'operation_off' satisfies HoldReason,
];

/** One at a time: several processes of several hosts find it at once. */
export async function inTurn(tx: Db): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.put_back'))`);
}

/** Whatever waits leaves its batch: for a person, or for the next plan. */
export async function holdWaiting(
  tx: Db,
  operations: readonly InstructionOperation[] = INSTRUCTION_OPERATIONS,
): Promise<void> {
  await tx.query(statement('send/journal/holdRestored'), [operations, MAY_HAVE_GONE]);
}

/** What no snapshot can vouch for waits for a person, or for the next plan. */
export async function holdBlind(tx: Db): Promise<void> {
  await holdWaiting(tx, BLIND);
}

/**
 * What stands with each word that the database came back: up to which number outcomes may have been
 * read by others. By the clock, in milliseconds, since the state that comes back may be one of
 * before an earlier word of this kind, or the same one once more. None is published meanwhile.
 */
export async function putBackFound(tx: Db): Promise<{ putBack: { outcomesUpTo: number } }> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.outcomes'))`);
  const { rows } = await tx.query<{ known: bigint }>(
    `select greatest((select max(seq) from tieout.outcome_rows) + $1,
       (extract(epoch from clock_timestamp()) * 1000)::bigint) as known`,
    [IDS_SKIPPED],
  );
  return { putBack: { outcomesUpTo: Number(rows[0]?.known) } };
}

/** It came back, and what it has lost no journal tells: what no snapshot can vouch for is held. */
export async function sayPutBack(tx: Db, reason: string): Promise<void> {
  await holdBlind(tx);
  await sayBrake(tx, {
    kind: 'put_back',
    accountId: null,
    isOn: false,
    reason,
    who: TIEOUT,
    found: await putBackFound(tx),
  });
}

/** All of it waits for a person, and nothing is sent until one lets it go. */
export async function freezePutBack(
  tx: Db,
  reason: string,
  found: { journals: readonly JournalPlace[]; lost: readonly string[] },
): Promise<void> {
  await bringNumbersForward(tx);
  await holdWaiting(tx);
  await skipIds(tx);
  await sayBrake(tx, {
    kind: 'freeze',
    accountId: null,
    isOn: true,
    reason,
    who: TIEOUT,
    found: { ...found, ...(await putBackFound(tx)) },
  });
}

/**
 * Entered once, however often it is found: what a person moved by hand as a call by hand, too, and
 * what moved nothing as such a call alone.
 */
export async function enterLost(
  tx: Db,
  host: string,
  permits: readonly LostPermit[],
): Promise<void> {
  const moved = permits.filter(({ outcome }) => outcome === undefined);
  const rows = moved.flatMap((permit) =>
    (permit.entries ?? []).map((entry, at) => ({
      attempt_id: permit.attemptId,
      entry: at,
      account_id: permit.accountId,
      operation: permit.operation,
      order_no: entry.order ?? null,
      transaction_id: entry.transaction ?? null,
      refund_id: entry.refund ?? null,
      currency: entry.currency,
      amount: entry.amount,
      sent_at: permit.at,
    })),
  );
  await tx.query(
    `insert into tieout.lost_permits (attempt_id, entry, account_id, operation, order_no,
       transaction_id, refund_id, currency, amount, sent_at, host)
     select attempt_id, entry, account_id, operation, order_no, transaction_id, refund_id,
       currency, amount, sent_at, $2
     from jsonb_to_recordset($1::jsonb) as lost (attempt_id uuid, entry int, account_id text,
       operation text, order_no text, transaction_id text, refund_id text, currency text,
       amount text, sent_at timestamptz)
     on conflict do nothing`,
    [JSON.stringify(rows), host],
  );
  await enterLostCalls(tx, host, permits);
}

/**
 * Who called, the database has forgotten; that it was called, not. What became of it the journal
 * knows where it moved nothing. Another payout is found by its request, and waits for a person by
 * that.
 */
async function enterLostCalls(tx: Db, host: string, permits: readonly LostPermit[]): Promise<void> {
  const calls = permits
    .filter(({ batchId }) => batchId === '')
    .filter(({ operation, outcome }) => outcome !== undefined || operation !== 'payout')
    .map((permit) => ({
      permit_id: permit.attemptId,
      account_id: permit.accountId,
      operation: permit.operation,
      body_sha256: permit.bodySha256,
      at: permit.at,
      outcome: permit.outcome ?? null,
      ended_at: permit.outcome === undefined ? null : (permit.endedAt ?? permit.at),
      entries: (permit.entries ?? []).flatMap((entry) => calledEntry(permit.operation, entry)),
    }))
    .filter(({ entries, outcome }) => outcome !== null || entries.length > 0);
  await tx.query(
    `insert into tieout.gateway_calls (account_id, operation, called_by, is_claim, host, at,
       body_sha256, entries, permit_id, outcome, ended_at)
     select account_id, operation, $2, true, $3, at, decode(body_sha256, 'hex'), entries,
       permit_id, outcome, ended_at
     from jsonb_to_recordset($1::jsonb) as lost (permit_id uuid, account_id text, operation text,
       body_sha256 text, at timestamptz, outcome text, ended_at timestamptz, entries jsonb)
     order by at
     on conflict (permit_id) where permit_id is not null do nothing`,
    [JSON.stringify(calls), `journal of ${host}`, host],
  );
}

/** By the names of the gateway's document, as the call had them; old lines name none. */
function calledEntry(operation: string, entry: PermitEntry): Record<string, string>[] {
  const { order, transaction, amount, currency } = entry;
  if (order === undefined && transaction === undefined) return [];
  if (operation === 'payout') {
    return [{ request_id: order ?? '', payment_amount: amount, payment_currency: currency }];
  }
  return [
    {
      ...(order === undefined ? {} : { order_no: order }),
      ...(transaction === undefined ? {} : { transaction_id: transaction }),
      [operation === 'refund' ? 'refund_amount' : 'amount']: amount,
      currency,
    },
  ];
}

async function skipIds(tx: Db): Promise<void> {
  await tx.query(
    `select setval(sequence, nextval(sequence) + $2)
     from unnest($1::text[]) as name, pg_get_serial_sequence(name, case name
       when 'tieout.instructions' then 'instruction_id' else 'batch_id' end) as sequence`,
    [IDS_SEEN_OUTSIDE, IDS_SKIPPED],
  );
}
