// Which instructions a decision over many is about: groups of what waits or is unknown, and the
// numbers of one. Read only; decideInstructionSet.ts decides.

import type { Db } from '../../database/db.js';
import { statement } from '../../database/statements.js';

/** The states of which all that match can be decided about. */
export type SetState = 'held' | 'unknown';

export interface InstructionGroup {
  accountId: string;
  operation: string;
  /** null: it does not wait */
  holdReason: string | null;
  currency: string;
  count: number;
  /** null: none of them is in a unit that somebody has set */
  money: string | null;
  oldest: Date;
}

export async function instructionGroups(
  db: Db,
  accountIds: readonly string[],
  state: SetState,
): Promise<InstructionGroup[]> {
  const values = [accountIds, state];
  return (
    await db.query<InstructionGroup>(statement('instructions/sets/instructionGroups'), values)
  ).rows;
}

export interface InstructionSetFilter {
  accountIds: readonly string[];
  state: SetState;
  operation: string | null;
  holdReason: string | null;
  currency: string | null;
}

/** Their numbers, oldest first. */
export async function instructionSet(
  db: Db,
  filter: InstructionSetFilter,
  limit: number,
): Promise<bigint[]> {
  const { accountIds, state, operation, holdReason, currency } = filter;
  const values = [accountIds, state, operation, holdReason, currency, limit];
  const { rows } = await db.query<{ id: bigint }>(
    statement('instructions/sets/instructionSet'),
    values,
  );
  return rows.map(({ id }) => id);
}
