// The auditor of a night that was disturbed: compares the instructions of the database with the
// journal of the gateway and shares no rule with the program. Each confirmed instruction has one
// effect, nothing else has any, and what nobody can say waits for a person.

import type { Database } from '../../src/database/db.js';
import type { Effect } from '../support/night.js';

interface InstructionRow {
  instruction_id: bigint;
  operation: string;
  account_id: string;
  order_no: string;
  transaction_id: string;
  amount: string;
  refund_amount: string | null;
  state: string;
  has_break: boolean;
}

/** States in which nothing may have happened, or in which exactly one thing has. */
const EFFECTS_OF: Record<string, readonly number[]> = {
  confirmed: [1],
  rejected: [0],
  withdrawn: [0],
  held: [0],
  unknown: [0],
};

/** Every way in which the night is wrong, in words; empty when it is right. */
export async function auditRun(db: Database, effects: readonly Effect[]): Promise<string[]> {
  const { rows } = await db.query<InstructionRow>(
    `select i.instruction_id, i.operation, i.account_id, i.order_no, i.transaction_id,
       i.amount::text, i.refund_amount::text, i.state, exists (
         select from tieout.breaks b where b.account_id = i.account_id and b.state = 'open'
           and b.order_no = i.order_no and b.kind = 'outcome_unknown') as has_break
     from tieout.instructions i`,
  );
  const left = new Map<string, number>();
  for (const effect of effects) {
    const money = effect.refund_amount ?? effect.amount ?? '';
    const key = keyOf(effect.operation, effect, money);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  const wrong: string[] = [];
  // Those that must have an effect take theirs first: two equal refunds of an order look alike.
  const byNeed = [...rows].sort((one, other) => needOf(other) - needOf(one));
  for (const row of byNeed) {
    const key = keyOf(row.operation, row, row.refund_amount ?? row.amount);
    const found = Math.min(left.get(key) ?? 0, 1);
    left.set(key, (left.get(key) ?? 0) - found);
    const name = `${row.operation} ${row.instruction_id} of ${row.order_no} is ${row.state}`;
    const allowed = isPartialUnknown(row) ? [0, 1] : EFFECTS_OF[row.state];
    if (!allowed) wrong.push(`${name}: not an end`);
    else if (!allowed.includes(found)) wrong.push(`${name}, with ${found} effects`);
    if (row.state === 'unknown' && !row.has_break) wrong.push(`${name}, and nobody is told`);
  }
  for (const [key, count] of left) if (count > 0) wrong.push(`${count} effects too many: ${key}`);
  return wrong;
}

function keyOf(
  operation: string,
  { account_id, transaction_id }: { account_id: string; transaction_id: string },
  money: string,
): string {
  return `${operation} ${account_id} ${transaction_id} ${money}`;
}

function needOf(row: InstructionRow): number {
  return row.state === 'confirmed' ? 1 : 0;
}

function isPartialUnknown(row: InstructionRow): boolean {
  return row.state === 'unknown' && row.refund_amount !== null && row.refund_amount !== row.amount;
}
