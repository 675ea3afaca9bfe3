// One business date of all accounts of who signs: first the checklist of each, then one press,
// which is refused and shown again if anything shown has changed. days/signDay.ts says what is
// signed.

import { workbookWords } from '../../../core/runs/businessDay.js';
import { countText } from '../../../core/text/amounts.js';
import type { SignedByPress, SigningOrder, SigningVerb } from '../../../days/signDay.js';
import { previewSigning, signDays } from '../../../days/signDay.js';
import { consoleRun } from '../../../report/consoleRunsStore.js';
import { Empty, Form, Reason, State, Verdicts } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND, refused } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { SignedFigures } from './signedFigures.js';
import { ChangedSince, Checklist, dayPath, signAllPath, signedWords } from './signing.js';

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
  return (visit: Visit): Promise<Answer> => show(visit, verb, null);
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

async function show(visit: Visit, verb: SigningVerb, changed: string | null): Promise<Answer> {
  const order = await orderOf(visit, verb);
  if (order === null) return NOT_FOUND;
  const { date } = order;
  const { days, digest } = await previewSigning(visit.deps.db, order);
  const signed = days.filter(({ bar }) => bar === null);
  const { title, second } = WORDS[verb];
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
        {signed.length === 0
          ? 'Nothing would be signed.'
          : `The button signs ${date}, and no other day, on ` +
            `${workbookWords(signed[0]?.workbook ?? null)}, for ${accountsText(signed.length)}: ` +
            `${signed.map(({ accountId }) => accountId).join(', ')}.`}
        {signed.length === days.length
          ? ''
          : ` Left as they are: ${days
              .filter(({ bar }) => bar !== null)
              .map(({ accountId, bar }) => `${accountId} (${bar})`)
              .join(', ')}.`}
      </p>
      {days.map((day) => (
        <OfAccount day={day} date={date} verb={verb} words={visit.words} />
      ))}
      {signed.length === 0 ? (
        <Empty>What is left can be decided about on the page of its day.</Empty>
      ) : (
        <Press visit={visit} verb={verb} date={date} digest={digest} count={signed.length} />
      )}
      <p class="hint">
        {second} Each account keeps who signed, when, why, and what was open. If anything of the
        lists changes before the press, nothing is done and they are shown again.{' '}
        <a href={`/nights/${date}/statement`}>The statement of this day</a>
      </p>
    </>
  );
  const status = changed === null ? 200 : 409;
  return { kind: 'page', title: `${title} ${date}`, section: 'Days', body, status };
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
  digest: string;
  count: number;
}) {
  const { visit, verb, date, digest, count } = props;
  const { isFresh } = visit.person;
  return (
    <Form action={signAllPath(verb, date)} csrf={visit.csrf}>
      <input type="hidden" name="seen" value={digest} />
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

export function pressSignAll(verb: SigningVerb) {
  return async (visit: Visit): Promise<Answer> => {
    const order = await orderOf(visit, verb);
    const digest = visit.form.text('seen', 64);
    const reason = visit.form.text('words');
    if (order === null || digest === null) return refused('Look at what would be signed first.');
    if (reason === null) return refused('Say why; it is kept with the figures of that moment.');
    const outcome = await signDays(visit.deps.db, { ...order, reason, digest });
    if (outcome.kind === 'changed') {
      return show(visit, verb, 'What was shown has changed since: nothing was signed.');
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
    const body = <Verdicts rows={rows} back={`/nights/${date}/statement`} />;
    return { kind: 'page', title: 'What was done', section: 'Days', body };
  };
}
