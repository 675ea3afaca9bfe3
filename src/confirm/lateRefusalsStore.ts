// Stored answers that came after a person had found that what they answer happened. Judges nothing:
// lateRefusals.ts reads them.

import type { BatchInstruction } from '../core/instructions/batch.js';
import type { InstructionOperation } from '../core/orders/order.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { RawAnswer } from '../gateway/transport/transport.js';
import type { RawInstruction } from '../instructions/batchRow.js';
import { batchInstruction } from '../instructions/batchRow.js';

export interface AnsweredSince {
  accountId: string;
  instructionId: bigint;
  operation: InstructionOperation;
  orderNo: string;
  /** who had found that it happened */
  by: string;
  batchId: bigint;
  /** all that the answer is about */
  entries: bigint[];
  answer: RawAnswer;
}

export async function answeredSince(
  db: Db,
  accountIds: readonly string[],
  days: number,
): Promise<AnsweredSince[]> {
  const { rows } = await db.query<{
    account_id: string;
    instruction_id: bigint;
    operation: InstructionOperation;
    order_no: string;
    decided_by: string;
    batch_id: bigint;
    entries: bigint[];
    http_status: number;
    content_type: string | null;
    content_encoding: string | null;
    body: Buffer;
  }>(statement('confirm/lateRefusals'), [accountIds, days]);
  return rows.map((row) => ({
    accountId: row.account_id,
    instructionId: row.instruction_id,
    operation: row.operation,
    orderNo: row.order_no,
    by: row.decided_by,
    batchId: row.batch_id,
    entries: row.entries,
    answer: {
      status: row.http_status,
      contentType: row.content_type,
      contentEncoding: row.content_encoding,
      body: row.body,
    },
  }));
}

/** In the order in which they were sent. */
export async function sentTogether(db: Db, ids: readonly bigint[]): Promise<BatchInstruction[]> {
  const { rows } = await db.query<RawInstruction>(
    `select instruction_id, order_no, transaction_id, currency, amount, refund_id, refund_amount,
       refund_reason, review_decision, payload
     from tieout.instructions where instruction_id = any ($1::bigint[]) order by instruction_id`,
    [ids.map(String)],
  );
  return rows.map(batchInstruction);
}
