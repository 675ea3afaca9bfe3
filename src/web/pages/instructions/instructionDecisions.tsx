// A decision about instructions from a form: which rows, bound to what was seen where the form says
// so, and the verdict for each in words. The rule is shared with the command line.

import { UsageError } from '../../../core/errors.js';
import { instructionMoney } from '../../../core/instructions/instruction.js';
import type { Decision, DecisionVerdict } from '../../../instructions/decisions.js';
import { decideInstructions } from '../../../instructions/decisions.js';
import type { DecidableInstruction } from '../../../instructions/decisionsStore.js';
import { bookConfirmed } from '../../../movements/bookMovements.js';
import type { RowVerdict } from '../../layout/parts.js';
import { Verdicts } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';

export async function decideInstructionRows(
  visit: Visit,
  decision: Decision,
  back: string,
): Promise<Answer> {
  const picked = visit.form.picks('id');
  if (picked === null || picked.size === 0) {
    return refused('Pick at least one instruction, at most 500.');
  }
  const seen = new Map([...picked].flatMap(([id, sha]) => (sha === null ? [] : [[id, sha]])));
  try {
    const rows = await decideInstructions(visit.deps, {
      ids: [...picked.keys()],
      decision,
      who: visit.decider,
      seen: seen as Map<bigint, string>,
      isAlone: visit.form.text('sheet') === 'yes',
      accountIds: visit.accounts,
    });
    await recordEach(visit, decision, rows);
    if (decision.kind === 'resolve') await bookConfirmed(visit.deps, visit.accounts);
    const body = <Verdicts rows={rows.map(verdictOf)} back={back} />;
    return { kind: 'page', title: 'What was done', section: 'Approvals', body };
  } catch (error) {
    if (error instanceof UsageError) return refused(`Nothing was changed: ${error.message}.`);
    throw error;
  }
}

type Decided = Pick<DecisionVerdict, 'kind'> &
  ({ kind: 'not_found' } | { kind: 'done' | 'refused'; instruction: DecidableInstruction });

/** One line an account; the decisions themselves are kept with what was seen. */
export async function recordEach(
  visit: Visit,
  decision: Decision,
  rows: readonly Decided[],
): Promise<void> {
  const known = rows.flatMap((row) => (row.kind === 'not_found' ? [] : [row]));
  for (const accountId of new Set(known.map(({ instruction }) => instruction.accountId))) {
    const mine = known.filter(({ instruction }) => instruction.accountId === accountId);
    const [first] = mine;
    await visit.record({
      action: `${decision.kind} instructions`,
      accountId,
      subject:
        mine.length === 1
          ? `instruction ${first?.instruction.instructionId}`
          : `${mine.length} instructions`,
      outcome: `${mine.filter(({ kind }) => kind === 'done').length} of ${mine.length}`,
    });
  }
}

function verdictOf(row: DecisionVerdict): RowVerdict {
  if (row.kind === 'not_found') {
    const words = `${row.words} that your roles let you decide about`;
    return { what: `instruction ${row.instructionId}`, kind: 'refused', words };
  }
  const { instruction: one } = row;
  // A review moves none.
  const money = one.operation === 'review' ? [] : [instructionMoney(one, one.seen.payout?.amount)];
  return {
    what: [one.operation, ...money, `of ${one.orderNo} (${one.accountId})`].join(' '),
    kind: row.kind,
    words: row.kind === 'done' ? `${row.becomes}: ${row.words}` : row.words,
    link: `/instructions/${one.instructionId}`,
  };
}
