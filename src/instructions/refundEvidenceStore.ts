// What a search for an unknown refund brought. It proves nothing by itself: no state changes
// because of it. Neighbours: confirm/searchRefunds.ts asks, instructions/instructionSheet.ts shows.

import type { Db } from '../database/db.js';

interface UnknownRefund {
  instructionId: bigint;
  accountId: string;
  orderNo: string;
  transactionId: string;
}

export interface Evidence {
  at: string;
  outcome: 'answered' | 'not_sent' | 'unknown';
  reason: string | null;
  httpStatus: number | null;
  body: string | null;
}

/** Unknown refunds that this run has not searched for, oldest first. */
export async function refundsToSearch(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  limit: number,
): Promise<UnknownRefund[]> {
  const { rows } = await db.query<{
    instruction_id: bigint;
    account_id: string;
    order_no: string;
    transaction_id: string;
  }>(
    `select i.instruction_id, i.account_id, i.order_no, i.transaction_id
     from tieout.instructions i
     where i.is_open and i.state = 'unknown' and i.operation = 'refund' and i.account_id = any ($2)
       and not exists (select from tieout.refund_evidence e
         where e.instruction_id = i.instruction_id and e.run_id = $1)
     order by i.instruction_id limit $3`,
    [runId, accountIds, limit],
  );
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    accountId: row.account_id,
    orderNo: row.order_no,
    transactionId: row.transaction_id,
  }));
}

export async function storeEvidence(
  db: Db,
  instructionId: bigint,
  runId: bigint,
  found: {
    outcome: Evidence['outcome'];
    reason: string | null;
    httpStatus: number | null;
    body: Buffer | null;
  },
): Promise<void> {
  await db.query(
    `insert into tieout.refund_evidence (instruction_id, run_id, outcome, reason, http_status, body)
     values ($1, $2, $3, $4, $5, $6) on conflict (instruction_id, run_id) do nothing`,
    [instructionId, runId, found.outcome, found.reason, found.httpStatus, found.body],
  );
}

/** The newest few, newest first; bodies as text, not masked yet. */
export async function evidenceOf(
  db: Db,
  instructionId: bigint,
  limit: number,
): Promise<Evidence[]> {
  const { rows } = await db.query<{
    at: Date;
    outcome: Evidence['outcome'];
    reason: string | null;
    http_status: number | null;
    body: Buffer | null;
  }>(
    `select at, outcome, reason, http_status, body from tieout.refund_evidence
     where instruction_id = $1 order by evidence_id desc limit $2`,
    [instructionId, limit],
  );
  return rows.map((row) => ({
    at: row.at.toISOString(),
    outcome: row.outcome,
    reason: row.reason,
    httpStatus: row.http_status,
    body: row.body === null ? null : row.body.toString('utf8'),
  }));
}
