// One decision about all instructions of a group: what waits put together by what it shares, then
// what one press would do, which is refused and shown again if anything of it has changed.
// instructions/sets/decideInstructionSet.ts says what a set is, and does it.

import { UsageError } from '../../../core/errors.js';
import { holdWords, isApprovable } from '../../../core/instructions/holdReasons.js';
import { leavingSum } from '../../../core/instructions/payouts/payoutAsked.js';
import { INSTRUCTION_OPERATIONS } from '../../../core/orders/order.js';
import { counted, countText, moneyText, moreOf } from '../../../core/text/amounts.js';
import type { Decision } from '../../../instructions/decisions.js';
import type {
  InstructionPreview,
  InstructionSetOutcome,
  InstructionSetPreview,
} from '../../../instructions/sets/decideInstructionSet.js';
import {
  approvedWords,
  decideInstructionSet,
  INSTRUCTION_SET_MAX,
  notLookedWords,
  previewInstructionSet,
} from '../../../instructions/sets/decideInstructionSet.js';
import type {
  InstructionGroup,
  InstructionSetFilter,
  SetState,
} from '../../../instructions/sets/instructionSetStore.js';
import { instructionGroups } from '../../../instructions/sets/instructionSetStore.js';
import { bookConfirmed } from '../../../movements/bookMovements.js';
import { Empty, Figure, FilterProblem, Form, Reason, Table } from '../../layout/parts.js';
import type { PreviewRow } from '../../layout/preview.js';
import { PreviewTable } from '../../layout/preview.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';
import { chosenBy, onlyMine } from '../../visitor/filters.js';
import { PayoutsOf } from './decisionBasis.js';
import { recordEach } from './instructionDecisions.js';

export const SET_DECISIONS = ['approve', 'reject', 'resolve'] as const;
type SetDecision = (typeof SET_DECISIONS)[number];

export const SET_RIGHTS = { approve: 'approve', reject: 'approve', resolve: 'resolve' } as const;

const STATES: Readonly<Record<SetDecision, SetState>> = {
  approve: 'held',
  reject: 'held',
  resolve: 'unknown',
};

const FILTERS = ['account', 'operation', 'why', 'currency'] as const;
const FILTER_MAX = 64;

/** More of a group than this are not decided about one by one. */
const SEEN_AT_ONCE = 20;

/** For the lists of them, of its accounts: each group with a link to a decision about all of it. */
export async function groupsOf(visit: Visit, state: SetState) {
  const verbs = SET_DECISIONS.filter(
    (verb) => STATES[verb] === state && visit.accountsFor(SET_RIGHTS[verb]).length > 0,
  );
  const groups = await instructionGroups(visit.deps.db, visit.accounts, state);
  const { words, query } = visit;
  const account = query.text('account');
  const of = account === null ? '' : `?${new URLSearchParams({ account })}`;
  if (groups.length === 0) return null;
  return (
    <details class="groups" open={groups.some(({ count }) => count > SEEN_AT_ONCE)}>
      <summary>Put together, to decide about all of a group ({words.count(groups.length)})</summary>
      <Table
        caption={state === 'held' ? 'What waits, put together' : 'What is unknown, put together'}
        class="cards"
        columns={[
          { head: 'What' },
          { head: 'Account' },
          { head: 'Why' },
          { head: 'How many', isFigure: true },
          { head: 'Money', isFigure: true },
          { head: 'Currency' },
          { head: 'Oldest' },
          ...(verbs.length === 0 ? [] : [{ head: 'All of them' }]),
        ]}
      >
        {groups.map((group) => (
          <tr>
            <th scope="row">{group.operation}</th>
            <td>{group.accountId}</td>
            <td class="line">{group.holdReason === null ? '' : holdWords(group.holdReason)}</td>
            <Figure name="How many">{words.count(group.count)}</Figure>
            <Figure name="Money">
              {group.operation === 'review' ? '' : words.amount(group.money, group.currency)}
            </Figure>
            <td>{group.currency}</td>
            <td class="when">{words.at(group.oldest)}</td>
            {verbs.length === 0 ? null : <Links visit={visit} group={group} verbs={verbs} />}
          </tr>
        ))}
      </Table>
      {groups.length > 1 && verbs.length > 0 ? (
        <p>
          All groups together:{' '}
          {verbs.map((verb) => (
            <>
              <a href={`/instructions/all/${verb}${of}`}>{verb} all</a>{' '}
            </>
          ))}
        </p>
      ) : null}
    </details>
  );
}

function Links(props: { visit: Visit; group: InstructionGroup; verbs: readonly SetDecision[] }) {
  const { visit, group, verbs } = props;
  const { accountId: account, operation, holdReason, currency } = group;
  const why = holdReason === null ? {} : { why: holdReason };
  const query = new URLSearchParams({ account, operation, ...why, currency });
  const frees = (verb: SetDecision) =>
    visit.accountsFor(SET_RIGHTS[verb]).includes(account) &&
    (verb !== 'approve' || isApprovable(holdReason));
  return (
    <td class="together">
      {verbs.filter(frees).map((verb) => (
        <>
          <a href={`/instructions/all/${verb}?${query}`}>{verb} all</a>{' '}
        </>
      ))}
    </td>
  );
}

/** What becomes of those that a press is about. */
export function becomesWords(verb: SetDecision, preview: InstructionPreview): string {
  if (verb === 'approve') return approvedWords(preview);
  return verb === 'reject' ? 'will be rejected, and not sent' : 'will be resolved as you say';
}

/** What is done, then what is left, each reason with one that it is about. */
export function previewRows(
  { done, reasons, left }: InstructionPreview,
  becomes: string,
): readonly PreviewRow[] {
  const waiting = [...reasons].map(([reason, total]) => {
    return { what: `of these, waiting because ${holdWords(reason)}`, ...total };
  });
  const refused = [...left].map(([reason, { one, ...total }]) => {
    const link = <a href={`/instructions/${one.instructionId}`}>one of them</a>;
    const what = (
      <>
        left as {total.count === 1 ? 'it is' : 'they are'}: {reason} ({link})
      </>
    );
    return { what, ...total };
  });
  return [{ what: becomes, ...done }, ...waiting, ...refused];
}

function queryOf({ query }: Visit): string {
  const kept = FILTERS.flatMap((name) => {
    const value = query.text(name, FILTER_MAX);
    return value === null ? [] : [[name, value]];
  });
  return new URLSearchParams(kept).toString();
}

function readOf({ query, accounts }: Visit) {
  return {
    account: query.oneOf('account', accounts),
    operation: query.oneOf('operation', INSTRUCTION_OPERATIONS),
    why: query.text('why', FILTER_MAX),
    currency: query.text('currency', FILTER_MAX),
  };
}

function filterOf(visit: Visit, verb: SetDecision): InstructionSetFilter {
  const read = readOf(visit);
  const { accountIds } = chosenBy(visit, read);
  const { operation, why: holdReason, currency } = read;
  return { accountIds, state: STATES[verb], operation, holdReason, currency };
}

function chosenWords({ query }: Visit): string {
  const words = FILTERS.flatMap((name) => {
    const value = query.text(name, FILTER_MAX);
    if (value === null) return [];
    return [name === 'why' ? `waiting because ${holdWords(value)}` : `${name} ${value}`];
  });
  return words.length === 0 ? 'all' : words.join(', ');
}

/** Before it is pressed nothing is said yet, and nothing is written. */
function decisionOf({ form }: Visit, verb: SetDecision): Decision {
  const reason = form.text('words');
  if (verb === 'approve') return { kind: 'approve', reason };
  if (verb === 'reject') return { kind: 'reject', reason: reason ?? NOT_SAID };
  const finding = form.oneOf('finding', ['happened', 'not_happened'] as const) ?? 'happened';
  const reference = form.text('reference') ?? NOT_SAID;
  return { kind: 'resolve', finding, reason: reason ?? NOT_SAID, reference };
}

const NOT_SAID = 'not said yet';

export function instructionSetPage(verb: SetDecision) {
  return (visit: Visit): Promise<Answer> => show(visit, verb, null);
}

async function show(visit: Visit, verb: SetDecision, changed: string | null): Promise<Answer> {
  const preview = await previewInstructionSet(visit.deps, {
    filter: filterOf(visit, verb),
    decision: decisionOf(visit, verb),
    who: visit.decider,
  });
  const title = TITLES[verb];
  const body = (
    <>
      <h1>{title}</h1>
      <p class="hint">
        Chosen: {chosenWords(visit)}
        {onlyMine(visit)}. <a href={backOf(verb)}>See them one by one</a>
      </p>
      <FilterProblem words={chosenBy(visit, readOf(visit)).problem} />
      {changed === null ? null : (
        <p class="problem" role="alert">
          {changed}
        </p>
      )}
      <Preview visit={visit} verb={verb} preview={preview} />
    </>
  );
  const section = verb === 'resolve' ? 'Instructions' : 'Approvals';
  return { kind: 'page', title, section, body, status: changed === null ? 200 : 409 };
}

function backOf(verb: SetDecision): string {
  return verb === 'resolve' ? '/instructions?state=unknown' : '/approvals';
}

const TITLES: Readonly<Record<SetDecision, string>> = {
  approve: 'Approve all that match',
  reject: 'Reject all that match',
  resolve: 'Resolve all that match',
};

function Preview(props: { visit: Visit; verb: SetDecision; preview: InstructionSetPreview }) {
  const { visit, verb, preview } = props;
  const { words } = visit;
  const { done } = preview;
  return (
    <>
      <p class="sentence" role="status">
        {words.count(done.count)} {becomesWords(verb, preview)}
        {notLookedWords(preview)}.
      </p>
      <PreviewTable rows={previewRows(preview, becomesWords(verb, preview))} words={words} />
      {verb === 'resolve' ? null : <PayoutsOf payouts={preview.payouts} words={words} />}
      {done.count === 0 ? (
        <Empty>Nothing would be changed.</Empty>
      ) : (
        <Press visit={visit} verb={verb} preview={preview} />
      )}
      <p class="hint">
        One press decides about at most {words.count(INSTRUCTION_SET_MAX)}. If anything of them
        changes before the press, nothing is done and the new figures are shown.
      </p>
    </>
  );
}

function Press(props: { visit: Visit; verb: SetDecision; preview: InstructionSetPreview }) {
  const { visit, verb, preview } = props;
  const asksPassword = verb !== 'reject' && !visit.person.isFresh;
  return (
    <Form action={`/instructions/all/${verb}?${queryOf(visit)}`} csrf={visit.csrf}>
      <input type="hidden" name="seen" value={preview.digest} />
      <fieldset class="decide">
        <legend>What is decided about all of them</legend>
        {verb === 'resolve' ? <Finding visit={visit} /> : null}
        {verb === 'approve' ? (
          <Reason visit={visit} label="Reason, if there is one to tell" isOptional />
        ) : (
          <Reason visit={visit} />
        )}
        <button
          type="submit"
          class={verb === 'reject' ? 'danger' : 'main'}
          formNoValidate={asksPassword}
        >
          {asksPassword ? 'Enter password first' : pressWords(verb, preview)}
        </button>
      </fieldset>
    </Form>
  );
}

/** "approve 3 instructions: 2,050.00 EUR"; a review moves no money. */
export function pressWords(verb: string, preview: InstructionPreview): string {
  const { count, money, withoutAmount } = preview.done;
  const leaving = leavingSum(preview.payouts.map(({ seen }) => seen.payout));
  const unknown = withoutAmount === 0 ? '' : `${countText(withoutAmount)} without a known amount`;
  const sums = [moneyText(money), unknown].filter((part) => part !== '').join(', ');
  const from = leaving === '' ? '' : `; ${leaving} leaves our account`;
  return `${verb} ${counted(count, 'instruction')}${sums === '' ? '' : `: ${sums}`}${from}`;
}

function Finding({ visit }: { visit: Visit }) {
  return (
    <>
      <label>
        What the gateway really did
        <select name="finding" required>
          <option value="">choose</option>
          <option value="happened">it happened</option>
          <option value="not_happened">it did not happen</option>
        </select>
      </label>
      <label>
        Where that is seen
        <input
          name="reference"
          size={30}
          maxLength={1000}
          required
          value={visit.typed('reference')}
        />
      </label>
    </>
  );
}

export function pressInstructionSet(verb: SetDecision) {
  return async (visit: Visit): Promise<Answer> => {
    const { form, deps, decider: who } = visit;
    const digest = form.text('seen', 64);
    if (digest === null) return refused('Look at what matches first.');
    const isSaid = verb === 'approve' || form.text('words') !== null;
    const isFound = form.text('finding') !== null && form.text('reference') !== null;
    if (!isSaid || (verb === 'resolve' && !isFound)) {
      return refused('Nothing was changed: say the reason, and what was found where.');
    }
    const decision = decisionOf(visit, verb);
    try {
      const request = { filter: filterOf(visit, verb), decision, who, digest };
      const outcome = await decideInstructionSet(deps, request);
      if (outcome.kind === 'changed') {
        return show(visit, verb, 'What matches has changed since it was shown: nothing was done.');
      }
      await recordEach(visit, decision, [
        ...outcome.done.map((instruction) => ({ kind: 'done' as const, instruction })),
        ...outcome.refused,
      ]);
      if (verb === 'resolve') await bookConfirmed(deps, visit.accounts);
      return donePage(visit, verb, outcome);
    } catch (error) {
      if (error instanceof UsageError) return refused(`Nothing was changed: ${error.message}.`);
      throw error;
    }
  };
}

const DONE: Readonly<Record<SetDecision, string>> = {
  approve: 'approved',
  reject: 'rejected',
  resolve: 'resolved',
};

const SHOWN_MAX = 100;

function donePage(
  visit: Visit,
  verb: SetDecision,
  { done, refused: left }: InstructionSetOutcome & { kind: 'decided' },
): Answer {
  const { words } = visit;
  const body = (
    <>
      <h1>What was done</h1>
      <p class="sentence" role="status">
        {words.count(done.length)} {DONE[verb]}
        {left.length === 0 ? '' : `, ${words.count(left.length)} left as they were`}.
      </p>
      <ul>
        {left.slice(0, SHOWN_MAX).map((row) => (
          <li>
            {row.kind === 'not_found' ? row.words : `${row.instruction.orderNo}: ${row.words}`}
          </li>
        ))}
        {moreOf(left.length - SHOWN_MAX).map((more) => (
          <li>{more}</li>
        ))}
      </ul>
      <p>
        <a href={`/instructions/all/${verb}?${queryOf(visit)}`}>What still matches</a> ·{' '}
        <a href={backOf(verb)}>Back</a>
      </p>
    </>
  );
  const section = verb === 'resolve' ? 'Instructions' : 'Approvals';
  return { kind: 'page', title: 'What was done', section, body };
}
