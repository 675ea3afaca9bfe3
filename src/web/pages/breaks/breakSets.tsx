// One decision about all breaks that match: first its totals, then the press, which is refused and
// shown again if what matches has changed. breaks/decideSet.ts says what a set is, and does it.

import type { SetOutcome, SetPreview, SetTotal } from '../../../breaks/decideSet.js';
import { decideSet, previewSet, SET_MAX } from '../../../breaks/decideSet.js';
import type { BreakAction } from '../../../core/breaks/breakDecision.js';
import { waiverWaitsWords } from '../../../core/breaks/breakDecision.js';
import type { BreakOutcome } from '../../../core/breaks/outcome.js';
import {
  changesIn,
  isChange,
  outcomeText,
  outcomeWords,
  recordWords,
} from '../../../core/breaks/outcome.js';
import { UsageError } from '../../../core/errors.js';
import { andMore, countText, moreOf, withSum } from '../../../core/text/amounts.js';
import { labelOf } from '../../../core/text/labels.js';
import { Empty, Form, Name, Reason } from '../../layout/parts.js';
import type { PreviewRow } from '../../layout/preview.js';
import { PreviewTable } from '../../layout/preview.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';
import { typedWords } from '../../visitor/draft.js';
import { onlyMine } from '../../visitor/filters.js';
import { ChooseOwner, ownerProblem, ownersOf } from './breakOwners.js';
import {
  causeOf,
  causeWords,
  chosenKeys,
  chosenWords,
  clockOf,
  filterOf,
  filterProblem,
  queryOf,
} from './breakQuery.js';
import type { SetVerb } from './decisionWords.js';
import { decisionWords } from './decisionWords.js';

/** Who only agrees to waivers refuses those that wait, too; decideBreak says which is whose. */
export const RIGHT_OF = {
  assign: 'workBreaks',
  waive: 'agreeToWaiver',
  reopen: 'agreeToWaiver',
} as const;

/** Where all that match can be decided about by this person. */
export function setLinks(
  visit: Visit,
  more: Readonly<Record<string, string>> = {},
): { href: string; label: string }[] {
  const account = visit.query.text('account');
  return verbsOf(visit)
    .filter((verb) => {
      const mine = visit.accountsFor(RIGHT_OF[verb]);
      return account === null ? mine.length > 0 : mine.includes(account);
    })
    .map((verb) => ({
      href: `/breaks/all/${verb}?${queryOf(visit.query, more)}`,
      label: decisionWords(verb, isTray(visit)).link,
    }));
}

function isTray({ query }: Visit): boolean {
  return query.text('state') === 'waiver_asked';
}

function verbsOf(visit: Visit): readonly SetVerb[] {
  // Who only agrees has nothing to agree to but what was asked for.
  const mayWaive = visit.accountsFor('waive').length > 0;
  switch (visit.query.text('state')) {
    case 'waived':
      return mayWaive ? ['reopen'] : [];
    case 'resolved':
      return [];
    case 'waiver_asked':
      return ['assign', 'waive', 'reopen'];
    default:
      return mayWaive ? ['assign', 'waive'] : ['assign'];
  }
}

/** The ways to look at breaks. */
export function Views({ visit, at }: { visit: Visit; at: 'list' | 'causes' | 'waivers' }) {
  const current = (name: string) => (name === at ? 'page' : undefined);
  const query = queryOf(visit.query);
  const waiting = new URLSearchParams({ state: 'waiver_asked' });
  return (
    <nav class="states" aria-label="Ways to look at breaks">
      <a href={`/breaks?${query}`} aria-current={current('list')}>
        One by one
      </a>
      <a href={`/breaks/causes?${query}`} aria-current={current('causes')}>
        By cause
      </a>
      <a href={`/breaks?${waiting}`} aria-current={current('waivers')}>
        Waivers that wait for a second person
      </a>
    </nav>
  );
}

const LOOK_AGAIN = 'Choose the breaks once more.';

export function setPage(verb: SetVerb) {
  return (visit: Visit): Promise<Answer> => show(visit, verb, null);
}

async function show(visit: Visit, verb: SetVerb, changed: string | null): Promise<Answer> {
  const problem = filterProblem(visit.query, visit.accounts);
  if (problem !== null) return refused(`${problem} ${LOOK_AGAIN}`);
  const action = actionOf(visit, verb);
  const owners = verb === 'assign' ? await ownersOf(visit) : [];
  const preview = action === null ? null : await previewSet(visit.deps, requestOf(visit, action));
  const cause = causeOf(visit.query);
  const chosen =
    cause === null ? await typedOf(visit, chosenWords(visit.query)) : causeWords(cause);
  const { title } = decisionWords(verb, isTray(visit), preview?.becomes.keys());
  const body = (
    <>
      <h1>{title}</h1>
      <p class="hint">
        Chosen: {chosen}
        {onlyMine(visit)}. <a href={`/breaks?${queryOf(visit.query)}`}>See them one by one</a>
      </p>
      {changed === null ? null : (
        <p class="problem" role="alert">
          {changed}
        </p>
      )}
      {verb === 'assign' ? <ChooseOwner visit={visit} owners={owners} /> : null}
      {preview === null ? null : <Preview visit={visit} verb={verb} preview={preview} />}
    </>
  );
  const status = changed === null ? 200 : 409;
  return { kind: 'page', title, section: 'Breaks', body, status };
}

function typedOf({ deps, accounts }: Visit, text: string): Promise<string> {
  return typedWords({ db: deps.db, accounts }, text);
}

function requestOf(visit: Visit, action: BreakAction) {
  const { accounts, query, decider: who } = visit;
  const mayWaive = visit.accountsFor('waive');
  return { filter: filterOf(query, accounts, clockOf(visit)), action, who, mayWaive };
}

/** Null: it is not said yet what is to be done. */
function actionOf(visit: Visit, verb: SetVerb): BreakAction | null {
  if (verb !== 'assign') return { kind: verb, reason: visit.form.text('words') ?? '' };
  const owner = visit.query.text('whom', 64);
  if (owner === null) return null;
  return { kind: 'assign', owner: owner === '-' ? null : owner };
}

function Preview(props: { visit: Visit; verb: SetVerb; preview: SetPreview }) {
  const { visit, verb, preview } = props;
  const { words } = visit;
  const { matching, becomes, later } = preview;
  const pressed = [...becomes.values()].reduce((sum, { breaks }) => sum + breaks, 0);
  return (
    <>
      <p class="sentence" role="status">
        {words.count(matching.breaks)} {matching.breaks === 1 ? 'break matches' : 'breaks match'}
        {preview.isCut ? ', and there are more' : ''}. The button decides about{' '}
        {words.count(pressed)} of them
        {later === 0 ? '' : `, the oldest; ${words.count(later)} are left for the next press`}.
      </p>
      <PreviewTable
        words={words}
        rows={[rowOf('match in all', matching), ...previewRows(visit, preview)]}
      />
      {pressed === 0 ? (
        <Empty>Nothing would be changed.</Empty>
      ) : (
        <Press visit={visit} verb={verb} preview={preview} count={pressed} />
      )}
      <p class="hint">
        One press decides about at most {words.count(SET_MAX)}. If anything that matches changes
        before the press, nothing is done and the new figures are shown.
      </p>
    </>
  );
}

/** What becomes of them, and what is left as it is and why, each with the first of them. */
export function previewRows(visit: Visit, { becomes, left }: SetPreview): PreviewRow[] {
  const limits = visit.deps.config.operations.approveAbove.refund;
  return [
    ...changesIn(becomes.keys()).flatMap((outcome) => {
      const total = becomes.get(outcome);
      if (total === undefined) return [];
      return [rowOf(naming(becomesWords(outcome, total, limits), total), total)];
    }),
    ...[...left].map(([reason, total]) =>
      rowOf(naming(`left as they are: ${reason}`, total), total),
    ),
  ];
}

function Press(props: { visit: Visit; verb: SetVerb; preview: SetPreview; count: number }) {
  const { visit, verb, preview, count } = props;
  const { query, words } = visit;
  const { title, button } = decisionWords(verb, isTray(visit), preview.becomes.keys());
  const whom = verb === 'assign' ? { whom: query.text('whom', 64) ?? '' } : {};
  const owner = whom.whom === '-' ? 'nobody' : whom.whom;
  const to = owner === undefined ? '' : ` to ${words.free(owner)}`;
  return (
    <Form action={`/breaks/all/${verb}?${queryOf(query, whom)}`} csrf={visit.csrf}>
      <input type="hidden" name="seen" value={preview.digest} />
      <fieldset class="decide">
        <legend>{title}</legend>
        {verb === 'assign' ? null : <Reason visit={visit} />}
        <button type="submit" class="main" formNoValidate={asksPassword(visit, verb)}>
          {asksPassword(visit, verb)
            ? 'Enter password first'
            : `${button} ${words.count(count)}${to}`}
        </button>
      </fieldset>
    </Form>
  );
}

function asksPassword({ person }: Visit, verb: SetVerb): boolean {
  return verb !== 'assign' && !person.isFresh;
}

function becomesWords(outcome: BreakOutcome, { money }: SetTotal, limits: WaiverLimits): string {
  const { will } = outcomeWords(outcome);
  return outcome === 'waiver_asked'
    ? `${will}: ${waiverWaitsWords(limits, Object.keys(money))}`
    : will;
}

type WaiverLimits = Parameters<typeof waiverWaitsWords>[0];

function rowOf(what: PreviewRow['what'], { breaks: count, ...total }: SetTotal): PreviewRow {
  return { what, count, ...total };
}

/** With the first of them: which goes which way. */
function naming(what: string, { breaks, named }: SetTotal) {
  const links = named.map(({ breakId, orderNo }, at) => (
    <>
      {at === 0 ? '' : ', '}
      <a href={`/breaks/${breakId}`}>
        <Name name={orderNo} />
      </a>
    </>
  ));
  return (
    <>
      {what}
      <span class="hint">
        {' '}
        {links}
        {andMore(breaks - named.length)}
      </span>
    </>
  );
}

export function pressSet(verb: SetVerb) {
  return async (visit: Visit): Promise<Answer> => {
    const { form, query } = visit;
    const action = actionOf(visit, verb);
    const digest = form.text('seen', 64);
    if (action === null || digest === null || filterProblem(query, visit.accounts) !== null) {
      return refused('Look at what matches first.');
    }
    const problem = await ownerProblem(visit, action);
    if (problem !== null) return refused(problem);
    try {
      const over = await typedOf(visit, chosenKeys(query));
      const outcome = await decideSet(visit.deps, { ...requestOf(visit, action), digest, over });
      if (outcome.kind === 'changed') {
        return show(visit, verb, 'What matches has changed since it was shown: nothing was done.');
      }
      await visit.record({
        action: recordWords(outcome.verdicts.keys(), `${verb} breaks`),
        subject: over,
        outcome: doneWords(outcome),
      });
      return donePage(visit, verb, outcome);
    } catch (error) {
      if (error instanceof UsageError) return refused(`Nothing was changed: ${error.message}.`);
      throw error;
    }
  };
}

type Decided = SetOutcome & { kind: 'decided' };

const SHOWN_MAX = 100;

function donePage(visit: Visit, verb: SetVerb, outcome: Decided): Answer {
  const { query } = visit;
  const left = outcome.rows.filter(({ kind }) => kind === 'refused' || kind === 'unchanged');
  const again =
    verb === 'assign' ? queryOf(query, { whom: query.text('whom', 64) ?? '' }) : queryOf(query);
  const body = (
    <>
      <h1>What was done</h1>
      <p class="sentence" role="status">
        {doneWords(outcome)}.
      </p>
      {left.length === 0 ? null : (
        <ul>
          {left.slice(0, SHOWN_MAX).map((row) => (
            <li>
              <a href={`/breaks/${row.breakId}`}>
                {labelOf(row.which)} of {row.orderNo}
              </a>
              : {'reason' in row ? row.reason : ''}
            </li>
          ))}
          {moreOf(left.length - SHOWN_MAX).map((more) => (
            <li>{more}</li>
          ))}
        </ul>
      )}
      <p>
        <a href={`/breaks/all/${verb}?${again}`}>What still matches</a> ·{' '}
        <a href="/breaks/causes">Breaks by cause</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'What was done', section: 'Breaks', body };
}

/** "30 waived: 27,000.00 EUR; 2 unchanged: 5.00 EUR", for who pressed and in the record. */
function doneWords({ verdicts }: Decided): string {
  const kinds = [...changesIn(verdicts.keys()), 'refused', 'unchanged'] as const;
  const parts = kinds.flatMap((kind) => {
    const total = verdicts.get(kind);
    if (total === undefined) return [];
    return isChange(kind)
      ? [outcomeText(kind, total.breaks, total)]
      : [withSum(`${countText(total.breaks)} ${LEFT[kind]}`, total)];
  });
  return parts.join('; ');
}

const LEFT = { refused: 'left as they were', unchanged: 'unchanged' } as const;
