// The settlement of very many accounts: a sentence a currency over all of them, then a row an
// account and currency, those with something overdue or an open break first, page by page; each
// leads to its account alone. Neighbour: settlement.tsx shows one in full.

import { byName } from '../../../core/accounts/alike.js';
import { addAmounts } from '../../../core/money.js';
import type { OldestOpen, SettlementDocument } from '../../../settlement/settlementStore.js';
import { currencySentences } from '../../../settlement/settlementWords.js';
import { AccountFilter } from '../../layout/accountFilter.js';
import { pageOf } from '../../layout/many.js';
import { Figure, Pager, Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { FigureLink } from './figures.js';

interface BookRow {
  accountId: string;
  currency: string;
  /** of the account, in whichever currency */
  breaks: number;
  overdue: number;
  suspense: number;
  notSettled: string;
  notPaidOut: string;
}

export function ManyBooks(props: {
  document: SettlementDocument;
  oldest: readonly OldestOpen[];
  from: string;
  visit: Visit;
}) {
  const { document, oldest, from, visit } = props;
  const { words } = visit;
  const rows = rowsOf(document, oldest).toSorted(lateFirst);
  const { shown, at, pages } = pageOf(rows, visit.query, 'accounts');
  return (
    <>
      {currencySentences(document, oldest, from).map((sentence) => (
        <p class="sentence">{sentence}</p>
      ))}
      <AccountFilter visit={visit} action="/settlement" />
      <Table
        caption="Books by account and currency, those with something overdue or an open break first"
        isCaptionSeen
        class="lists rows"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          { head: 'Not settled yet', isFigure: true },
          { head: 'In suspense', isFigure: true },
          { head: 'Overdue', isFigure: true },
          { head: 'Not paid out yet', isFigure: true },
          { head: 'Open breaks of settlement, by account', isFigure: true },
        ]}
      >
        {shown.map((row) => (
          <tr>
            <th scope="row">
              <a href={accountPath(row.accountId)}>{row.accountId}</a>
            </th>
            <td>{row.currency}</td>
            <FigureLink
              of="open"
              name="Not settled yet"
              accountId={row.accountId}
              currency={row.currency}
              amount={row.notSettled}
              words={words}
            />
            <Figure>{words.count(row.suspense)}</Figure>
            <Figure>{words.count(row.overdue)}</Figure>
            <Figure>
              <a href={`${accountPath(row.accountId)}#batches`}>
                {words.amount(row.notPaidOut, row.currency)}
              </a>
            </Figure>
            <Figure>{words.count(row.breaks)}</Figure>
          </tr>
        ))}
      </Table>
      <Pager at={at} pages={pages} to={(page) => `/settlement?accounts=${page + 1}`} />
    </>
  );
}

function accountPath(account: string): string {
  return `/settlement?${new URLSearchParams({ account })}`;
}

function rowsOf({ accounts }: SettlementDocument, oldest: readonly OldestOpen[]): BookRow[] {
  const overdue = new Map(
    oldest.map((one) => [`${one.accountId} ${one.currency}`, one.overdue] as const),
  );
  return accounts.flatMap(({ accountId, atGateway, payable, breaks }) => {
    const currencies = [...new Set([...atGateway, ...payable].map(({ currency }) => currency))];
    return currencies.sort().map((currency) => {
      const open = atGateway.find((one) => one.currency === currency);
      const paid = payable.filter((one) => one.currency === currency);
      return {
        ...{ accountId, currency, suspense: open?.suspense ?? 0 },
        breaks: Object.values(breaks).reduce((sum, count) => sum + count, 0),
        overdue: overdue.get(`${accountId} ${currency}`) ?? 0,
        notSettled: open?.closing ?? '0.00',
        notPaidOut: paid.map(({ closing }) => closing).reduce(addAmounts, '0.00'),
      };
    });
  });
}

function lateFirst(a: BookRow, b: BookRow): number {
  const isLate = ({ overdue, breaks }: BookRow) => Number(overdue + breaks > 0);
  return (
    isLate(b) - isLate(a) ||
    byName(a.accountId, b.accountId) ||
    a.currency.localeCompare(b.currency)
  );
}
