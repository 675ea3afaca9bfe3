// Several instructions that were ticked are shown once more with their totals before they are
// approved or rejected. Each stays bound to what the list showed of it: the second press carries
// the same digests as the first.

import type { Decision } from '../../../instructions/decisions.js';
import { previewInstructions } from '../../../instructions/sets/decideInstructionSet.js';
import { Empty, Form } from '../../layout/parts.js';
import { PreviewTable } from '../../layout/preview.js';
import type { Answer, Visit } from '../../visit.js';
import { PayoutsOf } from './decisionBasis.js';
import { decideInstructionRows } from './instructionDecisions.js';
import { becomesWords, pressWords, previewRows } from './instructionSets.js';

type PickedDecision = Decision & { kind: 'approve' | 'reject' };

/** One by itself is decided at once: the list shows all that its preview could say. */
export function decidePicked(visit: Visit, decision: PickedDecision): Promise<Answer> {
  const picked = visit.form.picks('id');
  const isSeen = visit.form.text('confirmed') === 'yes';
  const isUnsaid = decision.kind === 'reject' && decision.reason === '';
  if (picked === null || picked.size < 2 || isSeen || isUnsaid) {
    return decideInstructionRows(visit, decision, '/approvals');
  }
  return showPicked(visit, decision, picked);
}

async function showPicked(
  visit: Visit,
  decision: PickedDecision,
  picked: ReadonlyMap<bigint, string | null>,
): Promise<Answer> {
  const { deps, words, decider: who, accounts: accountIds } = visit;
  const seen = new Map([...picked].flatMap(([id, sha]) => (sha === null ? [] : [[id, sha]])));
  const ids = [...picked.keys()];
  const preview = await previewInstructions(deps, {
    ...{ ids, decision, who, accountIds },
    seen: seen as Map<bigint, string>,
  });
  const { kind } = decision;
  const { count } = preview.done;
  const becomes = becomesWords(kind, preview);
  const title = kind === 'approve' ? 'Approve what was picked' : 'Reject what was picked';
  const body = (
    <>
      <h1>{title}</h1>
      <p class="sentence" role="status">
        Nothing is done yet: {words.count(count)} of {words.count(picked.size)} {becomes}.
      </p>
      <PreviewTable rows={previewRows(preview, becomes)} words={words} />
      <PayoutsOf payouts={preview.payouts} words={words} />
      {count === 0 ? (
        <Empty>Nothing would be changed.</Empty>
      ) : (
        <Form action={`/approvals/${kind}`} csrf={visit.csrf}>
          <input type="hidden" name="confirmed" value="yes" />
          <input type="hidden" name="words" value={visit.form.text('words') ?? ''} />
          {[...picked].map(([id, sha]) => (
            <input type="hidden" name="id" value={sha === null ? `${id}` : `${id}:${sha}`} />
          ))}
          <button type="submit" class={kind === 'approve' ? 'main' : 'danger'}>
            {pressWords(kind === 'approve' ? 'Approve' : 'Reject', preview)}
          </button>
        </Form>
      )}
      <p>
        <a href="/approvals">Back, and change nothing</a>
      </p>
    </>
  );
  return { kind: 'page', title, section: 'Approvals', body };
}
