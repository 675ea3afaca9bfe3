// Business days: how one leads to the next by account and currency, which are open, closed, locked,
// and what was decided about each. Closing keeps the figures and the open items of that moment.

import { nameLabel } from '../../core/instructions/decider.js';
import { parseSum } from '../../core/money.js';
import type { DayFigures, DayState } from '../../core/runs/businessDay.js';
import { booksBegin, ELSEWHERE, MEMOS, notInFigures } from '../../core/runs/businessDay.js';
import type { ChecklistLine } from '../../core/runs/closingChecklist.js';
import {
  closingChecklist,
  SINCE_UNKNOWN,
  sinceSignedWords,
} from '../../core/runs/closingChecklist.js';
import { DAY_MS } from '../../core/time.js';
import type { DayOrder, DayVerdict } from '../../days/days.js';
import { closeDay, lockDay, reopenDay } from '../../days/days.js';
import type { LateMovement } from '../../days/daysStore.js';
import {
  closingFacts,
  dayEvents,
  dayFigures,
  dayState,
  lateMovements,
  openDates,
} from '../../days/daysStore.js';
import { changedSinceSigned } from '../../report/statementStore.js';
import type { Words } from '../format.js';
import type { Column, RowVerdict } from '../layout/parts.js';
import { Empty, Figure, Form, State, Table, Verdicts } from '../layout/parts.js';
import type { Direction } from '../layout/sorting.js';
import { headsBy } from '../layout/sorting.js';
import type { Answer, ConsoleDeps, Visit } from '../visit.js';
import { NOT_FOUND, refused } from '../visit.js';
import { dateOf } from '../visitor/fields.js';

/** Days of one page; older ones by the date in the address. */
const DAYS_SHOWN = 35;
/** Fewer days where there are many accounts and currencies; one at least. */
const ROWS_SHOWN = 150;

export async function daysPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const until = dateOf(query.text('until') ?? undefined) ?? dayBefore(deps.now(), 0);
  const from = dayBefore(new Date(`${until}T00:00:00Z`), DAYS_SHOWN);
  const found = await dayFigures(deps.db, accounts, from, until);
  const { days, next } = newestDays(found, ROWS_SHOWN);
  const sort = query.oneOf<DaySort>('sort', DAY_SORTS) ?? 'day';
  const older = next ?? dayBefore(new Date(`${from}T00:00:00Z`), 1);
  const body = (
    <>
      <h1>Business days</h1>
      <p class="hint">
        Opening, captured, refunded and adjustments, with what was captured and refunded elsewhere,
        make the closing, which is the next day's opening. {MEMOS}{' '}
        {notInFigures(deps.config.settlement !== null)}
      </p>
      <Books days={days} />
      {days.length === 0 ? (
        <Empty>
          No money has moved in these days. A day appears when a night has confirmed what moved.
        </Empty>
      ) : (
        <DayTable days={sortedDays(days, sort)} words={words} by={{ sort, until }} />
      )}
      <p>
        <a href={`/days?until=${older}`}>Older days</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'Business days', section: 'Days', body };
}

/** Whole days, newest first, in about so many rows; and the first day that is left out. */
export function newestDays<D extends Pick<DayFigures, 'businessDate'>>(
  found: readonly D[],
  rows: number,
): { days: D[]; next: string | null } {
  // Within a day they stay as they come, by account and currency.
  const sorted = found.toSorted((a, b) => b.businessDate.localeCompare(a.businessDate));
  const newest = sorted[0]?.businessDate ?? '';
  const cut = sorted[rows]?.businessDate ?? '';
  const days = sorted.filter((day) => day.businessDate > cut || day.businessDate === newest);
  return { days, next: sorted[days.length]?.businessDate ?? null };
}

function dayBefore(instant: Date, days: number): string {
  return new Date(instant.getTime() - days * DAY_MS).toISOString().slice(0, 10);
}

const MONEY = [
  ...(['opening', 'captured', 'refunded', 'adjustments', 'closing', 'cancelled'] as const),
  'paidOut',
] as const;

function headOf(key: (typeof MONEY)[number]): string {
  return key === 'paidOut' ? 'payouts made' : key;
}

/** What the columns mean of accounts that have a book of movements. */
function Books({ days }: { days: readonly DayFigures[] }) {
  const since = booksBegin(days);
  if (since === null) return null;
  return (
    <p class="hint">
      {ELSEWHERE} {since}
    </p>
  );
}

const OF_BOOKS = ['Captured elsewhere', 'Refunded elsewhere', 'In suspense'] as const;

const DAY_SORTS = ['day', 'account', 'state', 'currency', ...MONEY] as const;
type DaySort = (typeof DAY_SORTS)[number];

const DIRECTIONS = Object.fromEntries(
  DAY_SORTS.map((sort) => {
    const isText = sort === 'account' || sort === 'state' || sort === 'currency';
    return [sort, isText ? 'ascending' : 'descending'];
  }),
) as Readonly<Record<DaySort, Direction>>;

/** Of the days of one page. Equal ones stay newest first; money is not compared over currencies. */
function sortedDays(days: readonly DayFigures[], sort: DaySort): DayFigures[] {
  if (sort === 'day') return [...days];
  const text = (day: DayFigures): string =>
    sort === 'account' ? day.accountId : sort === 'state' ? day.state : day.currency;
  const cents = (day: DayFigures): bigint =>
    MONEY.some((key) => key === sort)
      ? (parseSum(day[sort as keyof DayFigures] as string) ?? 0n)
      : 0n;
  return days.toSorted((a, b) => {
    const named = text(a).localeCompare(text(b));
    return named !== 0 ? named : cents(a) < cents(b) ? 1 : cents(a) > cents(b) ? -1 : 0;
  });
}

function DayTable(props: {
  days: readonly DayFigures[];
  words: Words;
  /** where they can be put in another order */
  by?: { sort: DaySort; until: string };
}) {
  const { days, words, by } = props;
  const sorted = headsBy(by?.sort ?? 'day', DIRECTIONS, (sort) => {
    return `/days?${new URLSearchParams({ until: by?.until ?? '', sort })}`;
  });
  const column = (head: string, sort: DaySort, isFigure = false): Column =>
    by === undefined ? { head, isFigure } : sorted(head, sort, isFigure);
  const hasBooks = days.some(({ elsewhere }) => elsewhere !== undefined);
  return (
    <Table
      caption={
        by === undefined || by.sort === 'day' ? 'Business days, newest first' : 'Business days'
      }
      class="cards tight"
      columns={[
        column('Day', 'day'),
        column('Account', 'account'),
        column('State', 'state'),
        column('Currency', 'currency'),
        ...MONEY.map((key) => column(headOf(key), key, true)),
        ...(hasBooks ? OF_BOOKS : []).map((head) => ({ head, isFigure: true })),
        { head: 'Late', isFigure: true },
        { head: 'Snapshot' },
      ]}
    >
      {days.map((day) => (
        <tr>
          <th scope="row">
            <a href={`/days/${encodeURIComponent(day.accountId)}/${day.businessDate}`}>
              {day.businessDate}
            </a>
          </th>
          <td>{day.accountId}</td>
          <td>{day.state === 'open' ? 'open' : <State state={day.state} />}</td>
          <td>{day.currency}</td>
          {MONEY.map((key) => (
            <Figure name={headOf(key)}>{words.amount(day[key], day.currency)}</Figure>
          ))}
          {hasBooks ? <Elsewhere day={day} words={words} /> : null}
          <Figure name="late">{words.count(day.late)}</Figure>
          <td data-name="Snapshot">
            {words
              .at(day.asOf)
              .split(' ')
              .map((part) => (
                <span class="when">{part} </span>
              ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Elsewhere({ day, words }: { day: DayFigures; words: Words }) {
  const { elsewhere, currency } = day;
  return (
    <>
      <Figure name={OF_BOOKS[0]}>
        {elsewhere ? words.amount(elsewhere.captured, currency) : ''}
      </Figure>
      <Figure name={OF_BOOKS[1]}>
        {elsewhere ? words.amount(elsewhere.refunded, currency) : ''}
      </Figure>
      <Figure name={OF_BOOKS[2]}>{elsewhere ? words.count(elsewhere.suspense) : ''}</Figure>
    </>
  );
}

export async function dayPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, params, words } = visit;
  const date = dateOf(params.date);
  const { account = '' } = params;
  if (date === null || !accounts.includes(account)) return NOT_FOUND;
  const days = await dayFigures(deps.db, [account], date, date);
  const [first] = days;
  const late = await lateMovements(deps.db, account, date);
  const state = await dayState(deps.db, account, date);
  const facts = await closingFacts(deps.db, account, date);
  const open = state === 'open' ? await openDates(deps.db, account, date) : [];
  const earlier = open.filter((one) => one !== date);
  const since = state === 'open' ? [] : await changedSinceSigned(deps.db, date, [account]);
  const [counts] = since ?? [];
  const known = counts === undefined ? null : sinceSignedWords(counts);
  const changed = since === null ? SINCE_UNKNOWN : known;
  const body = (
    <>
      <h1>
        {date} of account {account} <State state={state} />
      </h1>
      <p class="hint">
        {first === undefined
          ? 'No money moved on this day.'
          : `Zone ${first.timezone ?? 'unknown'}, cut-off ${first.cutOff ?? 'unknown'}.`}
      </p>
      <Books days={days} />
      <DayTable days={days} words={words} />
      {changed === null ? null : (
        <p class="problem" role="alert">
          Changed since it was closed: {changed}.
        </p>
      )}
      <Late late={late} words={words} />
      {state === 'open' ? <Checklist lines={closingChecklist(facts)} /> : null}
      <Decide visit={visit} account={account} date={date} state={state} earlier={earlier} />
      <Decided visit={visit} events={await dayEvents(deps.db, account, date)} />
    </>
  );
  return { kind: 'page', title: `${date} ${account}`, section: 'Days', body };
}

function Late({ late, words }: { late: readonly LateMovement[]; words: Words }) {
  if (late.length === 0) return null;
  return (
    <Table
      caption="What became known here and belongs to an earlier, closed day"
      isCaptionSeen
      columns={[
        { head: 'Order' },
        { head: 'What' },
        { head: 'Amount', isFigure: true },
        { head: 'Currency' },
        { head: 'Belongs to' },
      ]}
    >
      {late.map((one) => (
        <tr>
          <th scope="row">{one.orderNo}</th>
          <td>{one.operation}</td>
          <Figure>{words.amount(one.amount, one.currency)}</Figure>
          <td>{one.currency}</td>
          <td>{one.belongsTo}</td>
        </tr>
      ))}
    </Table>
  );
}

function Checklist({ lines }: { lines: readonly ChecklistLine[] }) {
  return (
    <section aria-label="Before it is closed">
      <h2>Before it is closed</h2>
      <ul>
        {lines.map(({ isWell, words }) => (
          <li>
            {isWell ? '✓' : '✗'} {words}
          </li>
        ))}
      </ul>
    </section>
  );
}

const POSSIBLE: Readonly<Record<DayState, readonly (keyof typeof VERBS)[]>> = {
  open: ['close'],
  closed: ['lock', 'reopen'],
  locked: [],
};

function Decide(props: {
  visit: Visit;
  account: string;
  date: string;
  state: DayState;
  earlier: readonly string[];
}) {
  const { visit, account, date, state, earlier } = props;
  const verbs = POSSIBLE[state];
  if (!visit.accountsFor('closeDays').includes(account) || verbs.length === 0) return null;
  return (
    <Form action={`/days/${verbs[0]}`} csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Decide about this day</legend>
        <input type="hidden" name="account" value={account} />
        <input type="hidden" name="date" value={date} />
        {earlier.length > 0 ? (
          <label>
            <input type="checkbox" name="earlier" value={String(earlier.length)} /> Also the open
            days before it, {earlier.join(', ')}: days are closed in their order
          </label>
        ) : null}
        <label>
          Reason
          <input name="words" size={40} maxLength={1000} required value={visit.typed('words')} />
        </label>
        {verbs.map((verb) => (
          <button type="submit" formaction={`/days/${verb}`} formNoValidate={!visit.person.isFresh}>
            {visit.person.isFresh ? VERBS[verb].words : `Password, to ${verb} it`}
          </button>
        ))}
      </fieldset>
    </Form>
  );
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

async function decide(
  visit: Visit,
  verb: string,
  act: (db: ConsoleDeps['db'], order: DayOrder) => Promise<DayVerdict>,
): Promise<Answer> {
  const { form, accounts, deps, decider: who } = visit;
  const accountId = form.oneOf('account', accounts);
  const date = dateOf(form.text('date') ?? undefined);
  const reason = form.text('words');
  if (accountId === null || date === null) return NOT_FOUND;
  if (reason === null) return refused('Say why; it is kept with the figures of that moment.');
  // As many as were shown: a night that ended since would be closed unseen.
  const shown = form.text('earlier');
  const open = shown === null ? [] : await openDates(deps.db, accountId, date);
  const withEarlier = shown !== null && open.length === Number(shown) + 1;
  const { secondPerson } = deps.config.days;
  const verdict = await act(deps.db, { accountId, date, who, reason, withEarlier, secondPerson });
  await visit.record({
    action: `${verb} day`,
    accountId,
    subject: `${accountId} ${date}`,
    outcome: verdict.kind,
  });
  const row: RowVerdict = {
    what: `${verb} ${date} of ${accountId}`,
    kind: verdict.kind,
    words: verdict.kind === 'done' ? verdict.dates.join(', ') : verdict.reason,
  };
  const body = <Verdicts rows={[row]} back={`/days/${accountId}/${date}`} />;
  return { kind: 'page', title: 'What was done', section: 'Days', body };
}
