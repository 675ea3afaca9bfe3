// Money that is reserved and not taken: what each account has reserved, what lapses when, and what
// stands in the way, the same as `tieout authorisations`. Nothing is decided here: each line leads
// to its order and its instruction.

import type {
  AccountAuthorisations,
  AskedAt,
  ShownAuthorisation,
} from '../../authorisations/authorisations.js';
import { accountAuthorisations, shownAuthorisations } from '../../authorisations/authorisations.js';
import type { AuthorisationOrder } from '../../authorisations/authorisationsStore.js';
import { AUTHORISATION_ORDERS } from '../../authorisations/authorisationsStore.js';
import { NO_RULE, riskSentences } from '../../authorisations/authorisationWords.js';
import { alikeLines, whoseLine } from '../../core/accounts/alike.js';
import type { Words } from '../format.js';
import { WhereLeft } from '../layout/accountFilter.js';
import type { Column } from '../layout/parts.js';
import { Empty, Figure, FilterProblem, OrderLink, Pager, State, Table } from '../layout/parts.js';
import type { Direction } from '../layout/sorting.js';
import { headsBy } from '../layout/sorting.js';
import type { Answer, Visit } from '../visit.js';
import { chosenBy } from '../visitor/filters.js';

const ROWS_A_PAGE = 50;
const PAGES_MAX = 20_000;
const DIRECTIONS: Readonly<Record<AuthorisationOrder, Direction>> = {
  ...{ hours: 'ascending', amount: 'descending', since: 'ascending' },
  ...{ order: 'ascending', account: 'ascending' },
};

export async function authorisationsPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const account = query.oneOf('account', accounts);
  const isAll = query.oneOf('show', ['all'] as const) === 'all';
  const order = query.oneOf<AuthorisationOrder>('sort', AUTHORISATION_ORDERS) ?? 'hours';
  const { accountIds, problem } = chosenBy(visit, { account });
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const asked = await askedNow(visit);
  // One more than a page tells whether there is a next one.
  const page = { isAll, order, limit: ROWS_A_PAGE + 1, offset: at * ROWS_A_PAGE };
  const [sums, found] = await Promise.all([
    accountAuthorisations(deps.db, deps.config, accountIds, asked, true),
    shownAuthorisations(deps.db, deps.config, accountIds, asked, page),
  ]);
  const unset = sums.filter(({ rule }) => rule === null).map(({ accountId }) => accountId);
  const to = (change: Record<string, string>): string => {
    const kept = {
      ...(account === null ? {} : { account }),
      ...(isAll ? { show: 'all' } : {}),
      ...(order === 'hours' ? {} : { sort: order }),
    };
    return `/authorisations?${new URLSearchParams({ ...kept, ...change })}`;
  };
  const body = (
    <>
      <h1>Reserved and not taken</h1>
      <FilterProblem words={problem} />
      {problem === null ? null : <WhereLeft />}
      <Sums accounts={sums} words={words} />
      <Choices isAll={isAll} to={to} />
      {problem === null ? (
        <Rows
          rows={found.slice(0, ROWS_A_PAGE)}
          isAll={isAll}
          words={words}
          unset={unset}
          isAnySet={unset.length < sums.length}
          head={headsBy(order, DIRECTIONS, (by) => to({ sort: by }))}
        />
      ) : null}
      <Pager
        at={at}
        hasNext={found.length > ROWS_A_PAGE}
        to={(wanted) => to({ page: String(wanted + 1) })}
      />
    </>
  );
  return { kind: 'page', title: 'Reservations', section: 'Reservations', body };
}

function Sums({ accounts, words }: { accounts: readonly AccountAuthorisations[]; words: Words }) {
  if (accounts.every(({ sums }) => sums.length === 0)) return null;
  const silent = accounts.filter(({ rule, sums }) => rule === null && sums.length > 0);
  return (
    <>
      {silent.length === 0 ? null : (
        <p class="hint">
          Of {silent.map(({ accountId }) => accountId).join(', ')}: {NO_RULE}.
        </p>
      )}
      <Table
        caption="What is reserved, by account and currency"
        class="cards"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          { head: 'Orders', isFigure: true },
          { head: 'Reserved', isFigure: true },
          { head: 'Soon to lapse', isFigure: true },
          { head: 'Lapsed', isFigure: true },
          { head: 'Next lapse' },
        ]}
      >
        {accounts.flatMap(({ accountId, rule, sums }) =>
          sums.map((sum) => (
            <tr>
              <th scope="row">{accountId}</th>
              <td>{sum.currency ?? ''}</td>
              <Figure name="Orders">{words.count(sum.orders)}</Figure>
              <Figure name="Reserved">
                <Sum amount={sum.amount} unread={sum.unread} of={sum} words={words} />
              </Figure>
              <Figure name="Soon to lapse">
                {rule && (
                  <Sum amount={sum.atRiskAmount} unread={sum.atRiskUnread} of={sum} words={words} />
                )}
              </Figure>
              <Figure name="Lapsed">
                {rule && (
                  <Sum amount={sum.lapsedAmount} unread={sum.lapsedUnread} of={sum} words={words} />
                )}
              </Figure>
              <td class="when" data-name="Next lapse">
                {rule === null ? 'not known' : words.at(sum.nextLapse)}
              </td>
            </tr>
          )),
        )}
      </Table>
    </>
  );
}

/** Of what can be read, and beside it how many orders have an amount that cannot be. */
function Sum(props: {
  amount: string | null;
  unread: number;
  of: { currency: string | null };
  words: Words;
}) {
  const { amount, unread, of, words } = props;
  return (
    <>
      {amount !== null && words.amount(amount, of.currency)}
      {unread > 0 && <div class="hint">amount of {words.count(unread)} cannot be read</div>}
    </>
  );
}

/** Now, and the next night where this process knows it. */
export async function askedNow({ deps }: Visit): Promise<AskedAt> {
  return { now: deps.now(), nextNight: (await deps.nextNight?.()) ?? null };
}

function Choices(props: { isAll: boolean; to: (change: Record<string, string>) => string }) {
  const { isAll, to } = props;
  return (
    <nav class="states" aria-label="Which">
      <a href={to({ show: 'risk' })} aria-current={isAll ? undefined : 'true'}>
        at risk
      </a>
      <a href={to({ show: 'all' })} aria-current={isAll ? 'true' : undefined}>
        all
      </a>
    </nav>
  );
}

type Head = (head: string, by: AuthorisationOrder, isFigure?: boolean) => Column;

function columnsOf(head: Head): Column[] {
  return [
    head('Order', 'order'),
    head('Left', 'hours'),
    { head: 'Lapses' },
    head('Amount', 'amount', true),
    { head: 'Currency' },
    head('Account', 'account'),
    { head: 'Wanted' },
    { head: 'In the way' },
    head('Since', 'since'),
    { head: 'Owner' },
  ];
}

function Rows(props: {
  rows: readonly ShownAuthorisation[];
  isAll: boolean;
  words: Words;
  head: Head;
  /** of these accounts; `unset`: those of which nobody said how long reservations hold */
  unset: readonly string[];
  isAnySet: boolean;
}) {
  const { rows, isAll, words, head, unset, isAnySet } = props;
  if (rows.length === 0) {
    return (
      <Empty>
        {isAll
          ? 'The gateway showed no money that is reserved and not taken.'
          : noneKnown(unset, isAnySet)}
      </Empty>
    );
  }
  return (
    <Table caption="Reservations that are not taken" class="cards" columns={columnsOf(head)}>
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <OrderLink accountId={row.accountId} orderNo={row.orderNo} />
          </th>
          <td>
            <Left row={row} />
          </td>
          <td class="when" data-name="Lapses">
            {words.at(row.lapsesAt)}
          </td>
          <Figure>{words.amount(row.amount, row.currency)}</Figure>
          <td>{row.currency ?? ''}</td>
          <td>{row.accountId}</td>
          <td data-name="Wanted">{row.wanted}</td>
          <td class="line">
            {row.instructionId === null ? (
              row.obstacle
            ) : (
              <a href={`/instructions/${row.instructionId}`}>{row.obstacle}</a>
            )}
          </td>
          <td class="when" data-name="Since">
            {words.at(row.since)}
          </td>
          <td data-name="Owner">{row.owner ?? ''}</td>
        </tr>
      ))}
    </Table>
  );
}

/** That nothing lapses is said only of accounts for which it can be known. */
function noneKnown(unset: readonly string[], isAnySet: boolean): string {
  const none = 'No reservation is known to lapse before another night tells of it in time.';
  if (unset.length === 0) return none;
  const silent = `not known: validHours is not set for ${unset.join(', ')} (ask the operator).`;
  return isAnySet ? `${none} Of others it is ${silent}` : `What lapses is ${silent}`;
}

function Left({ row: { standing, hoursLeft } }: { row: ShownAuthorisation }) {
  if (hoursLeft === null) return <State state="unknown" />;
  if (standing === 'lapsed') return <State state="lapsed" />;
  return <span class={`state ${standing ?? ''}`}>{hoursLeft} h</span>;
}

/** For the first page: what of the reader's accounts is at risk; nothing where nothing is. */
export async function reservationsAtRisk(visit: Visit) {
  const { deps, accounts, words } = visit;
  const sums = await accountAuthorisations(
    deps.db,
    deps.config,
    accounts,
    await askedNow(visit),
    false,
  );
  const told = riskSentences(sums, words.at).map((one) => ({ ...one, kind: 'risk', about: '' }));
  return alikeLines(told).map(({ first, accountIds }) => {
    const of = accountIds.length > 1 ? '' : `?${new URLSearchParams({ account: first.accountId })}`;
    return (
      <p class="problem">
        {whoseLine({ first, accountIds })}: {first.text}.{' '}
        <a href={`/authorisations${of}`}>Reservations</a>
      </p>
    );
  });
}
