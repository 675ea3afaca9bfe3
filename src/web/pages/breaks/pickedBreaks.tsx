// Several breaks that were ticked are shown once more with their totals before they are waived,
// assigned or reopened, as all that match are (breakSets.tsx). The press is bound to what was shown
// of each; one by itself is decided at once, bound to what its row showed: the list shows all that
// its preview could say.

import type { FoundBreak } from '../../../breaks/breaksStore.js';
import type { DecidedBreakRow } from '../../../breaks/decideBreaks.js';
import type { SetPreview } from '../../../breaks/decideSet.js';
import { decideSet, previewSet } from '../../../breaks/decideSet.js';
import type { BreakAction } from '../../../core/breaks/breakDecision.js';
import { sumMoney } from '../../../core/money.js';
import { Empty, Form } from '../../layout/parts.js';
import type { PreviewRow } from '../../layout/preview.js';
import { PreviewTable } from '../../layout/preview.js';
import type { Answer, Visit } from '../../visit.js';
import { previewRows } from './breakSets.js';
import { decisionWords } from './decisionWords.js';

/** A note is made at once: there is nothing to add up. */
type PickedAction = Exclude<BreakAction, { kind: 'note' }>;

/** What was done to those that were shown; or the page that shows them. */
type PickedOutcome =
  | { kind: 'shown'; answer: Answer }
  | { kind: 'decided'; rows: DecidedBreakRow[] };

export async function decidePickedBreaks(
  visit: Visit,
  action: PickedAction,
  ids: readonly string[],
  others: readonly FoundBreak[],
): Promise<PickedOutcome> {
  const { deps, decider: who, accounts: accountIds } = visit;
  const mayWaive = visit.accountsFor('waive');
  const request = { filter: { ids, accountIds }, action, who, mayWaive };
  const digest = visit.form.text('seen', 64);
  if (digest !== null) {
    const outcome = await decideSet(deps, { ...request, digest, over: null });
    if (outcome.kind === 'decided') return outcome;
  }
  const preview = await previewSet(deps, request);
  const shown = { preview, others, hasChanged: digest !== null };
  return { kind: 'shown', answer: pageOf(visit, action, shown) };
}

/** Of breaks that this person may look at and not decide about, by account. */
function notAllowedRows(others: readonly FoundBreak[]): PreviewRow[] {
  const accounts = [...new Set(others.map(({ accountId }) => accountId))];
  return accounts.map((accountId) => {
    const some = others.filter((one) => one.accountId === accountId);
    const first = Math.min(...some.map(({ firstSeen }) => firstSeen.getTime()));
    return {
      ...{ what: `left as they are: ${notAllowedWords(accountId)}`, count: some.length },
      ...sumMoney(some.map(({ stake: amount, currency }) => ({ amount, currency }))),
      oldest: new Date(first),
    };
  });
}

export function notAllowedWords(accountId: string): string {
  return `your roles do not allow this for account ${accountId}`;
}

interface Shown {
  preview: SetPreview;
  others: readonly FoundBreak[];
  hasChanged: boolean;
}

function pageOf(visit: Visit, action: PickedAction, shown: Shown): Answer {
  const { preview, others, hasChanged } = shown;
  const { words, form } = visit;
  const { picked: title, button } = decisionWords(action.kind, false, preview.becomes.keys());
  const count = [...preview.becomes.values()].reduce((sum, { breaks }) => sum + breaks, 0);
  const body = (
    <>
      <h1>{title}</h1>
      {hasChanged ? (
        <p class="problem" role="alert">
          What was picked has changed since it was shown: nothing was done.
        </p>
      ) : null}
      <p class="sentence" role="status">
        Nothing is done yet: the button decides about {words.count(count)} of{' '}
        {words.count(preview.matching.breaks + others.length)}.
      </p>
      <PreviewTable
        rows={[...previewRows(visit, preview), ...notAllowedRows(others)]}
        words={words}
      />
      {count === 0 ? (
        <Empty>Nothing would be changed.</Empty>
      ) : (
        <Form action={`/breaks/${action.kind}`} csrf={visit.csrf}>
          <input type="hidden" name="seen" value={preview.digest} />
          {(['words', 'owner'] as const).map((name) => (
            <input type="hidden" name={name} value={form.text(name) ?? ''} />
          ))}
          {[...(form.picks('id')?.keys() ?? [])].map((id) => (
            <input type="hidden" name="id" value={id.toString()} />
          ))}
          <button type="submit" class={action.kind === 'assign' ? 'main' : 'danger'}>
            {button} {words.count(count)}
          </button>
        </Form>
      )}
      <p>
        <a href="/breaks">Back, and change nothing</a>
      </p>
    </>
  );
  return { kind: 'page', title, section: 'Breaks', body, status: hasChanged ? 409 : 200 };
}
