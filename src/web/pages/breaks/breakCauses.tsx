// Breaks put together by their cause: how many, how much money, since when. From each group one
// goes to its breaks, or to one decision about all of them.

import type { BreakGroupRow } from '../../../breaks/breaksStore.js';
import { countBreaks, countCauses } from '../../../breaks/breaksStore.js';
import { type AgeClock, ageInDays } from '../../../core/breaks/breakAge.js';
import { andMore, grouped, moneyIn } from '../../../core/text/amounts.js';
import { Empty, Figure, FilterProblem, MoneyOf, Pager, Table } from '../../layout/parts.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { causeWords, clockOf, filterOf, filterProblem, queryOf } from './breakQuery.js';
import { setLinks, Views } from './breakSets.js';

const GROUPS_A_PAGE = 200;
const PAGES_MAX = 10_000;

/** Money is that of the currency in which most breaks are: amounts of two are not compared. */
const CAUSE_SORTS = ['money', 'breaks'] as const;
type CauseSort = (typeof CAUSE_SORTS)[number];
const ORDERS = { money: 'descending', breaks: 'descending' } as const;

export async function causesPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const clock = clockOf(visit);
  const now = { at: clock.now, timezone: words.zone };
  const filter = filterOf(query, accounts, clock);
  const currencies = await countBreaks(deps.db, filter, 'currency', now, 2);
  const sort = query.oneOf<CauseSort>('sort', CAUSE_SORTS) ?? 'money';
  const most = sort === 'money' ? mainOf(currencies) : null;
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const before = at * GROUPS_A_PAGE;
  const page = [GROUPS_A_PAGE + 1, most, before] as const;
  const found = await countBreaks(deps.db, filter, 'cause', now, ...page);
  const groups = found.slice(0, GROUPS_A_PAGE);
  const head = headsBy(sort, ORDERS, (by) => `/breaks/causes?${queryOf(query, { sort: by })}`);
  const isAll = before === 0 && found.length === groups.length;
  const causes = isAll ? groups.length : await countCauses(deps.db, filter);
  const [all] = isAll ? [] : await countBreaks(deps.db, filter, null, now, 1);
  const count = all?.breaks ?? groups.reduce((sum, { breaks }) => sum + breaks, 0);
  const body = (
    <>
      <h1>Breaks by cause</h1>
      <Views visit={visit} at="causes" />
      <FilterProblem words={filterProblem(query, accounts)} />
      <p class="sentence" role="status">
        {words.count(count)} {count === 1 ? 'break' : 'breaks'}, {words.count(causes)}{' '}
        {causes === 1 ? 'cause' : 'causes'},{' '}
        {most === null ? 'those with most breaks first' : `those with most ${most} first`}.
        {all === undefined || groups.length === 0
          ? ''
          : ` ${partWords(all, groups, before, causes)}`}
      </p>
      {groups.length === 0 ? (
        <Empty>No break fits.</Empty>
      ) : (
        <Table
          caption="Breaks by cause"
          class="cards"
          columns={[
            { head: 'Cause' },
            head('Breaks', 'breaks', true),
            head('Money', 'money', true),
            { head: 'First seen' },
            { head: 'Days since', isFigure: true },
            { head: 'All of them' },
          ]}
        >
          {groups.map((group) => (
            <CauseRow group={group} visit={visit} now={now} />
          ))}
        </Table>
      )}
      <Pager
        at={at}
        pages={Math.ceil(causes / GROUPS_A_PAGE)}
        to={(page) => `/breaks/causes?${queryOf(query, { sort, page: String(page + 1) })}`}
      />
    </>
  );
  return { kind: 'page', title: 'Breaks by cause', section: 'Breaks', body };
}

/** The money of all, where a page shows some of the causes, and how many more there are. */
function partWords(
  { money, withoutAmount }: BreakGroupRow,
  groups: readonly BreakGroupRow[],
  before: number,
  causes: number,
): string {
  const sums = Object.entries(money).map(([currency, amount]) => moneyIn(amount, currency));
  if (withoutAmount > 0) sums.push(`${grouped(String(withoutAmount))} without an amount`);
  const [from, to] = [before + 1, before + groups.length].map((place) => grouped(String(place)));
  const left = causes - before - groups.length;
  const more = left > 0 ? `,${andMore(left)} follow` : '';
  return `In all ${sums.join(', ')}. Causes ${from} to ${to}${more}.`;
}

/** The currency of most of them; null: none bears one. */
function mainOf(currencies: readonly BreakGroupRow[]): string | null {
  return currencies.find(({ key }) => key !== null)?.key ?? null;
}

function CauseRow({ group, visit, now }: { group: BreakGroupRow; visit: Visit; now: AgeClock }) {
  const { words, query } = visit;
  const cause = group.key ?? '';
  return (
    <tr>
      <th scope="row" class="words">
        <a href={`/breaks?${queryOf(query, { cause })}`}>{causeWords(cause)}</a>
      </th>
      <Figure name="Breaks">{words.count(group.breaks)}</Figure>
      <Figure>
        <MoneyOf money={group.money} withoutAmount={group.withoutAmount} words={words} />
      </Figure>
      <td class="when" data-name="First seen">
        {words.at(group.oldest)}
      </td>
      <Figure name="Days since">{words.count(ageInDays(group.oldest, now))}</Figure>
      <td class="line">
        {setLinks(visit, { cause }).map(({ href, label }) => (
          <>
            <a href={href}>{label}</a>{' '}
          </>
        ))}
      </td>
    </tr>
  );
}
