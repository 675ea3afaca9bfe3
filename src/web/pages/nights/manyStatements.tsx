// The statements of very many accounts and currencies: a row each, those that leave money
// unexplained first, page by page; each leads to the statement of its account alone. Neighbour:
// statement.tsx shows one in full.

import { byName } from '../../../core/accounts/alike.js';
import { isExplained, isNothing } from '../../../core/runs/statement.js';
import type { DayToSign } from '../../../days/shownDay.js';
import type { SideText, WrittenStatement } from '../../../report/statementStore.js';
import { AccountFilter } from '../../layout/accountFilter.js';
import { pageOf } from '../../layout/many.js';
import { Figure, Pager, Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { NotSigned } from '../days/signedBoxes.js';
import { ShortAnswer, statementPath } from '../days/signing.js';

interface StatementAndDay {
  one: WrittenStatement;
  day: DayToSign | undefined;
  /** what changed behind it since its day was closed */
  changed: string | null;
  isAsSigned: boolean;
}

export function ManyStatements(props: {
  rows: readonly StatementAndDay[];
  date: string;
  visit: Visit;
}) {
  const { rows, date, visit } = props;
  const { shown, at, pages } = pageOf(rows.toSorted(unexplainedFirst), visit.query, 'page');
  return (
    <>
      <AccountFilter visit={visit} action={statementPath(date)} />
      <Table
        caption="Statements by account and currency, those that leave money unexplained first"
        isCaptionSeen
        class="lists rows"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          { head: 'By the ledger', isFigure: true },
          { head: 'By the gateway', isFigure: true },
          { head: 'Unexplained', isFigure: true },
          { head: 'Prepared' },
          { head: 'Reviewed' },
          { head: 'Can be signed' },
        ]}
      >
        {shown.map((row) => (
          <Row row={row} date={date} visit={visit} />
        ))}
      </Table>
      <Pager at={at} pages={pages} to={(page) => `${statementPath(date)}?page=${page + 1}`} />
    </>
  );
}

function Row({ row, date, visit }: { row: StatementAndDay; date: string; visit: Visit }) {
  const { words } = visit;
  const { one, day, changed, isAsSigned } = row;
  const { accountId, currency, ledger, gateway, unexplained, signed } = one;
  const notYet = <NotSigned visit={visit} accountId={accountId} date={date} />;
  const by = (event: string) => signed.findLast((found) => found.event === event)?.by;
  const sides = ({ captured, refunded }: SideText) => (
    <Figure>
      <div>{words.amount(captured, currency)} captured</div>
      <div>{words.amount(refunded, currency)} refunded</div>
    </Figure>
  );
  return (
    <tr class={isExplained(one) ? undefined : 'differs'}>
      <th scope="row">
        <a href={statementPath(date, accountId)}>{accountId}</a>
      </th>
      <td>{currency}</td>
      {sides(ledger)}
      {sides(gateway)}
      {isExplained(one) ? (
        <Figure>{words.amount('0.00', currency)}</Figure>
      ) : isNothing(unexplained) ? (
        <Figure>in the settlement</Figure>
      ) : (
        sides(unexplained)
      )}
      <td>{by('closed') ?? notYet}</td>
      <td>{by('locked') ?? notYet}</td>
      <td class="words">
        <span>{day === undefined ? null : <ShortAnswer date={date} day={day} />}</span>
        {changed === null && isAsSigned ? null : <strong> Changed since it was signed.</strong>}
      </td>
    </tr>
  );
}

function unexplainedFirst(a: StatementAndDay, b: StatementAndDay): number {
  return (
    Number(isExplained(a.one)) - Number(isExplained(b.one)) ||
    byName(a.one.accountId, b.one.accountId) ||
    a.one.currency.localeCompare(b.one.currency)
  );
}
