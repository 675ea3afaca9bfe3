// Deciding about breaks, one or many: note, assign, waive, reopen. The rule is the one of
// `tieout breaks`; here are the form, and the verdict for each row in words. A press is bound to
// what the page showed of each row. A break of an account that the person may not decide on does
// not exist.

import type { ComponentChildren } from 'preact';
import type { FoundBreak } from '../../../breaks/breaksStore.js';
import { findBreaks } from '../../../breaks/breaksStore.js';
import type { DecidedBreakRow, SeenBreak } from '../../../breaks/decideBreaks.js';
import { decideBreaks } from '../../../breaks/decideBreaks.js';
import type { BreakAction } from '../../../core/breaks/breakDecision.js';
import {
  changesIn,
  isChange,
  outcomeText,
  outcomeWords,
  recordWords,
} from '../../../core/breaks/outcome.js';
import { UsageError } from '../../../core/errors.js';
import { isSamePerson } from '../../../core/instructions/decider.js';
import { sumMoney } from '../../../core/money.js';
import { countText, moneyIn } from '../../../core/text/amounts.js';
import { labelOf } from '../../../core/text/labels.js';
import type { RowVerdict } from '../../layout/parts.js';
import { Form, PickAll, Verdicts } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { refused } from '../../visit.js';
import type { Owners } from './breakOwners.js';
import { OwnerChoice, ownerProblem } from './breakOwners.js';
import { decidePickedBreaks, notAllowedWords } from './pickedBreaks.js';

/** The form around what is decided about: rows to tick, or one that is fixed. */
export function DecideBreaks(props: {
  visit: Visit;
  owners: Owners;
  rows: readonly Decidable[];
  /** about one break, and the waiver of it that waits for a second person */
  only?: { waiver: WaitingWaiver | null };
  children: ComponentChildren;
}) {
  const { visit, owners, rows, only, children } = props;
  const mayWork = rows.some(({ accountId }) => visit.accountsFor('workBreaks').includes(accountId));
  const mayWaive = rows.some((row) => mayWaiveOrAgree(visit, row));
  if (!mayWork && !mayWaive) return <>{children}</>;
  return (
    <Form action="/breaks/note" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>{only ? 'Decide' : 'Decide about what is picked'}</legend>
        {only ? null : <PickAll />}
        {only?.waiver ? <Asked waiver={only.waiver} visit={visit} /> : null}
        {mayWork ? <WorkFields visit={visit} owners={owners} /> : null}
        {mayWaive ? <WaiveFields visit={visit} waiver={only?.waiver ?? null} /> : null}
      </fieldset>
      {children}
    </Form>
  );
}

type Decidable = Pick<FoundBreak, 'accountId' | 'waiverAskedBy'>;

/** Who only agrees has nothing to press on a break of which no waiver waits. */
function mayWaiveOrAgree(visit: Visit, { accountId, waiverAskedBy }: Decidable): boolean {
  const right = waiverAskedBy === null ? 'waive' : 'agreeToWaiver';
  return visit.accountsFor(right).includes(accountId);
}

/** Whether this person can decide anything about it: else it is not ticked. */
export function mayDecide(visit: Visit, row: Decidable): boolean {
  return visit.accountsFor('workBreaks').includes(row.accountId) || mayWaiveOrAgree(visit, row);
}

function WorkFields({ visit, owners }: { visit: Visit; owners: Owners }) {
  return (
    <>
      <label>
        Note
        <input name="note" size={24} maxLength={1000} value={visit.typed('note')} />
      </label>
      <button type="submit">Note</button>
      <OwnerChoice name="owner" owners={owners} chosen={visit.typed('owner') || null} />
      <button type="submit" formaction="/breaks/assign">
        Assign
      </button>
    </>
  );
}

/** A waiver that waits for its second person, as what the break says now was seen by who asked. */
export interface WaitingWaiver {
  by: string;
  at: Date | null;
  reason: string;
  /** printed shape; null: nobody can say how much */
  amount: string | null;
  currency: string | null;
  /** what the limit counts, where that is more than is at stake now; else null */
  counted: string | null;
}

/** What a second person decides about, above the buttons. */
function Asked({ waiver, visit }: { waiver: WaitingWaiver; visit: Visit }) {
  const { by, at, reason, amount, currency, counted } = waiver;
  const of = amount === null ? 'an amount that nobody knows' : moneyIn(amount, currency);
  return (
    <p class="asked">
      <strong>
        {by} asked for a waiver of {of}
        {at === null ? '' : ` on ${visit.words.at(at)}`}: {reason}
      </strong>
      {isSamePerson(by, visit.person.name)
        ? '. Somebody else agrees or refuses; you may take it back.'
        : '. Nothing is waived before a second person agrees.'}
      {counted === null
        ? ''
        : ` The limit for one person counts the ${moneyIn(counted, currency)} that it opened with.`}
    </p>
  );
}

/** What each button would do is for decideBreak to say: the words are for who sees the page. */
function WaiveFields({ visit, waiver }: { visit: Visit; waiver: WaitingWaiver | null }) {
  const { isFresh, name } = visit.person;
  const isAsker = waiver !== null && isSamePerson(waiver.by, name);
  const isTray = waiver !== null || visit.query.text('state') === 'waiver_asked';
  const mayWaive = visit.accountsFor('waive').length > 0;
  const [waive, toWaive] = isTray || !mayWaive ? ['Agree to waiver', 'agree'] : ['Waive', 'waive'];
  const [back, toBack] = isAsker
    ? ['Take the request back', 'take it back']
    : isTray || !mayWaive
      ? ['Refuse waiver', 'refuse']
      : ['Reopen', 'reopen'];
  return (
    <>
      <label>
        Reason
        <input name="words" size={24} maxLength={1000} value={visit.typed('words')} />
      </label>
      {isAsker ? null : (
        <button type="submit" formaction="/breaks/waive" class="danger">
          {isFresh ? waive : `Enter password to ${toWaive}`}
        </button>
      )}
      <button type="submit" formaction="/breaks/reopen">
        {isFresh ? back : `Enter password to ${toBack}`}
      </button>
    </>
  );
}

export function noteBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, 'note', (text) => ({ kind: 'note', text }));
}

export function assignBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, 'owner', (owner) => ({
    kind: 'assign',
    owner: owner === '-' ? null : owner,
  }));
}

export function waiveBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, 'words', (reason) => ({ kind: 'waive', reason }));
}

export function reopenBreaks(visit: Visit): Promise<Answer> {
  return decide(visit, 'words', (reason) => ({ kind: 'reopen', reason }));
}

async function decide(
  visit: Visit,
  field: keyof typeof NEEDED,
  actionOf: (words: string) => BreakAction,
): Promise<Answer> {
  const { deps, form } = visit;
  const picks = form.picks('id');
  const words = form.text(field);
  if (picks === null || picks.size === 0) return refused('Pick at least one break, at most 500.');
  if (words === null) return refused(NEEDED[field]);
  const action = actionOf(words);
  const problem = await ownerProblem(visit, action);
  if (problem !== null) return refused(problem);
  const visible = await findBreaks(
    deps.db,
    { ids: [...picks.keys()].map(String), accountIds: visit.accountsFor('look') },
    { limit: picks.size, offset: 0, sort: 'order' },
  );
  const isOwn = ({ accountId }: FoundBreak) => visit.accounts.includes(accountId);
  const others = visible.filter((one) => !isOwn(one));
  try {
    const picked = visible.filter(isOwn).map(({ breakId }) => breakId);
    const isShownFirst = visible.length > 1 || form.text('seen', 64) !== null;
    const outcome =
      isShownFirst && action.kind !== 'note'
        ? await decidePickedBreaks(visit, action, picked, others)
        : await decideAtOnce(visit, action, seenIn(picks, picked));
    if (outcome.kind === 'unseen') return refused('Look at the break first, and press there.');
    if (outcome.kind === 'shown') return outcome.answer;
    const { rows } = outcome;
    await recordEach(visit, action, rows);
    const left = others.map(notOwn);
    const gone = unseen(picks.size - visible.length);
    const verdicts = [...rows.map(verdictOf), ...left, ...gone];
    const [only] = verdicts;
    if (only !== undefined && verdicts.length === 1 && rows[0]?.kind === 'refused') {
      return refused(`Nothing was done. ${only.what}: ${only.words}.`);
    }
    const body = <Verdicts rows={verdicts} sums={sumsOf(rows)} back="/breaks" />;
    return { kind: 'page', title: 'What was done', section: 'Breaks', body };
  } catch (error) {
    if (error instanceof UsageError) return refused(`Nothing was changed: ${error.message}.`);
    throw error;
  }
}

async function decideAtOnce(
  visit: Visit,
  action: BreakAction,
  seen: ReadonlyMap<string, SeenBreak> | null,
) {
  if (seen === null) return { kind: 'unseen' as const };
  const mayWaive = visit.accountsFor('waive');
  const about = { ids: [...seen.keys()], action, who: visit.decider, over: null, seen, mayWaive };
  return { kind: 'decided' as const, rows: await decideBreaks(visit.deps, about) };
}

/** What a form says of a break: its number, what was seen of it, and the newest event then. */
export function shownBreak({ breakId, seen, last }: FoundBreak): string {
  return `${breakId}:${seen}-${last}`;
}

/** Of those rows; null: the form does not say it of each. */
function seenIn(
  picks: ReadonlyMap<bigint, string | null>,
  ids: readonly string[],
): Map<string, SeenBreak> | null {
  const found = ids.flatMap((id): [string, SeenBreak][] => {
    const [seen = '', last] = picks.get(BigInt(id))?.split('-') ?? [];
    return last === undefined ? [] : [[id, { seen, last }]];
  });
  return found.length === ids.length ? new Map(found) : null;
}

const NEEDED = {
  note: 'Write the note first.',
  owner: 'Choose the owner first.',
  words: 'Write the reason first.',
} as const;

/** One line an account; who decided about which break is in the break's own trail. */
async function recordEach(
  visit: Visit,
  action: BreakAction,
  rows: readonly DecidedBreakRow[],
): Promise<void> {
  for (const accountId of new Set(rows.map((row) => row.accountId))) {
    const mine = rows.filter((row) => row.accountId === accountId);
    const changed = mine.filter(({ kind }) => isChange(kind)).length;
    await visit.record({
      action: recordWords(
        mine.map(({ kind }) => kind),
        `${action.kind} breaks`,
      ),
      accountId,
      subject: mine.length === 1 ? `break ${mine[0]?.breakId}` : `${mine.length} breaks`,
      outcome: [`${changed} of ${mine.length}`, ...sumsOf(mine)].join('; '),
    });
  }
}

/** What changed, by what it came to: "2 waived: 5.00 EUR". */
function sumsOf(rows: readonly DecidedBreakRow[]): string[] {
  return changesIn(rows.map(({ kind }) => kind)).map((outcome) => {
    const some = rows.filter(({ kind }) => kind === outcome);
    return outcomeText(outcome, some.length, sumMoney(some));
  });
}

function verdictOf(row: DecidedBreakRow): RowVerdict {
  return {
    what: `${labelOf(row.which)} of ${row.orderNo} (${row.accountId})`,
    kind: isChange(row.kind) ? 'done' : 'refused',
    words: 'reason' in row ? `${labelOf(row.kind)}: ${row.reason}` : outcomeWords(row.kind).said,
    link: `/breaks/${row.breakId}`,
  };
}

function notOwn({ breakId, accountId, orderNo, kind }: FoundBreak): RowVerdict {
  return {
    what: `${labelOf(kind)} of ${orderNo} (${accountId})`,
    kind: 'refused',
    words: notAllowedWords(accountId),
    link: `/breaks/${breakId}`,
  };
}

function unseen(count: number): RowVerdict[] {
  if (count === 0) return [];
  return [
    { what: `${countText(count)} more`, kind: 'refused', words: 'there is no such break here' },
  ];
}
