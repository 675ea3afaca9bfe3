// Deciding about breaks, one or many: note, assign, waive, reopen. The rule is the one of
// `tieout breaks`; here are the form, and the verdict for each row in words. A break of an account
// that the person may not decide on does not exist.

import type { ComponentChildren } from 'preact';
import { findBreaks } from '../../../breaks/breaksStore.js';
import type { DecidedBreakRow } from '../../../breaks/decideBreaks.js';
import { decideBreaks } from '../../../breaks/decideBreaks.js';
import type { BreakAction } from '../../../core/breaks/breakDecision.js';
import { UsageError } from '../../../core/errors.js';
import { labelOf } from '../../../core/text/labels.js';
import type { RowVerdict } from '../../layout/parts.js';
import { Form, PickAll, Verdicts } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';

/** The form around what is decided about: rows to tick, or one that is fixed. */
export function DecideBreaks(props: { visit: Visit; isFixed?: true; children: ComponentChildren }) {
  const { visit, isFixed, children } = props;
  const mayWork = visit.accountsFor('workBreaks').length > 0;
  const mayWaive = visit.accountsFor('waive').length > 0;
  if (!mayWork && !mayWaive) return <>{children}</>;
  return (
    <Form action="/breaks/note" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>{isFixed ? 'Decide' : 'Decide about what is picked'}</legend>
        {isFixed ? null : <PickAll />}
        <label>
          Note, owner, or reason
          <input name="words" size={40} maxLength={1000} required value={visit.typed('words')} />
        </label>
        {mayWork ? (
          <>
            <button type="submit">Note</button>
            <button type="submit" formaction="/breaks/assign">
              Assign
            </button>
          </>
        ) : null}
        {mayWaive ? (
          <>
            <button
              type="submit"
              formaction="/breaks/waive"
              class="danger"
              formNoValidate={!visit.person.isFresh}
            >
              {visit.person.isFresh ? 'Waive' : 'Password, to waive'}
            </button>
            <button
              type="submit"
              formaction="/breaks/reopen"
              formNoValidate={!visit.person.isFresh}
            >
              {visit.person.isFresh ? 'Reopen' : 'Password, to reopen'}
            </button>
          </>
        ) : null}
      </fieldset>
      {children}
    </Form>
  );
}

export function noteBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, (text) => ({ kind: 'note', text }));
}

export function assignBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, (owner) => ({ kind: 'assign', owner: owner === '-' ? null : owner }));
}

export function waiveBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, (reason) => ({ kind: 'waive', reason }));
}

export function reopenBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, (reason) => ({ kind: 'reopen', reason }));
}

async function decide(visit: Visit, actionOf: (words: string) => BreakAction): Promise<Answer> {
  const { deps, form, person } = visit;
  const ids = form.rowIds('id');
  const words = form.text('words');
  if (ids === null || ids.length === 0) return refused('Pick at least one break, at most 500.');
  if (words === null) return refused('Say it in words: a note, an owner, or a reason.');
  const action = actionOf(words);
  const visible = await findBreaks(
    deps.db,
    { ids: ids.map(String), accountIds: visit.accounts },
    { limit: ids.length, offset: 0, sort: 'order' },
  );
  try {
    const rows = await decideBreaks(deps, {
      ids: visible.map(({ breakId }) => breakId),
      action,
      who: { name: person.name, isClaim: false },
      over: null,
    });
    await recordEach(visit, action, rows);
    const verdicts = [...rows.map(verdictOf), ...unseen(ids.length - visible.length)];
    const body = <Verdicts rows={verdicts} back="/breaks" />;
    return { kind: 'page', title: 'What was done', section: 'Breaks', body };
  } catch (error) {
    if (error instanceof UsageError) return refused(`Nothing was changed: ${error.message}.`);
    throw error;
  }
}

/** One line an account; who decided about which break is in the break's own trail. */
async function recordEach(
  visit: Visit,
  action: BreakAction,
  rows: readonly DecidedBreakRow[],
): Promise<void> {
  for (const accountId of new Set(rows.map((row) => row.accountId))) {
    const mine = rows.filter((row) => row.accountId === accountId);
    const changed = mine.filter(({ kind }) => kind !== 'refused' && kind !== 'unchanged').length;
    await visit.record({
      action: `${action.kind} breaks`,
      accountId,
      subject: mine.length === 1 ? `break ${mine[0]?.breakId}` : `${mine.length} breaks`,
      outcome: `${changed} of ${mine.length}`,
    });
  }
}

function verdictOf(row: DecidedBreakRow): RowVerdict {
  const isDone = row.kind !== 'refused' && row.kind !== 'unchanged';
  return {
    what: `${labelOf(row.which)} of ${row.orderNo} (${row.accountId})`,
    kind: isDone ? 'done' : 'refused',
    words: 'reason' in row ? `${labelOf(row.kind)}: ${row.reason}` : WORDS[row.kind],
    link: `/breaks/${row.breakId}`,
  };
}

const WORDS = {
  noted: 'noted',
  assigned: 'assigned',
  waived: 'waived; it reopens by itself if what it says changes',
  waiver_asked: 'asked for: a second person has to waive it too',
  reopened: 'open again',
} as const;

function unseen(count: number): RowVerdict[] {
  if (count === 0) return [];
  return [{ what: `${count} more`, kind: 'refused', words: 'there is no such break here' }];
}
