// Instructions as the console lists them: those that wait for approval with what an approver has to
// see and the digest the approval will be bound to, and all of them by filter with a count. Read
// only; every statement takes the accounts of the reader. Neighbour: instructionListStore.ts has
// one.

import { NOT_APPROVABLE } from '../core/instructions/holdReasons.js';
import type { InstructionState } from '../core/instructions/instruction.js';
import type { Payee } from '../core/instructions/payouts/payoutAsked.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { Seen } from './decisionsStore.js';
import type { InstructionSort } from './instructionListStore.js';

export interface HeldInstruction {
  id: bigint;
  accountId: string;
  orderNo: string;
  operation: string;
  transactionId: string;
  currency: string;
  amount: string;
  refundId: string | null;
  reviewDecision: string | null;
  /** false: a payout in a unit that nobody has set */
  isInTotals: boolean;
  holdReason: string;
  askedBy: string[];
  since: Date;
  /** of a payout; whole only for who may approve it */
  payee: Payee | null;
  seen: Seen;
  seenSha256: string;
  snapshotAt: Date | null;
}

/** Where it does not say: what an approval frees, oldest first, then what none does. */
export async function heldInstructions(
  db: Db,
  accountIds: readonly string[],
  page: { limit: number; offset: number; sort?: InstructionSort },
): Promise<HeldInstruction[]> {
  const { rows } = await db.query<HeldInstruction>(statement('instructions/heldInstructions'), [
    accountIds,
    page.limit,
    page.offset,
    page.sort ?? 'age',
    NOT_APPROVABLE,
  ]);
  return rows;
}

export interface InstructionCounts {
  state: InstructionState;
  count: number;
  /** of these held by a setting: no approval frees them */
  kept: number;
}

/** Of the open ones only: the settled ones grow with every run. */
export async function countOpen(
  db: Db,
  accountIds: readonly string[],
): Promise<InstructionCounts[]> {
  const { rows } = await db.query<{ state: InstructionState; count: bigint; kept: bigint }>(
    `select state, count(*) as count,
       count(*) filter (where state = 'held' and hold_reason = any ($2)) as kept
     from tieout.instructions
     where is_open and account_id = any ($1)
     group by state`,
    [accountIds, NOT_APPROVABLE],
  );
  return rows.map((row) => ({ ...row, count: Number(row.count), kept: Number(row.kept) }));
}

/** The account of an instruction; null when there is none of that number. */
export async function accountOfInstruction(db: Db, id: bigint): Promise<string | null> {
  const { rows } = await db.query<{ account_id: string }>(
    'select account_id from tieout.instructions where instruction_id = $1',
    [id],
  );
  return rows[0]?.account_id ?? null;
}
