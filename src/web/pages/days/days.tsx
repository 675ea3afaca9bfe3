// Business days: how one leads to the next by account and currency, and which are open, closed,
// locked. Neighbour: day.tsx shows one of them, and closes it.

import { areMany } from '../../../core/accounts/alike.js';
import { parseSum } from '../../../core/money.js';
import type { DayFigures } from '../../../core/runs/businessDay.js';
import {
  besideFigures,
  booksBegin,
  ELSEWHERE,
  leftDaysWords,
} from '../../../core/runs/businessDay.js';
import { andMore } from '../../../core/text/amounts.js';
import { DAY_MS } from '../../../core/time.js';
import { dayFigures } from '../../../days/daysStore.js';
import { withDays } from '../../../runs/leftAccountsStore.js';
import type { Words } from '../../format.js';
import { AccountFilter } from '../../layout/accountFilter.js';
import { pageOf, ROWS_A_PAGE } from '../../layout/many.js';
import type { Column } from '../../layout/parts.js';
import { Empty, Figure, FilterProblem, Pager, State, Table } from '../../layout/parts.js';
import { Said } from '../../layout/said.js';
import type { Direction } from '../../layout/sorting.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { accountWords, chosenBy } from '../../visitor/filters.js';

/** Days at most; fewer, in whole days, where they are more rows than one page. */
const DAYS_SHOWN = 35;

export async function daysPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const until = dateOf(query.text('until') ?? undefined) ?? dayBefore(deps.now(), 0);
  const from = dayBefore(new Date(`${until}T00:00:00Z`), DAYS_SHOWN);
  const account = query.oneOf('account', accounts);
  const own = accounts.filter((one) => deps.accountIds.includes(one));
  const left = await withDays(
    deps.db,
    accounts.filter((one) => !own.includes(one)),
  );
  // Of who has accounts alone that left, theirs.
  const listed = own.length > 0 ? own : left;
  const { accountIds, problem } = chosenBy({ query, accounts: listed }, { account });
  const found = await dayFigures(deps.db, accountIds, from, until);
  const { days, next } = newestDays(found, ROWS_A_PAGE);
  const sort = query.oneOf<DaySort>('sort', DAY_SORTS) ?? 'day';
  // One day of very many accounts is several pages.
  const { shown, at, pages } = pageOf(sortedDays(days, sort), query, 'page');
  const older = next ?? dayBefore(new Date(`${from}T00:00:00Z`), 1);
  const body = (
    <>
      <h1>
        Business days
        {account === null ? '' : `: account ${accountWords(visit, account)}`}
      </h1>
      <FilterProblem words={problem} />
      <LeftDays accountIds={left.filter((one) => accountIds.includes(one))} />
      {account === null && own.length > 0 ? <NotListed left={left} /> : null}
      <p class="hint">
        Opening, captured, refunded and adjustments, with what was captured and refunded elsewhere,
        make the closing, which is the next day's opening.{' '}
        <Said
          text={besideFigures({
            hasSettlement: deps.config.settlement !== null,
            hasPayoutUnit: deps.config.gateway.profile.payout.unit !== null,
          })}
        />
      </p>
      <Books days={days} />
      {areMany(accounts) ? <AccountFilter visit={visit} action="/days" /> : null}
      {days.length === 0 ? (
        <Empty>
          No money has moved in these days. A day appears when a night has confirmed what moved.
        </Empty>
      ) : (
        <DayTable days={shown} words={words} by={{ sort, until, account }} />
      )}
      <Pager
        at={at}
        pages={pages}
        to={(page) => `/days?${ofAccount(account, { until, sort, page: String(page + 1) })}`}
      />
      <p>
        <a href={`/days?${ofAccount(account, { until: older })}`}>Older days</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'Business days', section: 'Days', body };
}

/** Instead of a way to sign them; nothing where there are none. */
export function LeftDays({ accountIds }: { accountIds: readonly string[] }) {
  if (accountIds.length === 0) return null;
  return <p class="hint">{leftDaysWords(accountIds)}</p>;
}

/** Accounts that left are no rows among the others; each leads to its own. */
function NotListed({ left }: { left: readonly string[] }) {
  if (left.length === 0) return null;
  const more = left.length - LEFT_NAMED;
  return (
    <p class="hint">
      Not listed, since not in the configuration any more: the days of{' '}
      {left.slice(0, LEFT_NAMED).map((account, at) => (
        <>
          {at === 0 ? '' : ', '}
          <a href={`/days?${ofAccount(account, {})}`}>{account}</a>
        </>
      ))}
      {andMore(more)}.
    </p>
  );
}

const LEFT_NAMED = 20;

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

function ofAccount(account: string | null, more: Record<string, string>): URLSearchParams {
  return new URLSearchParams(account === null ? more : { account, ...more });
}

function dayBefore(instant: Date, days: number): string {
  return new Date(instant.getTime() - days * DAY_MS).toISOString().slice(0, 10);
}

const MONEY = [
  ...(['opening', 'captured', 'refunded', 'adjustments', 'closing', 'cancelled'] as const),
  'paidOut',
] as const;

function headOf(key: (typeof MONEY)[number]): string {
  return key === 'paidOut' ? 'Payouts made' : `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

/** What the columns mean of accounts that have a book of movements. */
export function Books({ days }: { days: readonly DayFigures[] }) {
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

export function DayTable(props: {
  days: readonly DayFigures[];
  words: Words;
  /** where they can be put in another order; else they are of one day, which the page names */
  by?: { sort: DaySort; until: string; account?: string | null };
}) {
  const { days, words, by } = props;
  const isOneDay = by === undefined;
  const sorted = headsBy(by?.sort ?? 'day', DIRECTIONS, (sort) => {
    return `/days?${ofAccount(by?.account ?? null, { until: by?.until ?? '', sort })}`;
  });
  const column = (head: string, sort: DaySort, isFigure = false): Column =>
    by === undefined ? { head, isFigure } : sorted(head, sort, isFigure);
  const hasBooks = days.some(({ elsewhere }) => elsewhere !== undefined);
  return (
    <Table
      caption={by === undefined ? 'Its figures' : captionOf(by.sort)}
      class="lists rows tight"
      columns={[
        ...(isOneDay
          ? []
          : [column('Day', 'day'), column('Account', 'account'), column('State', 'state')]),
        column('Currency', 'currency'),
        ...MONEY.map((key) => column(headOf(key), key, true)),
        ...(hasBooks ? OF_BOOKS : []).map((head) => ({ head, isFigure: true })),
        { head: 'Late', isFigure: true },
      ]}
    >
      {days.map((day) => (
        <tr>
          {isOneDay ? null : <WhichDay day={day} />}
          {isOneDay ? (
            <th scope="row">{day.currency}</th>
          ) : (
            <td data-name="Currency">{day.currency}</td>
          )}
          {MONEY.map((key) => (
            <Figure name={headOf(key)}>{words.amount(day[key], day.currency)}</Figure>
          ))}
          {hasBooks ? <Elsewhere day={day} words={words} /> : null}
          <Figure name="Late">{words.count(day.late)}</Figure>
        </tr>
      ))}
    </Table>
  );
}

function captionOf(sort: DaySort): string {
  return sort === 'day' ? 'Business days, newest first' : 'Business days';
}

function WhichDay({ day }: { day: DayFigures }) {
  const { accountId, businessDate, state } = day;
  return (
    <>
      <th scope="row">
        <a href={`/days/${encodeURIComponent(accountId)}/${businessDate}`}>{businessDate}</a>
      </th>
      <td data-name="Account">{accountId}</td>
      <td data-name="State">{state === 'open' ? 'open' : <State state={state} />}</td>
    </>
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
