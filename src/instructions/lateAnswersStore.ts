// Answers that came after a person had said that the instruction did not happen: nobody had read
// them. What is planned in its place is withdrawn, and it is a person's question again.
// Neighbours: answerSpool.ts and attemptsStore.ts store answers, send/recoverAttempts.ts asks.

import type { Database } from '../database/db.js';
import { statement } from '../database/statements.js';

export const ANSWERED_AFTER_ALL = 'its answer came after a person had said that it did not happen';

/** Answers the instructions that a person has to look at anew. */
export async function disputeByAnswers(
  db: Database,
  accountIds: readonly string[],
  now: Date,
): Promise<bigint[]> {
  const found = await db.query<{ instruction_id: bigint }>(
    statement('instructions/answeredAfterAll'),
    [accountIds],
  );
  if (found.rows.length === 0) return [];
  const ids = found.rows.map((row) => row.instruction_id.toString());
  return db.transaction(async (tx) => {
    await tx.query(
      `update tieout.instructions i set state = 'withdrawn', hold_reason = null, settled_at = $2,
         settled_run_id = null, changed_by = 'tieout',
         reason = 'an answer to instruction ' || before.instruction_id || ' came after all'
       from tieout.instructions before
       where before.instruction_id = any ($1::bigint[]) and before.state = 'rejected'
         and i.is_open and tieout.is_in_place_of(i, before)
         and i.instruction_id > before.instruction_id
         and i.state in ('planned', 'held', 'queued')`,
      [ids, now],
    );
    const disputed: bigint[] = [];
    // One after the other, the newest first: of two of one order it bars the older one.
    for (const { instruction_id: id } of found.rows) {
      const { rowCount } = await tx.query(DISPUTE, [id, ANSWERED_AFTER_ALL]);
      if (rowCount === 1) disputed.push(id);
    }
    return disputed;
  });
}

const DISPUTE = `update tieout.instructions i set state = 'unknown', is_disputed = true,
    settled_at = null, settled_run_id = null, changed_by = 'tieout', reason = $2
  where i.instruction_id = $1 and i.state = 'rejected' and not tieout.is_barred(i.instruction_id)`;
