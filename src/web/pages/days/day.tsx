// One business day: whether it can be signed and what speaks against it, who prepared and who
// reviewed it, and its figures. Closing keeps the figures and the open items of that moment.

import { isSamePerson, nameLabel } from '../../../core/instructions/decider.js';
import type { DayFigures, DayState } from '../../../core/runs/businessDay.js';
import { NO_NIGHT, workbookWords } from '../../../core/runs/businessDay.js';
import { whyCloseAgain } from '../../../core/runs/sinceClosed.js';
import { andMore } from '../../../core/text/amounts.js';
import { withoutCommands } from '../../../core/text/commandWords.js';
import type { DayOrder, DayVerdict } from '../../../days/days.js';
import { barToLock, barToReopen, closeDay, lockDay, reopenDay } from '../../../days/days.js';
import { dayEvents, lateMovements } from '../../../days/daysStore.js';
import { movedRows } from '../../../days/movedRowsStore.js';
import { EARLIER_MAX, shownDay, sinceOfOpen } from '../../../days/shownDay.js';
import { statementsOfRun } from '../../../report/statementStore.js';
import type { Words } from '../../format.js';
import type { RowVerdict } from '../../layout/parts.js';
import { Empty, Form, State, Verdicts } from '../../layout/parts.js';
import type { Answer, ConsoleDeps, Visit } from '../../visit.js';
import { NOT_FOUND, refused } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { accountWords } from '../../visitor/filters.js';
import { Books, DayTable, LeftDays } from './days.js';
import { LateRows, MovedRows } from './movedRows.js';
import type { Signed } from './signedBoxes.js';
import { SignedBoxes } from './signedBoxes.js';
import { SignedFigures } from './signedFigures.js';
import {
  About,
  BeforeSigning,
  ChangedSince,
  dayPath,
  MovedAfter,
  SigningSentence,
  signedWords,
  statementPath,
} from './signing.js';

export async function dayPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, params, words } = visit;
  const date = dateOf(params.date);
  const { account = '' } = params;
  if (date === null || !accounts.includes(account)) return NOT_FOUND;
  const since = await sinceOfOpen(deps.db, account, date);
  const { day, figures: days, seen, earlier } = await shownDay(deps.db, account, date, since);
  const { state } = day;
  const isLeft = !deps.accountIds.includes(account);
  const late = await lateMovements(deps.db, account, date);
  const moved = await movedRows(deps.db, account, date);
  const events = await dayEvents(deps.db, account, date);
  const [written] = await statementsOfRun(deps.db, date, [account]);
  const order = { accountId: account, date, who: visit.decider, ...deps.config.days };
  const isClosed = state === 'closed';
  const noReopening = isClosed ? await barToReopen(deps.db, order) : null;
  const again = whyCloseAgain(day.signedOn);
  const noLocking = isClosed ? (again ?? (await barToLock(deps.db, order))) : null;
  const body = (
    <>
      <h1>
        {date} of account {accountWords(visit, account)} <State state={state} />
      </h1>
      {isLeft && state !== 'locked' ? null : <SigningSentence date={date} day={day} />}
      {isLeft ? <LeftDays accountIds={[account]} /> : null}
      <ChangedSince day={day} />
      <SignedBoxes
        signed={written?.signed ?? withoutStatement(events)}
        words={words}
        notYet={isLeft ? 'not signed' : 'not yet'}
      />
      <SignedFigures signedOn={day.signedOn} words={words} />
      <p>
        <a href={statementPath(date, account)}>The statement of this day</a>
      </p>
      {isLeft ? null : (
        <>
          <BeforeSigning date={date} day={day} />
          {earlier === null ? null : (
            <EarlierDays earlier={earlier} account={account} date={date} words={words} />
          )}
          <Decide
            visit={visit}
            day={{ account, date, state, seen, noReopening, noLocking, isAgain: again !== null }}
            earlier={earlier}
            events={events}
          />
        </>
      )}
      <MovedAfter moved={day.moved} isRemoved={day.isRemoved} />
      <MovedRows moved={moved} account={account} words={words} />
      <Figures days={days} words={words} />
      <LateRows moved={late} account={account} words={words} />
      <Decided visit={visit} events={events} />
    </>
  );
  return { kind: 'page', title: `${date} ${account}`, section: 'Days', body };
}

function Figures({ days, words }: { days: readonly DayFigures[]; words: Words }) {
  const [first] = days;
  return (
    <>
      <h2>Its figures</h2>
      {first === undefined ? (
        <Empty>No money moved on this day.</Empty>
      ) : (
        <>
          <DayTable days={days} words={words} />
          <p class="hint">
            {first.cutOff === null
              ? NO_NIGHT
              : `From ${first.cutOff} to ${first.cutOff} of the next day, ${first.timezone}; ` +
                `checked at ${words.at(first.asOf)}.`}
          </p>
          <Books days={days} />
        </>
      )}
    </>
  );
}

type Earlier = NonNullable<Awaited<ReturnType<typeof shownDay>>['earlier']>;

/** The newest day that one press closes with all that are shown; null: this day's own press. */
function firstOf({ dates }: Earlier): string | null {
  return dates.length > EARLIER_MAX ? (dates[EARLIER_MAX] ?? null) : null;
}

function EarlierDays(props: { earlier: Earlier; account: string; date: string; words: Words }) {
  const { earlier, account, date, words } = props;
  const { dates, late } = earlier;
  const shown = dates.slice(0, EARLIER_MAX);
  const figures = earlier.figures.filter(({ businessDate }) => shown.includes(businessDate));
  const more = dates.length - shown.length;
  const first = firstOf(earlier);
  return (
    <>
      <h2>Open days before it</h2>
      <p>
        {shown.map((one, at) => (
          <>
            {at === 0 ? '' : ', '}
            <a href={dayPath(account, one)}>{one}</a> (
            {workbookWords(
              earlier.workbooks.find(({ businessDate }) => businessDate === one) ?? null,
            )}
            )
          </>
        ))}
        {andMore(more)}
      </p>
      {first === null ? null : (
        <p class="hint">
          More than {EARLIER_MAX} days are never closed by one press:{' '}
          <a href={dayPath(account, first)}>close those up to {first} first</a>.
        </p>
      )}
      {late.map((one) => (
        <p class="hint">
          {one.date}: {withoutCommands(one.words)}.
          <About accountId={account} about={one.about} />
        </p>
      ))}
      {figures.length === 0 ? (
        <Empty>No money moved on them.</Empty>
      ) : (
        <DayTable days={figures} words={words} by={{ sort: 'day', until: date }} />
      )}
    </>
  );
}

/** Of a day without a statement: what was signed since it was last open. */
function withoutStatement(events: Events): Signed {
  const reopened = events.findLastIndex(({ event }) => event === 'reopened');
  return events.slice(reopened + 1).flatMap(({ event, by, isClaim, at, workbook }) => {
    if (event === 'reopened') return [];
    return [{ event, by, isClaim, at: at.toISOString(), revision: workbook?.revision ?? null }];
  });
}

interface Day {
  account: string;
  date: string;
  state: DayState;
  seen: string;
  /** why it is closed and not opened again; null: it can be, or it is not closed */
  noReopening: string | null;
  /** why it is closed and not locked by this person; null: it can be, or it is not closed */
  noLocking: string | null;
  /** whether it is closed and may be closed again, on the newest revision */
  isAgain: boolean;
}

const POSSIBLE: Readonly<Record<DayState, readonly (keyof typeof VERBS)[]>> = {
  open: ['close'],
  closed: ['close', 'lock', 'reopen'],
  locked: [],
};

function Decide(props: { visit: Visit; day: Day; earlier: Earlier | null; events: Events }) {
  const { visit, day, earlier, events } = props;
  const { account, date, state, seen, noReopening, noLocking, isAgain } = day;
  if (!visit.accountsFor('closeDays').includes(account)) return null;
  const closed = events.findLast(({ event }) => event === 'closed');
  const isOwn = closed !== undefined && isSamePerson(closed.by, visit.person.name);
  const bars = { close: null, lock: noLocking, reopen: noReopening };
  const isBarred = (verb: keyof typeof VERBS): boolean =>
    bars[verb] !== null || (verb === 'close' && state === 'closed' && !isAgain);
  const verbs = POSSIBLE[state].filter((verb) => !isBarred(verb));
  const why = (
    <>
      {noLocking === null ? null : <p class="hint">Not locked by you: {noLocking}.</p>}
      {noReopening === null ? null : <p class="hint">Not opened again: {noReopening}.</p>}
    </>
  );
  if (verbs.length === 0) return why;
  return (
    <Form action={`/days/${verbs[0]}`} csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>{state === 'open' ? 'Sign as prepared' : 'Decide about this day'}</legend>
        <input type="hidden" name="account" value={account} />
        <input type="hidden" name="date" value={date} />
        <input type="hidden" name="seen" value={seen} />
        {earlier === null || firstOf(earlier) !== null ? null : (
          <label>
            <input type="checkbox" name="earlier" value={earlier.seen} /> Also the open days before
            it, as they are shown above: days are closed in their order
          </label>
        )}
        <label>
          Reason
          <input name="words" size={40} maxLength={1000} required value={visit.typed('words')} />
        </label>
        {verbs.map((verb) => (
          <button type="submit" formaction={`/days/${verb}`} formNoValidate={!visit.person.isFresh}>
            {visit.person.isFresh ? buttonWords(verb, state) : `Password, to ${verb} it`}
          </button>
        ))}
      </fieldset>
      {state === 'locked' || noLocking !== null ? null : (
        <p class="hint">{secondWords(state, isOwn, visit.deps.config.days.secondPerson)}</p>
      )}
      {why}
    </Form>
  );
}

function buttonWords(verb: keyof typeof VERBS, state: DayState): string {
  return verb === 'close' && state === 'closed' ? 'Close it again: prepared' : VERBS[verb].words;
}

/** Before the press: who may lock, and that nobody else will have looked. */
function secondWords(state: DayState, isOwn: boolean, secondPerson: boolean): string {
  if (state === 'open') {
    return secondPerson
      ? 'Who closes it has prepared it: a second person must review and lock it.'
      : 'Who closes it has prepared it, and may lock it too: the same name then stands under both.';
  }
  return isOwn
    ? 'You closed it: if you lock it too, the same person has prepared and reviewed it.'
    : 'Who locks it has reviewed it.';
}

type Events = Awaited<ReturnType<typeof dayEvents>>;

function Decided({ visit, events }: { visit: Visit; events: Events }) {
  return (
    <>
      <h2>Decisions</h2>
      {events.length === 0 ? <Empty>Nobody has closed this day yet.</Empty> : null}
      <ol class="timeline">
        {events.map((event) => (
          <li>
            <time>{visit.words.at(event.at)}</time> {event.event} by{' '}
            {nameLabel(event.by, event.isClaim)}: {visit.words.free(event.reason)}
            {event.workbook === null ? '' : ` (on ${workbookWords(event.workbook)})`}
          </li>
        ))}
      </ol>
    </>
  );
}

const VERBS = {
  close: { act: closeDay, words: 'Close it: prepared' },
  lock: { act: lockDay, words: 'Lock it: reviewed, closed for ever' },
  reopen: { act: reopenDay, words: 'Reopen it' },
} as const;

export function closing(verb: keyof typeof VERBS): (visit: Visit) => Promise<Answer> {
  return (visit) => decide(visit, verb, VERBS[verb].act);
}

const CHANGED =
  'What was shown has changed since: nothing was signed. It stands below as it is now.';

async function decide(
  visit: Visit,
  verb: keyof typeof VERBS,
  act: (db: ConsoleDeps['db'], order: DayOrder) => Promise<DayVerdict>,
): Promise<Answer> {
  const { form, accounts, deps, decider: who } = visit;
  const accountId = form.oneOf('account', accounts);
  const date = dateOf(form.text('date') ?? undefined);
  const reason = form.text('words');
  if (accountId === null || date === null) return NOT_FOUND;
  if (reason === null) return refused('Say why; it is kept with the figures of that moment.');
  const seen = form.text('seen', 64);
  // Just those that were shown, as they were shown.
  const earlier = form.text('earlier', 64);
  const { secondPerson } = deps.config.days;
  const verdict = await act(deps.db, {
    ...{ accountId, date, who, reason, secondPerson, withEarlier: earlier !== null },
    isAsSeen: (now) => now.seen === seen && (earlier === null || now.earlier?.seen === earlier),
  });
  if (verdict.kind === 'changed') return refused(CHANGED);
  await visit.record({
    action: `${verb} day`,
    accountId,
    subject: `${accountId} ${date}`,
    outcome: verdict.kind,
  });
  const row: RowVerdict = {
    what: `${verb} ${date} of ${accountId}`,
    kind: verdict.kind,
    words: verdict.kind === 'done' ? signedWords(verdict) : verdict.reason,
  };
  const body = <Verdicts rows={[row]} back={`/days/${accountId}/${date}`} />;
  return { kind: 'page', title: 'What was done', section: 'Days', body };
}
