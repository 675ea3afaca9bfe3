// The lines of what is not settled that one item of the statement of a night is the sum of, as the
// newest workbook has them, in pages. Neighbours: statement.tsx leads here, statementLines.tsx has
// the lines between ledger and gateway.

import { BOOK_LINES } from '../../../../reports/statement/bookLines.js';
import { daysBetween } from '../../../core/breaks/breakAge.js';
import { bookWords, isBookLine } from '../../../core/runs/statementBooks.js';
import { countText } from '../../../core/text/amounts.js';
import type { WrittenBookLine } from '../../../report/settlement/writtenBooksStore.js';
import { BOOK_LINES_MAX, writtenBookLines } from '../../../report/settlement/writtenBooksStore.js';
import type { WrittenStatement } from '../../../report/statementStore.js';
import { Empty, Figure, Name, OrderLink, Pager, Table } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { CSV_ROWS_MAX, CsvForm, csvAnswer } from '../csvLists.js';
import { BatchLink } from '../settlement/figures.js';
import { Differing, LINES_A_PAGE, LinesSentence, namedOf, pageAt } from './statementLines.js';

/** Null: what is settled is one sum, whose lines are those of the acquirer's files. */
export function bookLinesPath(
  date: string,
  { accountId, currency }: Pick<WrittenStatement, 'accountId' | 'currency'>,
  item: string,
): string | null {
  if (!isBookLine({ item })) return null;
  const query = new URLSearchParams({ account: accountId, currency, item });
  return `/nights/${date}/statement/books?${query}`;
}

async function askedOf(visit: Visit) {
  const named = await namedOf(visit);
  if (named === null || !isBookLine(named)) return null;
  const { bridge = [], other = [] } = named.one.books ?? {};
  const said = [...bridge, ...other].find(({ item }) => item === named.item);
  return said === undefined ? null : { ...named, said };
}

/** The same lines as a file, by the columns of the sheet. */
export async function bookLinesCsv(visit: Visit): Promise<Answer> {
  const asked = await askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { date, account: accountId, item, one } = asked;
  const { currency } = one;
  const page = { limit: CSV_ROWS_MAX, offset: 0 };
  const { rows, sums } = await writtenBookLines(visit.deps.db, { ...one, item }, page);
  return csvAnswer(visit, {
    name: `not-settled-${date}-r${one.revision}-${accountId}-${currency}-${item}`,
    subject: `not settled ${date} revision ${one.revision}: ${accountId} ${currency} ${item}`,
    table: BOOK_LINES,
    rows: rows.map((row) => {
      return { ...row, accountId, currency, item, lines: 1, ageDays: ageOf(row, date) };
    }),
    all: countText(sums.lines),
    isCut: sums.lines > rows.length,
    asOf: `revision ${one.revision} of the night of ${date}; owners are those of today`,
  });
}

function notKept(lines: number): string {
  return lines > BOOK_LINES_MAX
    ? `Lines of more than ${countText(BOOK_LINES_MAX)} stand on the sheet Not settled of its ` +
        'workbook alone.'
    : 'Its lines are not kept here: they stand on the sheet Not settled of its workbook. A ' +
        'revision that is written anew has them here.';
}

function ageOf({ since }: WrittenBookLine, date: string): number | null {
  return since === null ? null : daysBetween(since, date);
}

export async function bookLinesPage(visit: Visit): Promise<Answer> {
  const { deps, words } = visit;
  const asked = await askedOf(visit);
  if (asked === null) return NOT_FOUND;
  const { date, account, item, one, said } = asked;
  const at = pageAt(visit);
  const page = { limit: LINES_A_PAGE, offset: at * LINES_A_PAGE };
  const { rows, sums } = await writtenBookLines(deps.db, { ...one, item }, page);
  const title = bookWords(item);
  const body = (
    <>
      <h1>{title}</h1>
      <LinesSentence one={one} sums={sums} words={words} />
      <Differing {...{ said, one, words }} listed={sums} notKept={notKept(said.lines)} />
      <p class="hint">
        As the statement of {date} has them: revision {one.revision} of the workbook, ages at that
        date. Owners are those of today.{' '}
        <a href={`/nights/${date}/statement`}>Back to the statement</a>
      </p>
      {rows.length === 0 ? (
        <Empty>There is no line here.</Empty>
      ) : (
        <>
          <Lines rows={rows} of={{ title, date, one }} visit={visit} />
          <CsvForm
            visit={visit}
            path={`/nights/${date}/statement/books.csv`}
            kept={{ account, currency: one.currency, item }}
          />
        </>
      )}
      <Pager
        at={at}
        pages={Math.ceil(sums.lines / LINES_A_PAGE)}
        to={(wanted) => `${bookLinesPath(date, one, item)}&page=${wanted + 1}`}
      />
    </>
  );
  return { kind: 'page', title: `${title}: statement of ${date}`, section: 'Tonight', body };
}

function Lines(props: {
  rows: readonly WrittenBookLine[];
  of: { title: string; date: string; one: WrittenStatement };
  visit: Visit;
}) {
  const { rows, of, visit } = props;
  const { words } = visit;
  const { accountId, currency } = of.one;
  return (
    <Table
      caption={`Not settled: ${of.title}, ${accountId} ${currency}`}
      class="lists rows"
      columns={[
        { head: 'Order' },
        { head: 'Break' },
        { head: 'Since' },
        { head: 'Age (days)', isFigure: true },
        { head: 'Owner' },
        { head: 'Captured, not settled', isFigure: true },
        { head: 'Refunded, not settled', isFigure: true },
        { head: 'Batch' },
        { head: 'Transaction' },
      ]}
    >
      {rows.map((row) => {
        const age = ageOf(row, of.date);
        return (
          <tr>
            <th scope="row">
              {row.orderNo ? <OrderLink accountId={accountId} orderNo={row.orderNo} /> : 'no order'}
            </th>
            <td>
              {row.breakId === null ? null : (
                <a href={`/breaks/${row.breakId}`}>Break {row.breakId}</a>
              )}
            </td>
            <td>{row.since ?? ''}</td>
            <Figure>{age === null ? '' : words.count(age)}</Figure>
            <td>{row.owner ?? ''}</td>
            <Figure>{words.amount(row.captured, currency)}</Figure>
            <Figure>{words.amount(row.refunded, currency)}</Figure>
            <td>{row.batch ? <BatchLink accountId={accountId} batch={row.batch} /> : null}</td>
            <td>{row.transactionId ? <Name name={row.transactionId} /> : null}</td>
          </tr>
        );
      })}
    </Table>
  );
}
