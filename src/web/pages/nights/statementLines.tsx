// The lines that one item of the statement of a night is the sum of, as the newest workbook has
// them, in pages. It works nothing out: they were kept with the workbook, and where they do not
// come to what the statement says, the page says so. Neighbour: statement.tsx leads here.

import { MOVED_HEADINGS, writtenLinesTable } from '../../../../reports/statement/statementLines.js';
import { ageInDays } from '../../../core/breaks/breakAge.js';
import { BREAK_KINDS } from '../../../core/orders/verdict.js';
import { itemWords, UNEXPLAINED } from '../../../core/runs/statement.js';
import { countText } from '../../../core/text/amounts.js';
import type { SideText, WrittenLine, WrittenStatement } from '../../../report/statementStore.js';
import { statementsOfRun, writtenLines } from '../../../report/statementStore.js';
import type { Words } from '../../format.js';
import { Empty, Figure, OrderLink, Pager, Table } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { CSV_ROWS_MAX, CsvForm, csvAnswer } from '../csvLists.js';

/** Also of those of what is not settled. */
export const LINES_A_PAGE = 100;
const PAGES_MAX = 100_000;
/** As long as a gateway writes it. */
const CURRENCY_MAX = 64;

export function linesPath(
  date: string,
  { accountId, currency }: Pick<WrittenStatement, 'accountId' | 'currency'>,
  item: string,
): string {
  const query = new URLSearchParams({ account: accountId, currency, item });
  return `/nights/${date}/statement/lines?${query}`;
}

interface Named {
  date: string;
  account: string;
  item: string;
  one: WrittenStatement;
}

/** The item of a statement that the address names; whether that has it is not asked. */
export async function namedOf(visit: Visit): Promise<Named | null> {
  const { deps, params, query, accounts } = visit;
  const date = dateOf(params.date);
  const account = query.oneOf('account', accounts);
  const currency = query.text('currency', CURRENCY_MAX) ?? '';
  const item = query.text('item');
  if (date === null || account === null || item === null) return null;
  const statements = await statementsOfRun(deps.db, date, [account]);
  const one = statements.find((of) => of.currency === currency);
  return one === undefined ? null : { date, account, item, one };
}

async function askedOf(visit: Visit): Promise<(Named & { said: Said }) | null> {
  const named = await namedOf(visit);
  const said = named && figureOf(named.one, named.item);
  return named === null || said === null ? null : { ...named, said };
}

/** The page of the list that the address names, from 0. */
export function pageAt({ query }: Visit): number {
  return Math.max(0, (query.whole('page', PAGES_MAX) ?? 1) - 1);
}

/** The same lines as a file, by the columns of the sheet. */
export async function statementLinesCsv(visit: Visit): Promise<Answer> {
  const asked = await askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { date, account, item, one } = asked;
  const { accountId, currency } = one;
  const page = { limit: CSV_ROWS_MAX, offset: 0 };
  const { rows, sums } = await writtenLines(visit.deps.db, { ...one, item }, page);
  const clock = { at: one.asOf, timezone: visit.words.zone };
  return csvAnswer(visit, {
    name: `statement-${date}-r${one.revision}-${account}-${currency}-${item}`,
    subject: `statement ${date} revision ${one.revision}: ${account} ${currency} ${item}`,
    table: writtenLinesTable(rows.some(hasMoved)),
    rows: rows.map((row) => {
      const ageDays = row.since === null ? null : ageInDays(row.since, clock);
      return { ...row, accountId, currency, item, ageDays, transactionId: null };
    }),
    all: countText(sums.lines),
    isCut: sums.lines > rows.length,
    asOf: `revision ${one.revision} of the night of ${date}; owners are those of today`,
  });
}

export async function statementLinesPage(visit: Visit): Promise<Answer> {
  const { deps, words } = visit;
  const asked = await askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { date, account, item, one, said } = asked;
  const at = pageAt(visit);
  const page = { limit: LINES_A_PAGE, offset: at * LINES_A_PAGE };
  const { rows, sums } = await writtenLines(deps.db, { ...one, item }, page);
  const title = itemWords(item);
  const path = linesPath(date, one, item);
  const body = (
    <>
      <h1>{title}</h1>
      <LinesSentence one={one} sums={sums} words={words} />
      <Differing said={said} listed={sums} one={one} words={words} />
      <p class="hint">
        As the statement of {date} has them: revision {one.revision} of the workbook,{' '}
        {`checked at ${words.at(one.asOf)}.`} Owners are those of today.{' '}
        <a href={`/nights/${date}/statement`}>Back to the statement</a>
        <BreaksToday one={one} item={item} />
      </p>
      {rows.length === 0 ? (
        <Empty>There is no line here.</Empty>
      ) : (
        <Lines title={title} rows={rows} one={one} words={words} />
      )}
      {rows.length === 0 ? null : (
        <CsvForm
          visit={visit}
          path={`/nights/${date}/statement/lines.csv`}
          kept={{ account, currency: one.currency, item }}
        />
      )}
      <Pager
        at={at}
        pages={Math.ceil(sums.lines / LINES_A_PAGE)}
        to={(wanted) => `${path}&page=${wanted + 1}`}
      />
    </>
  );
  return { kind: 'page', title: `${title}: statement of ${date}`, section: 'Tonight', body };
}

/** How many lines there are, and what they come to. */
export function LinesSentence(props: {
  one: WrittenStatement;
  sums: SideText & { lines: number };
  words: Words;
}) {
  const { one, sums, words } = props;
  return (
    <p class="sentence" role="status">
      Account {one.accountId}: {words.count(sums.lines)}{' '}
      {sums.lines === 1 ? 'line comes' : 'lines come'} to {moneyOf(sums, one, words)}.
    </p>
  );
}

type Said = SideText & { lines: number | null };

/** What the statement says of the item; null: it has none of it. */
function figureOf({ items, unexplained }: WrittenStatement, item: string): Said | null {
  if (item === UNEXPLAINED) return { ...unexplained, lines: null };
  return items.find((one) => one.item === item) ?? null;
}

function moneyOf(
  { captured, refunded }: SideText,
  { currency }: WrittenStatement,
  words: Words,
): string {
  const amount = (sum: string): string => `${words.amount(sum, currency)} ${currency}`;
  return `captured ${amount(captured)} and refunded ${amount(refunded)}`;
}

/** It was written by a program that kept none, or its file was deleted for its age. */
const NOT_KEPT =
  'Its lines are not kept here: they stand on the sheet Statement lines of its workbook. A ' +
  'revision that is written anew has them here.';
const NOT_THE_SUM = 'These lines do not come to that: do not sign.';

/** `notKept`: where the lines stand of which none is kept. */
export function Differing(props: {
  said: Said;
  listed: SideText & { lines: number };
  one: WrittenStatement;
  words: Words;
  notKept?: string;
}) {
  const { said, listed, one, words, notKept = NOT_KEPT } = props;
  const isSame =
    (said.lines ?? listed.lines) === listed.lines &&
    said.captured === listed.captured &&
    said.refunded === listed.refunded;
  if (isSame) return null;
  return (
    <p class="problem" role="alert">
      The statement says {said.lines === null ? '' : `${words.count(said.lines)} lines, `}
      {moneyOf(said, one, words)}.{' '}
      {listed.lines === 0 && said.lines !== null ? notKept : NOT_THE_SUM}
    </p>
  );
}

/** Its breaks as they stand today, where it is a kind of break. */
function BreaksToday({ one, item }: { one: WrittenStatement; item: string }) {
  if (!BREAK_KINDS.some((kind) => kind === item)) return null;
  const { accountId: account, currency } = one;
  const query = new URLSearchParams({ account, kind: item, currency, state: 'any' });
  return (
    <>
      . <a href={`/breaks?${query}`}>All breaks of this kind as they stand today</a>
    </>
  );
}

function Lines(props: {
  title: string;
  rows: readonly WrittenLine[];
  one: WrittenStatement;
  words: Words;
}) {
  const { title, rows, one, words } = props;
  const { accountId, currency } = one;
  const isMarked = rows.some(hasMoved);
  const clock = { at: one.asOf, timezone: words.zone };
  const figure = (amount: string | null) => (
    <Figure>{amount === null ? '' : words.amount(amount, currency)}</Figure>
  );
  return (
    <Table
      caption={`Lines of the statement: ${title}, ${accountId} ${currency}`}
      class="lists rows"
      columns={[
        { head: 'Order' },
        { head: 'Break or instruction' },
        { head: 'Age (days)', isFigure: true },
        { head: 'Owner' },
        ...[
          ...['Ledger captured', 'Gateway captured', 'Captured, difference'],
          ...['Ledger refunded', 'Gateway refunded', 'Refunded, difference'],
          ...(isMarked ? Object.values(MOVED_HEADINGS) : []),
        ].map((head) => ({ head, isFigure: true })),
      ]}
    >
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <OrderLink accountId={accountId} orderNo={row.orderNo} />
          </th>
          <td>
            <Reason row={row} />
          </td>
          <Figure>{row.since === null ? '' : words.count(ageInDays(row.since, clock))}</Figure>
          <td>{row.owner ?? ''}</td>
          {figure(row.ledgerCaptured)}
          {figure(row.gatewayCaptured)}
          {figure(row.captured)}
          {figure(row.ledgerRefunded)}
          {figure(row.gatewayRefunded)}
          {figure(row.refunded)}
          {isMarked ? figure(row.movedCaptured ?? null) : null}
          {isMarked ? figure(row.movedRefunded ?? null) : null}
        </tr>
      ))}
    </Table>
  );
}

/** Of this day, after its night had ended: in columns of their own, as the workbook has them. */
function hasMoved({ movedCaptured = null, movedRefunded = null }: WrittenLine): boolean {
  return movedCaptured !== null || movedRefunded !== null;
}

function Reason({ row: { breakId, instructionId } }: { row: WrittenLine }) {
  if (breakId !== null) return <a href={`/breaks/${breakId}`}>Break {breakId}</a>;
  if (instructionId === null) return null;
  return <a href={`/instructions/${instructionId}`}>Instruction {instructionId}</a>;
}
