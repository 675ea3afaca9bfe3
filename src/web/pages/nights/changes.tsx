// What changed since the run before: breaks that are new, reopened, grown, shrunk, waived or
// resolved, by account and currency. Each figure leads to the rows that it is the sum of.

import type { ChangedSum } from '../../../breaks/changedStore.js';
import { comparedWith, listChanged, sumChanged } from '../../../breaks/changedStore.js';
import { areMany } from '../../../core/accounts/alike.js';
import { type AgeClock, ageInDays } from '../../../core/breaks/breakAge.js';
import type { Change, ChangedBreak } from '../../../core/breaks/change.js';
import {
  CHANGE_WORDS,
  CHANGES,
  comparedWords,
  isFirstNight,
  reopenedWords,
} from '../../../core/breaks/change.js';
import { nameLabel } from '../../../core/instructions/decider.js';
import { causeLabel, labelOf } from '../../../core/text/labels.js';
import type { ConsoleRun } from '../../../report/consoleRunsStore.js';
import { consoleRun } from '../../../report/consoleRunsStore.js';
import type { Words } from '../../format.js';
import { pageOf } from '../../layout/many.js';
import { Empty, Figure, FilterProblem, OrderLink, Pager, Table } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { chosenBy } from '../../visitor/filters.js';

const ROWS_A_PAGE = 50;
/** Accounts and currencies on the page of a night; the page of its changes has all. */
const ROWS_OF_NIGHT = 20;
const PAGES_MAX = 20_000;
/** As long as a gateway writes it. */
const CURRENCY_MAX = 64;
/** In an address: of breaks whose money bears no currency. */
const NO_CURRENCY = '-';

interface Wanted {
  account?: string;
  currency?: string | null;
  change?: string;
  page?: string;
}

function changesPath(date: string, { account, currency, change, page }: Wanted): string {
  const asked = {
    account,
    currency: currency === null ? NO_CURRENCY : currency,
    change,
    page,
  };
  const given = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const search = new URLSearchParams(given).toString();
  return `/nights/${date}/changes${search === '' ? '' : `?${search}`}`;
}

export async function changesPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, params, query, words } = visit;
  const date = dateOf(params.date);
  const run = date === null ? null : await consoleRun(deps.db, visit, date);
  if (date === null || run === null) return NOT_FOUND;
  const account = query.oneOf('account', accounts);
  const asked = query.text('currency', CURRENCY_MAX);
  const change = query.oneOf('change', CHANGES);
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const { accountIds, problem } = chosenBy(visit, { account, currency: asked, change });
  const currency = asked === NO_CURRENCY ? '' : asked;
  const [sums, bases, found] = await Promise.all([
    sumChanged(deps.db, run.runId, accounts),
    comparedWith(deps.db, run.runId, accounts),
    // One more than a page tells whether there is a next one.
    listChanged(
      deps.db,
      { runId: run.runId, accountIds, currency, change },
      { limit: ROWS_A_PAGE + 1, offset: at * ROWS_A_PAGE },
    ),
  ]);
  const kept: Wanted = {
    ...(account === null ? {} : { account }),
    ...(asked === null ? {} : { currency: asked }),
    ...(change === null ? {} : { change }),
  };
  const clock = { at: run.asOf ?? deps.now(), timezone: words.zone };
  const body = (
    <>
      <h1>What changed in the run of {date}</h1>
      <p class="sentence">{capitalised(comparedWords(bases))}.</p>
      <p class="hint">
        Breaks as they stood then, against{' '}
        {run.summary === null ? 'now, while this run works' : 'the end of this run'}, also after it
        was run again. Owners are those of today. <a href={`/nights/${date}`}>Back to the night</a>
      </p>
      <Passed night={run} sums={sums} />
      <Sums date={date} sums={sums} words={words} query={query} />
      <h2>{listHead(account, asked, change)}</h2>
      <FilterProblem words={problem} />
      {Object.keys(kept).length === 0 && problem === null ? null : (
        <a href={changesPath(date, {})}>All changes</a>
      )}
      <Rows rows={found.slice(0, ROWS_A_PAGE)} clock={clock} words={words} />
      <Pager
        at={at}
        hasNext={found.length > ROWS_A_PAGE}
        to={(wanted) => changesPath(date, { ...kept, page: String(wanted + 1) })}
      />
    </>
  );
  return { kind: 'page', title: `Changes of ${date}`, section: 'Tonight', body };
}

function listHead(account: string | null, currency: string | null, change: Change | null): string {
  const what = change === null ? 'All that changed' : CHANGE_WORDS[change];
  const of = [account, currency === NO_CURRENCY ? 'without a currency' : currency];
  return [what, ...of.filter((one) => one !== null)].join(', ');
}

/** For the pages of a night that has ended: counts and money, each a link to its rows. */
export async function changesSince(visit: Visit, night: ConsoleRun) {
  if (night.summary === null) return null;
  const { deps, accounts, words } = visit;
  const [sums, bases] = await Promise.all([
    sumChanged(deps.db, night.runId, accounts),
    comparedWith(deps.db, night.runId, accounts),
  ]);
  const { businessDate: date } = night;
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">What changed</h2>
      <p class="hint">
        {capitalised(comparedWords(bases))}.{' '}
        {isFirstNight(bases) ? (
          <a href={changesPath(date, {})}>All of them, with their money</a>
        ) : (
          'A date that is run again is the same run, and is compared with the same.'
        )}
      </p>
      {isFirstNight(bases) ? null : <Sums date={date} sums={sums} words={words} />}
      <Passed night={night} sums={sums} />
    </section>
  );
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How the tie of the run, which counts all that opened again, comes to these figures. */
function Passed({ night, sums }: { night: ConsoleRun; sums: readonly ChangedSum[] }) {
  if (night.summary === null) return null;
  const tied = night.summary.accounts.reduce((sum, { tie }) => sum + tie.reopened, 0);
  const listed = sums
    .filter(({ change }) => change === 'reopened')
    .reduce((sum, { breaks }) => sum + breaks, 0);
  const said = reopenedWords(tied, listed);
  return said === null ? null : <p class="hint">{said}.</p>;
}

/** Of very many accounts those with the most changes first; without `query` the first few. */
function Sums(props: {
  date: string;
  sums: readonly ChangedSum[];
  words: Words;
  query?: Visit['query'];
}) {
  const { date, sums, words, query } = props;
  if (sums.length === 0) return <Empty>No break changed.</Empty>;
  const lines = new Map<string, ChangedSum[]>();
  for (const sum of sums) {
    const line = `${sum.accountId} ${sum.currency}`;
    lines.set(line, [...(lines.get(line) ?? []), sum]);
  }
  const all = [...lines.values()];
  const rows = areMany(all) ? all.toSorted((a, b) => changedIn(b) - changedIn(a)) : all;
  const few = { shown: rows.slice(0, ROWS_OF_NIGHT), at: 0, pages: 1 };
  const { shown, at, pages } = query === undefined ? few : pageOf(rows, query, 'sums');
  const rest = query === undefined ? rows.length - shown.length : 0;
  return (
    <>
      <Table
        caption="Breaks that changed, by account and currency"
        class="lists rows"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          ...CHANGES.map((change) => ({ head: CHANGE_WORDS[change], isFigure: true })),
        ]}
      >
        {shown.map((ofLine) => (
          <tr>
            <th scope="row">{ofLine[0]?.accountId}</th>
            <td data-name="Currency">{ofLine[0]?.currency ?? 'none'}</td>
            {CHANGES.map((change) => (
              <SumCell
                date={date}
                name={CHANGE_WORDS[change]}
                sum={ofLine.find((one) => one.change === change)}
                words={words}
              />
            ))}
          </tr>
        ))}
      </Table>
      <p class="hint">
        Breaks, and by how much open money became more or less. Each leads to its rows.
        {rest === 0 ? null : (
          <>
            {' Those with the most changes; '}
            <a href={changesPath(date, {})}>{words.count(rest)} more accounts and currencies</a>.
          </>
        )}
      </p>
      <Pager at={at} pages={pages} to={(page) => `/nights/${date}/changes?sums=${page + 1}`} />
    </>
  );
}

function changedIn(sums: readonly ChangedSum[]): number {
  return sums.reduce((all, { breaks }) => all + breaks, 0);
}

function SumCell(props: { date: string; name: string; sum: ChangedSum | undefined; words: Words }) {
  const { date, name, sum, words } = props;
  if (sum === undefined) return <Figure name={name}>0</Figure>;
  const { accountId: account, currency, change } = sum;
  return (
    <Figure name={name}>
      <span>
        <a href={changesPath(date, { account, currency, change })}>{words.count(sum.breaks)}</a>
        {currency === null ? null : <span> {signed(sum.moved, currency, words)}</span>}
      </span>
    </Figure>
  );
}

function signed(moved: string, currency: string | null, words: Words): string {
  const shown = words.amount(moved, currency);
  return moved.startsWith('-') ? shown : `+${shown}`;
}

function Rows(props: { rows: readonly ChangedBreak[]; clock: AgeClock; words: Words }) {
  const { rows, clock, words } = props;
  if (rows.length === 0) return <Empty>No break fits.</Empty>;
  return (
    <Table
      caption="Breaks that changed"
      class="lists rows"
      columns={[
        { head: 'Order' },
        { head: 'Account' },
        { head: 'What differs' },
        { head: 'Change' },
        { head: 'Before', isFigure: true },
        { head: 'After', isFigure: true },
        { head: 'Moved', isFigure: true },
        { head: 'Currency' },
        { head: 'Age (days)', isFigure: true },
        { head: 'Owner' },
        { head: 'By whom, why' },
      ]}
    >
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <OrderLink accountId={row.accountId} orderNo={row.orderNo} />
          </th>
          <td data-name="Account">{row.accountId}</td>
          <td class="line words">
            <a href={`/breaks/${row.breakId}`}>{labelOf(row.kind)}</a>
          </td>
          <td data-name="Change">{CHANGE_WORDS[row.change]}</td>
          <Figure name="Before">{words.amount(row.before, row.currency)}</Figure>
          <Figure name="After">{words.amount(row.after, row.currency)}</Figure>
          <Figure name="Moved">{signed(row.moved, row.currency, words)}</Figure>
          <td data-name="Currency">{row.currency ?? ''}</td>
          <Figure name="Age (days)">{words.count(ageInDays(row.firstSeen, clock))}</Figure>
          <td data-name="Owner">{row.owner ?? ''}</td>
          <td class="line words">
            {nameLabel(row.by, row.isClaim)}
            <span class="hint"> {whyOf(row, words)}</span>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function whyOf({ reason, cause, orderNo }: ChangedBreak, words: Words): string {
  return cause === null ? words.free(reason, [orderNo]) : causeLabel(cause);
}
