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
  /** in a unit that nobody has set */
  withoutAmount: number;
  oldest: Date;
  /** the number of one of them */
  first: bigint;
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

/** How many match and do not wait because of `barred`, and the numbers of the oldest of them. */
export async function instructionSet(
  db: Db,
  filter: InstructionSetFilter & { barred: readonly string[] },
  limit: number,
): Promise<{ ids: bigint[]; found: number }> {
  const { accountIds, state, operation, holdReason, currency, barred } = filter;
  const values = [accountIds, state, operation, holdReason, currency, limit, barred];
  const { rows } = await db.query<{ id: bigint; found: number }>(
    statement('instructions/sets/instructionSet'),
    values,
  );
  return { ids: rows.map(({ id }) => id), found: rows[0]?.found ?? 0 };
}
