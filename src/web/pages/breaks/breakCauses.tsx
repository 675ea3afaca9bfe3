// Breaks put together by their cause: how many, how much money, since when. From each group one
// goes to its breaks, or to one decision about all of them.

import type { BreakGroupRow } from '../../../breaks/breaksStore.js';
import { countBreaks } from '../../../breaks/breaksStore.js';
import { ageInDays } from '../../../core/breaks/breakAge.js';
import { Empty, Figure, MoneyOf, Table } from '../../layout/parts.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { FilterProblem } from './breakFilters.js';
import { causeWords, clockOf, filterOf, filterProblem, queryOf } from './breakQuery.js';
import { setLinks, Views } from './breakSets.js';

const GROUPS_MAX = 200;

/** Money is that of the currency in which most breaks are: amounts of two are not compared. */
const CAUSE_SORTS = ['money', 'breaks'] as const;
type CauseSort = (typeof CAUSE_SORTS)[number];
const ORDERS = { money: 'descending', breaks: 'descending' } as const;

export async function causesPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const clock = clockOf(visit);
  const { now } = clock;
  const filter = filterOf(query, accounts, clock);
  const currencies = await countBreaks(deps.db, filter, 'currency', now, 2);
  const sort = query.oneOf<CauseSort>('sort', CAUSE_SORTS) ?? 'money';
  const most = sort === 'money' ? mainOf(currencies) : null;
  const found = await countBreaks(deps.db, filter, 'cause', now, GROUPS_MAX + 1, most);
  const groups = found.slice(0, GROUPS_MAX);
  const head = headsBy(sort, ORDERS, (by) => `/breaks/causes?${queryOf(query, { sort: by })}`);
  const count = groups.reduce((sum, { breaks }) => sum + breaks, 0);
  const body = (
    <>
      <h1>Breaks by cause</h1>
      <Views visit={visit} at="causes" />
      <FilterProblem words={filterProblem(query)} />
      <p class="sentence" role="status">
        {words.count(count)} {count === 1 ? 'break' : 'breaks'}, {words.count(groups.length)}{' '}
        {groups.length === 1 ? 'cause' : 'causes'},{' '}
        {most === null ? 'those with most breaks first' : `those with most ${most} first`}.
        {found.length > groups.length ? ' There are more causes: narrow the list.' : ''}
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
    </>
  );
  return { kind: 'page', title: 'Breaks by cause', section: 'Breaks', body };
}

/** The currency of most of them; null: none bears one. */
function mainOf(currencies: readonly BreakGroupRow[]): string | null {
  return currencies.find(({ key }) => key !== null)?.key ?? null;
}

function CauseRow({ group, visit, now }: { group: BreakGroupRow; visit: Visit; now: Date }) {
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
