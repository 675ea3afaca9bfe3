// Breaks: the list with its filters, cut into pages by the database, and the page of one break with
// its whole life. The filters stand in the address, so that a list can be sent to a colleague.

import type { BreakFilter, BreakSort, FoundBreak } from '../../../breaks/breaksStore.js';
import {
  askedWaiver,
  BREAK_SORTS,
  breakChoices,
  breakLife,
  countUpTo,
  findBreaks,
} from '../../../breaks/breaksStore.js';
import { ageInDays } from '../../../core/breaks/breakAge.js';
import { dueDate, isOverdue } from '../../../core/breaks/dueDate.js';
import { eventLabels } from '../../../core/breaks/outcome.js';
import {
  breakDifference,
  breakSentence,
  namesIn,
  shownFields,
} from '../../../core/breaks/sentence.js';
import { batchOfBreak, isOfSettlement } from '../../../core/breaks/settlementSentence.js';
import { labelOf, labelStates } from '../../../core/text/labels.js';
import { shownBeside } from '../../../orders/historyStore.js';
import type { Words } from '../../format.js';
import type { Column } from '../../layout/parts.js';
import {
  Empty,
  Figure,
  FilterProblem,
  OrderLink,
  Pager,
  Pick,
  State,
  Table,
} from '../../layout/parts.js';
import { Said } from '../../layout/said.js';
import type { Direction } from '../../layout/sorting.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import type { Fields } from '../../visitor/fields.js';
import { rowIdOf } from '../../visitor/fields.js';
import { accountWords } from '../../visitor/filters.js';
import { CsvForm } from '../csvLists.js';
import { batchPath } from '../settlement/figures.js';
import type { WaitingWaiver } from './breakDecisions.js';
import { DecideBreaks, mayDecide, shownBreak } from './breakDecisions.js';
import { Filters } from './breakFilters.js';
import { ownersOf } from './breakOwners.js';
import type { Clock } from './breakQuery.js';
import { causeOf, causeWords, clockOf, filterOf, filterProblem, keptOf } from './breakQuery.js';
import { setLinks, Views } from './breakSets.js';
import { ShownEntries } from './shownBeside.js';

const ROWS_A_PAGE = 50;
/** A count stops here: "more than". */
const COUNTED_MAX = 10_000;
const PAGES_MAX = 20_000;

export async function breaksPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, query, words } = visit;
  const clock = clockOf(visit);
  const filter = filterOf(query, accounts, clock);
  const sort = query.oneOf<BreakSort>('sort', BREAK_SORTS) ?? 'age';
  const at = Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
  const [found, listed, choices, owners] = await Promise.all([
    countUpTo(deps.db, filter, COUNTED_MAX),
    // One more than a page tells whether there is a next one.
    findBreaks(deps.db, filter, { sort, offset: at * ROWS_A_PAGE, limit: ROWS_A_PAGE + 1 }),
    breakChoices(deps.db, accounts),
    ownersOf(visit),
  ]);
  const cause = causeOf(query);
  const problem = filterProblem(query, accounts);
  const rows = listed.slice(0, ROWS_A_PAGE);
  const pages =
    found > COUNTED_MAX
      ? { hasNext: listed.length > ROWS_A_PAGE }
      : { pages: Math.ceil(found / ROWS_A_PAGE) };
  const body = (
    <>
      <h1>Breaks</h1>
      <Views visit={visit} at={query.text('state') === 'waiver_asked' ? 'waivers' : 'list'} />
      <Filters visit={visit} choices={choices} />
      <FilterProblem words={problem} />
      <p class="sentence" role="status">
        {countWords(found, words)}
        {cause === null ? '' : ` Cause: ${causeWords(cause)}.`}
        {found === 0 || problem !== null
          ? null
          : setLinks(visit).map(({ href, label }) => (
              <>
                {' '}
                <a href={href}>{label}</a>
              </>
            ))}
      </p>
      {rows.length === 0 ? (
        <NoBreaks />
      ) : (
        <DecideBreaks visit={visit} owners={owners} rows={rows}>
          <BreakTable rows={rows} clock={clock} visit={visit} sort={sort} />
        </DecideBreaks>
      )}
      {rows.length === 0 ? null : (
        <CsvForm visit={visit} path="/breaks.csv" kept={{ ...keptOf(query), sort }} />
      )}
      <Pager
        at={at}
        {...pages}
        to={(page) => `/breaks?${addressOf(query, { page: String(page + 1) })}`}
      />
    </>
  );
  return { kind: 'page', title: 'Breaks', section: 'Breaks', body };
}

/** The same filters with another page, or from the first one in another order. */
function addressOf(query: Fields, more: { page: string } | { sort: BreakSort }): string {
  const kept = query.names().flatMap((name): [string, string][] => {
    const value = name === 'page' || name in more ? null : query.text(name);
    return value === null ? [] : [[name, value]];
  });
  return new URLSearchParams([...kept, ...Object.entries(more)]).toString();
}

function countWords(found: number, words: Words): string {
  if (found > COUNTED_MAX) return `More than ${words.count(COUNTED_MAX)} breaks.`;
  return found === 1 ? '1 break.' : `${words.count(found)} breaks.`;
}

function NoBreaks() {
  return (
    <Empty>
      No break fits. With no filter set that is good news: nothing is open.{' '}
      <a href="/breaks?state=any">Show every break there ever was</a>.
    </Empty>
  );
}

/** Amounts stand largest first, and age is that of the oldest. */
const ORDERS: Readonly<Record<BreakSort, Direction>> = {
  ...{ age: 'descending', amount: 'descending', order: 'ascending' },
  ...{ account: 'ascending', kind: 'ascending', owner: 'ascending' },
};

function columnsOf(query: Fields, sort: BreakSort): Column[] {
  const head = headsBy(sort, ORDERS, (by) => `/breaks?${addressOf(query, { sort: by })}`);
  return [
    { head: 'Pick' },
    head('Order', 'order'),
    head('Account', 'account'),
    head('What differs', 'kind'),
    { head: 'State' },
    head('At stake', 'amount', true),
    { head: 'Currency' },
    head('Age (days)', 'age', true),
    { head: 'Due' },
    head('Owner', 'owner'),
  ];
}

function BreakTable(props: {
  rows: readonly FoundBreak[];
  clock: Clock;
  visit: Visit;
  sort: BreakSort;
}) {
  const { rows, clock, visit, sort } = props;
  const { words, ticked } = visit;
  return (
    <Table caption="Breaks" class="lists rows" columns={columnsOf(visit.query, sort)}>
      {rows.map((row) => (
        <tr>
          <td>
            {mayDecide(visit, row) ? (
              <Pick
                id={shownBreak(row)}
                what={`${labelOf(row.kind)} of ${row.orderNo}`}
                ticked={ticked}
              />
            ) : null}
          </td>
          <th scope="row">
            <Place row={row} />
          </th>
          <td data-name="Account">{row.accountId}</td>
          <td class="line words">
            <a href={`/breaks/${row.breakId}`}>{labelOf(row.kind)}</a>
            <span class="hint">
              {' '}
              <Said text={sentenceOf(row)} />
            </span>
            {row.note === null ? null : (
              <span class="note">Note: {words.free(row.note, namesIn(row))}</span>
            )}
          </td>
          <td data-name="State">
            <State state={stateOf(row)} />
            <WaiverAsked row={row} words={words} />
          </td>
          <Figure name="At stake">{words.amount(row.stake, row.currency)}</Figure>
          <td data-name="Currency">{row.currency}</td>
          <Figure name="Age (days)">
            {words.count(ageInDays(row.firstSeen, { at: clock.now, timezone: words.zone }))}
          </Figure>
          <td data-name="Due">
            <Due one={row} clock={clock} />
          </td>
          <td data-name="Owner">{row.owner ?? ''}</td>
        </tr>
      ))}
    </Table>
  );
}

/** By when somebody has to act, while it is open. */
function Due({ one, clock }: { one: FoundBreak; clock: Clock }) {
  if (one.state !== 'open') return null;
  const due = <span class="due">{dueDate(one.firstSeen, clock.rule)}</span>;
  if (!isOverdue(one.firstSeen, clock.now, clock.rule)) return due;
  return <strong class="overdue">{due}, overdue</strong>;
}

/** Open, and a waiver waits for its second person: a state of its own to who looks. */
function stateOf({ state, waiverAskedBy }: FoundBreak): FoundBreak['state'] | 'waiver_asked' {
  return state === 'open' && waiverAskedBy !== null ? 'waiver_asked' : state;
}

async function waiverOf({ deps, words }: Visit, found: FoundBreak): Promise<WaitingWaiver | null> {
  const { waiverAskedBy: by, waiverAskedReason, stake: amount, currency } = found;
  if (by === null) return null;
  const asked = await askedWaiver(deps.db, found.breakId);
  const at = asked?.at ?? null;
  const counted = asked === null || asked.stake === amount ? null : asked.stake;
  const reason = words.free(waiverAskedReason, namesIn(found));
  return { by, at, reason, amount, currency, counted };
}

function WaiverAsked({ row, words }: { row: FoundBreak; words: Words }) {
  if (row.waiverAskedBy === null) return null;
  return (
    <span class="hint">
      {' '}
      waiver asked by {row.waiverAskedBy}: {words.free(row.waiverAskedReason, namesIn(row))}
    </span>
  );
}

/** The order that a break stands on, or the batch. */
function Place({ row }: { row: FoundBreak }) {
  const { accountId, orderNo } = row;
  const batch = batchOfBreak(row);
  if (batch === null) return <OrderLink accountId={accountId} orderNo={orderNo} />;
  return <a href={batchPath(accountId, batch)}>{orderNo}</a>;
}

export function sentenceOf({
  kind,
  expected,
  actual,
  settledRefunds,
  refused,
}: FoundBreak): string {
  return labelStates(breakSentence(kind, expected, actual, settledRefunds ?? [], refused));
}

export async function breakPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, words } = visit;
  const id = rowIdOf(visit.params.id);
  if (id === null) return NOT_FOUND;
  const filter: BreakFilter = { ids: [id.toString()], accountIds: accounts };
  const [found] = await findBreaks(deps.db, filter, { limit: 1, offset: 0 });
  if (found === undefined) return NOT_FOUND;
  const events = await breakLife(deps.db, found.breakId);
  const isOfOrder = batchOfBreak(found) === null;
  const shown = isOfOrder
    ? await shownBeside(deps.db, deps.config.gateway.profile, found.accountId, found.orderNo)
    : null;
  const body = (
    <>
      <h1>
        {labelOf(found.kind)} <State state={stateOf(found)} />
      </h1>
      <p class="sentence">
        {isOfOrder ? 'Order ' : ''}
        <Place row={found} /> of account {accountWords(visit, found.accountId)}:{' '}
        <Said text={sentenceOf(found)} />.
      </p>
      <p class="hint">
        First seen {words.at(found.firstSeen)},{' '}
        {agoText(ageInDays(found.firstSeen, { at: deps.now(), timezone: words.zone }), words)}.{' '}
        {found.state === 'open' ? 'Due ' : null}
        <Due one={found} clock={clockOf(visit)} />
        {found.state === 'open' ? '. ' : null}Owner: {found.owner ?? 'nobody yet'}. At stake:{' '}
        {found.stake === null
          ? 'no amount'
          : `${words.amount(found.stake, found.currency)} ${found.currency ?? ''}`}
        .
      </p>
      <Sides found={found} words={words} />
      <ShownEntries shown={shown} words={words} />
      <DecideBreaks
        visit={visit}
        owners={await ownersOf(visit, found.accountId)}
        rows={[found]}
        only={{ waiver: await waiverOf(visit, found) }}
      >
        <input type="hidden" name="id" value={shownBreak(found)} />
      </DecideBreaks>
      <Life events={events} found={found} words={words} />
    </>
  );
  return { kind: 'page', title: `Break of ${found.orderNo}`, section: 'Breaks', body };
}

function Life(props: {
  events: Awaited<ReturnType<typeof breakLife>>;
  found: FoundBreak;
  words: Words;
}) {
  const { events, found, words } = props;
  const labels = eventLabels(events);
  return (
    <>
      <h2>Its life, oldest first</h2>
      <Table
        caption="What happened to this break, oldest first"
        columns={[
          { head: 'When' },
          { head: 'What' },
          { head: 'By' },
          { head: 'Night' },
          { head: 'At stake', isFigure: true },
          { head: 'Reason' },
        ]}
      >
        {events.map((event, at) => (
          <tr>
            <th scope="row">{words.at(event.at)}</th>
            <td>{labels[at]}</td>
            <td>{event.by}</td>
            <td>{event.businessDate ?? ''}</td>
            <Figure>
              {event.amount === null
                ? ''
                : `${words.amount(event.amount, event.currency)} ${event.currency}`}
            </Figure>
            <td>{words.free(event.reason, namesIn(found))}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function agoText(days: number, words: Words): string {
  if (days === 0) return 'today';
  return days === 1 ? 'yesterday' : `${words.count(days)} days ago`;
}

const OF_ORDERS = ['Ledger', 'Gateway'] as const;
const OF_SETTLEMENT = ['Expected', 'Acquirer'] as const;

/** What each side says, field by field. */
function Sides({ found, words }: { found: FoundBreak; words: Words }) {
  const fields = shownFields(found.expected, found.actual);
  const [left, right] = isOfSettlement(found.kind) ? OF_SETTLEMENT : OF_ORDERS;
  const difference = breakDifference(found.kind, found.expected, found.actual);
  return (
    <>
      <h2>What each side says</h2>
      <Table
        caption={`${left} and ${right}, field by field`}
        columns={[{ head: 'Field' }, { head: left }, { head: right }]}
      >
        {fields.map(({ field, expected, actual, differs }) => (
          <tr class={differs ? 'differs' : undefined}>
            <th scope="row">{field}</th>
            <td>{sideText(expected, found, words)}</td>
            <td>{sideText(actual, found, words)}</td>
          </tr>
        ))}
      </Table>
      {difference === null ? null : (
        <p>
          Gateway less ledger:{' '}
          <strong class="figure">{words.amount(difference, found.currency)}</strong>{' '}
          {found.currency}
        </p>
      )}
    </>
  );
}

/** A transaction is no free text: the gateway gave it as an id. */
function sideText(value: string | null, found: FoundBreak, words: Words): string {
  return value === null ? '\u2013' : words.free(value, namesIn(found));
}
