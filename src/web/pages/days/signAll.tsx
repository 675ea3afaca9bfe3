// One business date of all accounts of who signs: first the checklist of each, then one press,
// which is refused and shown again if anything shown has changed. days/signDay.ts says what is
// signed.

import { areMany, firstNamed } from '../../../core/accounts/alike.js';
import { workbookWords } from '../../../core/runs/businessDay.js';
import { countText } from '../../../core/text/amounts.js';
import { shownDigest } from '../../../days/shownDay.js';
import type {
  SignedByPress,
  SigningOrder,
  SigningPreview,
  SigningVerb,
} from '../../../days/signDay.js';
import { previewSigning, signDays } from '../../../days/signDay.js';
import { consoleRun } from '../../../report/consoleRunsStore.js';
import { Empty, Form, Reason, State, Verdicts } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND, refused } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { SignedFigures } from './signedFigures.js';
import {
  ChangedSince,
  Checklist,
  dayPath,
  signAllPath,
  signedWords,
  statementPath,
} from './signing.js';
import { SignMany } from './signMany.js';

export const SIGNING_VERBS = ['close', 'lock'] as const satisfies readonly SigningVerb[];

const WORDS: Readonly<Record<SigningVerb, { title: string; button: string; second: string }>> = {
  close: {
    title: 'Sign as prepared',
    button: 'Close it',
    second: 'Who closes it has prepared it; whoever locks it reviews it.',
  },
  lock: {
    title: 'Sign as reviewed',
    button: 'Lock it, closed for ever,',
    second: 'Who locks it has reviewed it. A locked day stays as it is.',
  },
};

export function signAllPage(verb: SigningVerb) {
  return (visit: Visit): Promise<Answer> => show(visit, verb);
}

/** Of the date in the address, else of the newest night; null: there is none, or it is no date. */
async function orderOf(visit: Visit, verb: SigningVerb): Promise<SigningOrder | null> {
  const { accounts: accountIds, decider: who, deps, query } = visit;
  const asked = dateOf(query.text('date') ?? undefined);
  if (asked === null && query.isGiven('date')) return null;
  const date = asked ?? (await consoleRun(deps.db, visit, null))?.businessDate;
  if (date === undefined) return null;
  return { accountIds, date, verb, who, secondPerson: deps.config.days.secondPerson };
}

async function show(visit: Visit, verb: SigningVerb): Promise<Answer> {
  const order = await orderOf(visit, verb);
  if (order === null) return NOT_FOUND;
  return shown(visit, order, await previewSigning(visit.deps.db, order), null);
}

function shown(
  visit: Visit,
  { date, verb }: SigningOrder,
  preview: SigningPreview,
  changed: string | null,
): Answer {
  const { days } = preview;
  const { title, second } = WORDS[verb];
  const count = days.filter(({ bar }) => bar === null).length;
  const press =
    count === 0 ? (
      <Empty>What is left can be decided about on the page of its day.</Empty>
    ) : (
      <Press visit={visit} verb={verb} date={date} preview={preview} count={count} />
    );
  const isTable = areMany(days);
  const body = (
    <>
      <h1>
        {title}: {date}
      </h1>
      {changed === null ? null : (
        <p class="problem" role="alert">
          {changed}
        </p>
      )}
      <p class="sentence" role="status">
        {signedText(days, date)}
        {leftText(days)}
      </p>
      {isTable ? press : null}
      {isTable ? (
        <SignMany days={days} date={date} verb={verb} />
      ) : (
        days.map((day) => <OfAccount day={day} date={date} verb={verb} words={visit.words} />)
      )}
      {isTable ? null : press}
      <p class="hint">
        {second} Each account keeps who signed, when, why, and what was open. If anything of the
        lists changes before the press, nothing is done and they are shown again.{' '}
        <a href={statementPath(date)}>The statement of this day</a>
      </p>
    </>
  );
  const status = changed === null ? 200 : 409;
  return { kind: 'page', title: `${title} ${date}`, section: 'Days', body, status };
}

function signedText(days: readonly SignedByPress[], date: string): string {
  const signed = days.filter(({ bar }) => bar === null);
  const [first] = signed;
  if (first === undefined) return 'Nothing would be signed.';
  const named = signed.map(({ accountId }) => accountId);
  return (
    `The button signs ${date}, and no other day, on ${workbookWords(first.workbook)}, for ` +
    `${accountsText(signed.length)}: ${areMany(days) ? firstNamed(named) : named.join(', ')}.`
  );
}

function leftText(days: readonly SignedByPress[]): string {
  const left = days.filter(({ bar }) => bar !== null);
  if (left.length === 0) return '';
  const named = left.map(({ accountId, bar }) => `${accountId} (${bar})`);
  return ` Left as they are: ${areMany(days) ? firstNamed(named) : named.join(', ')}.`;
}

function accountsText(count: number): string {
  return count === 1 ? '1 account' : `${countText(count)} accounts`;
}

function OfAccount(props: {
  day: SignedByPress;
  date: string;
  verb: SigningVerb;
  words: Visit['words'];
}) {
  const { day, date, verb, words } = props;
  const { accountId, state, bar, first } = day;
  return (
    <section aria-label={`Account ${accountId}`}>
      <h2>
        <a href={dayPath(accountId, date)}>{accountId}</a>{' '}
        {state === 'open' ? null : <State state={state} />}
      </h2>
      {bar === null ? null : (
        <p class="hint">
          Not by this press: {bar}.{' '}
          {first === null ? null : <a href={signAllPath(verb, first)}>Sign {first}</a>}
        </p>
      )}
      <ChangedSince day={day} />
      <SignedFigures signedOn={day.signedOn} words={words} isOneOfMany />
      <Checklist date={date} day={day} />
    </section>
  );
}

function Press(props: {
  visit: Visit;
  verb: SigningVerb;
  date: string;
  preview: SigningPreview;
  count: number;
}) {
  const { visit, verb, date, preview, count } = props;
  const { isFresh } = visit.person;
  return (
    <Form action={signAllPath(verb, date)} csrf={visit.csrf}>
      <input type="hidden" name="seen" value={preview.digest} />
      <input type="hidden" name="marks" value={marksOf(preview.days)} />
      <fieldset class="decide">
        <legend>{WORDS[verb].title}</legend>
        <Reason visit={visit} />
        <button type="submit" class="main" formNoValidate={!isFresh}>
          {isFresh ? `${WORDS[verb].button} for ${accountsText(count)}` : 'Enter password first'}
        </button>
      </fieldset>
    </Form>
  );
}

/** That of too many accounts would not fit into a form. */
const MARKS_LENGTH_MAX = 40_000;
const MARK_LENGTH = 8;

/** Of each account that is shown, to say which of them changed, and for nothing else. */
function marksOf(days: readonly SignedByPress[]): string {
  const marks = days.map((day) => shownDigest(day).slice(0, MARK_LENGTH)).join('');
  return marks.length > MARKS_LENGTH_MAX ? '' : marks;
}

function changedText(days: readonly SignedByPress[], { form }: Visit): string {
  const seen = new Set((form.text('marks', MARKS_LENGTH_MAX) ?? '').match(/[0-9a-f]{8}/g));
  const changed = days.filter((day) => !seen.has(marksOf([day])));
  const named = changed.map(({ accountId }) => accountId);
  const of = seen.size === 0 || named.length === 0 ? '' : ` Changed: ${firstNamed(named)}.`;
  return `What was shown has changed since: nothing was signed.${of}`;
}

export function pressSignAll(verb: SigningVerb) {
  return async (visit: Visit): Promise<Answer> => {
    const order = await orderOf(visit, verb);
    const digest = visit.form.text('seen', 64);
    const reason = visit.form.text('words');
    if (order === null || digest === null) return refused('Look at what would be signed first.');
    if (reason === null) return refused('Say why; it is kept with the figures of that moment.');
    const outcome = await signDays(visit.deps.db, { ...order, reason, digest });
    if (outcome.kind === 'changed') {
      return shown(visit, order, outcome.now, changedText(outcome.now.days, visit));
    }
    const { date } = order;
    for (const { accountId, kind } of outcome.verdicts) {
      const subject = `${accountId} ${date}`;
      await visit.record({ action: `${verb} day`, accountId, subject, outcome: kind });
    }
    const rows = outcome.verdicts.map((verdict) => ({
      what: `${verb} ${date} of ${verdict.accountId}`,
      kind: verdict.kind === 'done' ? ('done' as const) : ('refused' as const),
      words: verdict.kind === 'done' ? signedWords(verdict) : verdict.reason,
      link: dayPath(verdict.accountId, date),
    }));
    const body = <Verdicts rows={rows} back={statementPath(date)} />;
    return { kind: 'page', title: 'What was done', section: 'Days', body };
  };
}
