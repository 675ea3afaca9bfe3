// One person approves all that is held, in one go, by the program's own queue.

import { decideInstructions } from '../../src/instructions/decisions.js';
import { APPROVE } from './deciding.js';
import type { House } from './night.js';

/** Answers what became of each. */
export async function approveHeld(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  const ids = rows.map((row) => row.instruction_id);
  const deps = await (await house.open()).sendDeps();
  const who = { name: 'anna', isClaim: true };
  const found = await decideInstructions(deps, { ids, decision: APPROVE, who });
  return found.map(({ kind }) => kind);
}
