// The statement that one signs, as the newest workbook of a night has it: from the ledger to the
// gateway by account and currency, what is left unexplained, and who closed and locked the day on
// which revision. It works nothing out: the figures are those that were written.

import type { ComponentChildren } from 'preact';
import { areMany, firstNamed } from '../../../core/accounts/alike.js';
import { onPage } from '../../../core/runs/closingChecklist.js';
import { sinceSignedWords, statedWords } from '../../../core/runs/sinceClosed.js';
import { isExplained, isNothing, itemWords, UNEXPLAINED } from '../../../core/runs/statement.js';
import { bookWords } from '../../../core/runs/statementBooks.js';
import type { DayToSign } from '../../../days/shownDay.js';
import { daysToRead } from '../../../days/shownDay.js';
import type { SideText, WrittenStatement } from '../../../report/statementStore.js';
import { statementsOfRun } from '../../../report/statementStore.js';
import type { Words } from '../../format.js';
import { Empty, Figure, FilterProblem, Table } from '../../layout/parts.js';
import type { Answer, Visit } from '../../visit.js';
import { NOT_FOUND } from '../../visit.js';
import { dateOf } from '../../visitor/fields.js';
import { accountWords, chosenBy, seesConfigured } from '../../visitor/filters.js';
import { NotSigned, SignedBoxes } from '../days/signedBoxes.js';
import { DIFFERS } from '../days/signedFigures.js';
import { dayPath, MovedAfter, SigningOfAll, statementPath } from '../days/signing.js';
import { bookLinesPath } from './bookLines.js';
import { ManyStatements } from './manyStatements.js';
import { linesPath } from './statementLines.js';

export async function statementPage(visit: Visit): Promise<Answer> {
  const { deps, accounts, params, query, words } = visit;
  const date = dateOf(params.date);
  if (date === null) return NOT_FOUND;
  const account = query.oneOf('account', accounts);
  const { accountIds, problem } = chosenBy(visit, { account });
  // Days are signed of accounts that are configured; a statement stays of those that left.
  const configured = accountIds.filter((one) => deps.accountIds.includes(one));
  const [statements, days] = await Promise.all([
    statementsOfRun(deps.db, date, accountIds),
    daysToRead(deps.db, configured, date, visit.accountsFor('closeDays')),
  ]);
  const [first] = statements;
  const left = statements.filter((one) => !isExplained(one));
  const body = (
    <>
      <h1>
        Statement of {date}
        {account === null ? '' : `: account ${accountWords(visit, account)}`}
      </h1>
      <FilterProblem words={problem} />
      <p class="sentence" role="status">
        {first === undefined && problem === null ? noneWords(account) : null}
        {first !== undefined && left.length === 0
          ? 'Unexplained: 0.00 in every account and currency.'
          : null}
        {left.length > 0 ? `Unexplained money in ${namesOf(left)}: do not sign.` : null}
      </p>
      <SigningOfAll visit={visit} date={date} days={days} />
      {first === undefined ? (
        <NoStatement date={date} isAsked={problem === null} isOfAll={account === null} />
      ) : (
        <p class="hint">
          Revision {first.revision} of the workbook, checked at {words.at(first.asOf)}, written{' '}
          {words.at(first.writtenAt)}. Each item between ledger and gateway leads to the lines that
          it is the sum of, as they stand on the sheet Statement lines:{' '}
          <a href="/reports">reports</a>.{' '}
          {statements.some(({ books }) => books !== null) ? <ToBooks visit={visit} /> : null}
          {account === null ? null : (
            <>
              <a href={statementPath(date)}>The statement of all accounts</a> ·{' '}
            </>
          )}
          <a href={`/nights/${date}`}>Back to the night</a>
        </p>
      )}
      <Statements statements={statements} days={days} date={date} visit={visit} />
    </>
  );
  return { kind: 'page', title: `Statement of ${date}`, section: 'Tonight', body };
}

function ToBooks({ visit }: { visit: Visit }) {
  return (
    <>
      What is not settled leads to its lines, too, as on the sheet Not settled; what is settled has
      them under {seesConfigured(visit) ? <a href="/settlement">Settlement</a> : 'Settlement'}.{' '}
    </>
  );
}

function noneWords(account: string | null): string {
  return account === null
    ? 'There is no statement yet.'
    : `There is no statement of account ${account} in this night.`;
}

function NoStatement(props: { date: string; isAsked: boolean; isOfAll: boolean }) {
  const { date, isAsked, isOfAll } = props;
  return (
    <>
      {isAsked ? (
        <Empty>
          A night writes its statement with its workbook, when it ends, of each account that it
          looks at.
        </Empty>
      ) : null}
      {isAsked && isOfAll ? null : (
        <p>
          <a href={statementPath(date)}>The statement of all accounts</a>
        </p>
      )}
    </>
  );
}

function Statements(props: {
  statements: readonly WrittenStatement[];
  days: readonly DayToSign[];
  date: string;
  visit: Visit;
}) {
  const { statements, days, date, visit } = props;
  const rows = statements.map((one, at) => {
    const day = days.find(({ accountId }) => accountId === one.accountId);
    const changed = changedOn(day, statements, at);
    return { one, day, changed, isAsSigned: isAsSigned(one, day) };
  });
  if (areMany(rows)) return <ManyStatements rows={rows} date={date} visit={visit} />;
  return (
    <>
      {rows.map(({ one, day, ...row }, at) => (
        <OfAccount one={one} date={date} visit={visit} {...row}>
          <MovedAfter
            moved={onPage(day?.moved ?? [], statements, at)}
            isRemoved={day?.isRemoved ?? false}
            day={dayPath(one.accountId, date)}
          />
        </OfAccount>
      ))}
    </>
  );
}

/** What changed behind a page since its day was closed, and whether its figures have that. */
function changedOn(
  day: DayToSign | undefined,
  statements: readonly WrittenStatement[],
  at: number,
): string | null {
  if (!day?.since) return day?.changed ?? null;
  const since = { ...day.since, changes: onPage(day.since.changes, statements, at) };
  const words = sinceSignedWords(since);
  return words && `${words}. ${statedWords(since, statements[at]?.revision ?? 0, day.isRemoved)}`;
}

/** Of the figures that a day is signed on, as far as they are on record. */
function isAsSigned({ currency }: WrittenStatement, day: DayToSign | undefined): boolean {
  return !day?.signedOn.some(({ pages }) => pages?.some((page) => page.currency === currency));
}

function namesOf(statements: readonly WrittenStatement[]): string {
  const names = statements.map(({ accountId, currency }) => `${accountId} ${currency}`);
  return areMany(names) ? firstNamed(names) : names.join(', ');
}

function OfAccount(props: {
  one: WrittenStatement;
  date: string;
  visit: Visit;
  changed: string | null;
  isAsSigned: boolean;
  children: ComponentChildren;
}) {
  const { one, date, visit, changed, isAsSigned: isSame, children } = props;
  const { words } = visit;
  const { accountId, currency, ledger, gateway, items, unexplained } = one;
  const row = (what: ComponentChildren, sums: SideText, isLeft = false) => (
    <tr class={isLeft && !isNothing(sums) ? 'differs' : undefined}>
      <th scope="row" class="words">
        {what}
      </th>
      <td />
      <Figure name="Captured">{words.amount(sums.captured, currency)}</Figure>
      <Figure name="Refunded">{words.amount(sums.refunded, currency)}</Figure>
    </tr>
  );
  const left = isNothing(unexplained) ? (
    'Unexplained'
  ) : (
    <a href={linesPath(date, one, UNEXPLAINED)}>Unexplained</a>
  );
  return (
    <section aria-label={`Statement of ${accountId} in ${currency}`}>
      <h2>
        {accountWords(visit, accountId)}, {currency}
      </h2>
      <Table
        caption={`From the ledger to the gateway: ${accountId} ${currency}`}
        class="lists"
        columns={[
          { head: 'What' },
          { head: 'Lines', isFigure: true },
          { head: 'Captured', isFigure: true },
          { head: 'Refunded', isFigure: true },
        ]}
      >
        {row('By the ledger', ledger)}
        {items.map((item) => (
          <tr>
            <ItemCell to={linesPath(date, one, item.item)} item={item.item} />
            <Figure name="Lines">{words.count(item.lines)}</Figure>
            <Figure name="Captured">{words.amount(item.captured, currency)}</Figure>
            <Figure name="Refunded">{words.amount(item.refunded, currency)}</Figure>
          </tr>
        ))}
        {row('By the gateway', gateway)}
        {row(left, unexplained, true)}
      </Table>
      {one.books === null ? null : <Books one={one} books={one.books} date={date} words={words} />}
      {children}
      <Signed one={one} date={date} visit={visit} changed={changed} isAsSigned={isSame} />
    </section>
  );
}

/** Its words break where a window is narrow, though they are a link. */
function ItemCell({ to, item }: { to: string; item: string }) {
  return (
    <td>
      <span>
        <a href={to}>{itemWords(item)}</a>
      </span>
    </td>
  );
}

/** What became of the money that the gateway shows. */
function Books(props: {
  one: WrittenStatement;
  books: NonNullable<WrittenStatement['books']>;
  date: string;
  words: Words;
}) {
  const { one, books, date, words } = props;
  const { accountId, currency } = one;
  const row = (
    what: string,
    { lines, captured, refunded }: { lines?: number; captured: string; refunded: string },
    { isLeft = false, to = null }: { isLeft?: boolean; to?: string | null } = {},
  ) => (
    <tr class={isLeft && !isNothing({ captured, refunded }) ? 'differs' : undefined}>
      <th scope="row" class="words">
        {to === null ? what : <a href={to}>{what}</a>}
      </th>
      {lines === undefined ? <td /> : <Figure name="Number">{words.count(lines)}</Figure>}
      <Figure name="Captured">{words.amount(captured, currency)}</Figure>
      <Figure name="Refunded">{words.amount(refunded, currency)}</Figure>
    </tr>
  );
  const listed = (item: (typeof books.bridge)[number]) =>
    row(bookWords(item.item), item, { to: bookLinesPath(date, one, item.item) });
  return (
    <>
      <h3>Settlement, books kept since {books.from}</h3>
      <Table
        caption={`From the gateway to the settlement: ${accountId} ${currency}`}
        class="lists"
        columns={[
          { head: 'What' },
          { head: 'Number', isFigure: true },
          { head: 'Captured', isFigure: true },
          { head: 'Refunded', isFigure: true },
        ]}
      >
        {row('By the gateway', one.gateway)}
        {books.bridge.map(listed)}
        {row('Unexplained', books.unexplained, { isLeft: true })}
        {books.other.map(listed)}
        {row('At the gateway, not settled: the closing of the settlement', books.closing)}
      </Table>
    </>
  );
}

function Signed(props: {
  one: WrittenStatement;
  date: string;
  visit: Visit;
  changed: string | null;
  isAsSigned: boolean;
}) {
  const { one, date, visit, changed, isAsSigned: isSame } = props;
  const day = dayPath(one.accountId, date);
  const notYet = <NotSigned visit={visit} accountId={one.accountId} date={date} />;
  return (
    <>
      <SignedBoxes signed={one.signed} words={visit.words} notYet={notYet} />
      {visit.deps.accountIds.includes(one.accountId) ? null : (
        <p>
          <a href={day}>The day of {one.accountId}</a>
        </p>
      )}
      {changed === null ? null : (
        <p class="problem" role="alert">
          What is behind this page has changed since the day was closed: {changed}.
        </p>
      )}
      {isSame ? null : (
        <p class="problem" role="alert">
          What was signed has changed: this revision says other figures than the one that the day
          was closed on. <a href={`${day}#${DIFFERS}`}>What differs</a>
        </p>
      )}
    </>
  );
}
