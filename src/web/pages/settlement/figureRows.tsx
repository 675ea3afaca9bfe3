// The rows that a figure of settlement is the sum of, in pages; what is open also by age. Which
// figure, account and currency stand in the address. Neighbour: settlement.tsx leads here.

import { FIGURE_LINES } from '../../../../reports/settlement/settlementColumns.js';
import { AGES } from '../../../core/breaks/breakAge.js';
import { openWords } from '../../../core/settlement/openWords.js';
import { countText } from '../../../core/text/amounts.js';
import { labelOf } from '../../../core/text/labels.js';
import { openPage } from '../../../settlement/openPage.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import type { FigureRow } from '../../../settlement/settlementPagesStore.js';
import {
  figureLines,
  LINE_FIGURES,
  movementRows,
} from '../../../settlement/settlementPagesStore.js';
import type { Column } from '../../layout/parts.js';
import { Empty, Figure, Name, OrderLink, Pager, Table } from '../../layout/parts.js';
import { headsBy } from '../../layout/sorting.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { CSV_ROWS_MAX, CsvForm, csvAnswer } from '../csvLists.js';
import type { FigureName } from './figures.js';
import { BackToSettlement, BatchLink, FIGURES, figurePath } from './figures.js';

const ROWS_A_PAGE = 100;
const PAGES_MAX = 100_000;
const NAMES = Object.keys(FIGURES) as FigureName[];

interface Asked {
  readonly of: FigureName;
  readonly accountId: string;
  readonly currency: string;
  readonly age: (typeof AGES)[number] | null;
  readonly at: number;
  readonly sort: RowSort;
}

function isOpenItems(of: FigureName): boolean {
  return of === 'open' || of === 'suspense' || of === 'paidOut';
}

/** Of what is open alone; the other figures stand newest first. */
const ROW_SORTS = ['age', 'amount'] as const;
type RowSort = (typeof ROW_SORTS)[number];

interface Rows {
  readonly rows: readonly FigureRow[];
  readonly found: number;
  readonly total: string;
  readonly ages?: Awaited<ReturnType<typeof openPage>>['ages'];
}

export async function figureRowsPage(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const asked = askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { of, accountId, currency, age, at, sort } = asked;
  const { words } = visit;
  const page = { limit: ROWS_A_PAGE, offset: at * ROWS_A_PAGE };
  const { rows, found, total, ages } = await rowsOf(visit, asked, rules, page);
  const path = figurePath(of, accountId, currency);
  const body = (
    <>
      <h1>{FIGURES[of]}</h1>
      <p class="sentence" role="status">
        Account {accountId}: {words.count(found)} {found === 1 ? 'row' : 'rows'}{' '}
        {of === 'suspense'
          ? `in ${currency}`
          : `${found === 1 ? 'comes' : 'come'} to ${words.amount(total, currency)} ${currency}`}
        {age === null ? '' : ` (${age.words})`}. <BackToSettlement visit={visit} />
      </p>
      {of === 'open' ? <p class="hint">{OPEN_ROWS}</p> : null}
      {ages === undefined ? null : (
        <Ages ages={ages} currency={currency} path={path} visit={visit} />
      )}
      {rows.length === 0 ? (
        <Empty>There is no such row.</Empty>
      ) : (
        <RowTable rows={rows} asked={asked} visit={visit} />
      )}
      {rows.length === 0 ? null : (
        <CsvForm
          visit={visit}
          path="/settlement/rows.csv"
          kept={{ account: accountId, currency, of, sort, ...(age && { age: age.name }) }}
        />
      )}
      <Pager
        at={at}
        pages={Math.ceil(found / ROWS_A_PAGE)}
        to={(page) => `${path}${ageOf(age)}&sort=${sort}&page=${page + 1}`}
      />
    </>
  );
  return { kind: 'page', title: FIGURES[of], section: 'Settlement', body };
}

/** More rows than the sentence on the page of settlement counts, which has the first kind alone. */
const OPEN_ROWS =
  'A row is a capture or refund without a settlement line, or settled with another amount, or a ' +
  'settled line that belongs to none. The first page of settlement counts those without a line.';

function ageOf(age: Asked['age']): string {
  return age === null ? '' : `&age=${encodeURIComponent(age.name)}`;
}

function askedOf({ query, accounts }: Visit): Asked | null {
  const of = query.oneOf('of', NAMES);
  const accountId = query.oneOf('account', accounts);
  const currency = query.text('currency', 3);
  if (of === null || accountId === null || currency === null) return null;
  const age = AGES.find(({ name }) => name === query.text('age')) ?? null;
  if (age === null && query.isGiven('age')) return null;
  return {
    of,
    accountId,
    currency,
    age,
    at: Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1),
    sort: query.oneOf<RowSort>('sort', ROW_SORTS) ?? 'age',
  };
}

/** The same rows as a file, in the order of the page. */
export async function figureRowsCsv(visit: Visit, rules: SettlementRules): Promise<Answer> {
  const asked = askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { of, accountId, currency, age } = asked;
  const { rows, found } = await rowsOf(visit, asked, rules, { limit: CSV_ROWS_MAX, offset: 0 });
  const ofAge = age === null ? '' : `, age ${age.name}`;
  return csvAnswer(visit, {
    name: `settlement-${of}-${accountId}-${currency}`,
    subject: `settlement ${of}: ${accountId} ${currency}${ofAge}`,
    table: FIGURE_LINES,
    rows: rows.map((row) => ({ ...row, accountId, currency })),
    all: countText(found),
    isCut: found > rows.length,
  });
}

async function rowsOf(
  visit: Visit,
  asked: Asked,
  { times }: SettlementRules,
  page: { limit: number; offset: number },
): Promise<Rows> {
  const { of } = asked;
  const { db } = visit.deps;
  const isLargestFirst = asked.sort === 'amount';
  if (isOpenItems(of)) {
    const book = of === 'paidOut' ? 'bank' : 'atGateway';
    const isInSuspense = of === 'suspense';
    const open = await openPage(
      db,
      { ...asked, ...page, isLargestFirst, isInSuspense, book, at: visit.deps.now() },
      times,
    );
    const { items, found, total, ages } = open;
    const rows = items.map((item) => ({
      ...{
        on: item.since,
        what: openWords(item),
        orderNo: item.orderNo,
        batch: item.batch,
        found,
        total,
      },
      ...{ transactionId: item.transactionId, amount: item.suspense ? null : item.amount },
    }));
    // of what nobody knows the amount of there is no sum by age
    return isInSuspense ? { rows, found, total } : { rows, found, total, ages };
  }
  const figure = LINE_FIGURES.find((name) => name === of);
  const rows =
    figure === undefined
      ? await movementRows(db, asked, of === 'refunded' ? 'refunded' : 'captured', page)
      : await figureLines(db, asked, figure, times, page);
  return { rows, found: rows[0]?.found ?? 0, total: rows[0]?.total ?? '0.00' };
}

function Ages(props: {
  ages: NonNullable<Rows['ages']>;
  currency: string;
  path: string;
  visit: Visit;
}) {
  const { words } = props.visit;
  return (
    <Table
      caption="By age"
      isCaptionSeen
      columns={[
        { head: 'Age' },
        { head: 'Items', isFigure: true },
        { head: 'Amount', isFigure: true },
      ]}
    >
      {props.ages.map(({ age, found, total }) => (
        <tr>
          <th scope="row">
            <a href={`${props.path}&age=${encodeURIComponent(age.name)}`}>{age.words}</a>
          </th>
          <Figure>{words.count(found)}</Figure>
          <Figure>{words.amount(total, props.currency)}</Figure>
        </tr>
      ))}
    </Table>
  );
}

function RowTable(props: { rows: readonly FigureRow[]; asked: Asked; visit: Visit }) {
  const { rows, asked, visit } = props;
  const { accountId, currency, of, sort } = asked;
  const path = `${figurePath(of, accountId, currency)}${ageOf(asked.age)}`;
  const by = headsBy(sort, { age: 'ascending', amount: 'descending' }, (one) => {
    return `${path}&sort=${one}`;
  });
  const head = (name: string, one: RowSort, isFigure = false): Column =>
    isOpenItems(of) ? by(name, one, isFigure) : { head: name, isFigure };
  return (
    <Table
      caption={FIGURES[asked.of]}
      columns={[
        head('Business date', 'age'),
        { head: 'What' },
        { head: 'Order' },
        { head: 'Transaction' },
        { head: 'Batch' },
        head(`Amount, ${currency}`, 'amount', true),
      ]}
    >
      {rows.map(({ on, what, orderNo, transactionId, batch, amount }) => (
        <tr>
          <th scope="row">{on}</th>
          <td>{labelOf(what)}</td>
          <td>{orderNo === null ? '' : <OrderLink accountId={accountId} orderNo={orderNo} />}</td>
          <td>
            <Name name={transactionId ?? ''} />
          </td>
          <td>{batch === null ? '' : <BatchLink accountId={accountId} batch={batch} />}</td>
          <Figure>
            {amount === null ? 'nobody knows yet' : visit.words.amount(amount, currency)}
          </Figure>
        </tr>
      ))}
    </Table>
  );
}
