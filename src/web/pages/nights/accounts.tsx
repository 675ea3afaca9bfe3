// The accounts of a night: their orders by class, their open breaks, and the money that was moved.
// Of very many those with something to do come first, page by page, each leading to itself alone.

import { areMany } from '../../../core/accounts/alike.js';
import { shownState, toDoFirst, withoutOrders } from '../../../core/accounts/toDo.js';
import { moneyOf } from '../../../core/alertMessages.js';
import type { AccountSummary } from '../../../core/runs/summary.js';
import { countText } from '../../../core/text/amounts.js';
import type { ConsoleRun } from '../../../report/consoleRunsStore.js';
import { AccountFilter } from '../../layout/accountFilter.js';
import { pageOf } from '../../layout/many.js';
import { Figure, Pager, State, Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { MoneyConfirmed } from './moneyConfirmed.js';

const CAPTION = 'Orders of each account by class';

export function Accounts({ night, visit }: { night: ConsoleRun; visit: Visit }) {
  const accounts = night.summary?.accounts ?? [];
  const { words } = visit;
  const path = `/nights/${night.businessDate}`;
  const isMany = areMany(accounts);
  const told = night.summary ?? {};
  const rows = isMany ? toDoFirst(accounts, told) : accounts;
  const empty = withoutOrders(told);
  const { shown, at, pages } = pageOf(rows, visit.query, 'accounts');
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">Accounts</h2>
      {isMany ? <AccountFilter visit={visit} action={path} /> : null}
      <Table
        caption={CAPTION + (isMany ? ', those with something to do first' : '')}
        isCaptionSeen={isMany}
        class="lists"
        columns={[
          { head: 'Account' },
          { head: 'State' },
          ...CLASSES.map(([, head]) => ({ head, isFigure: true })),
          { head: 'Open breaks', isFigure: true },
        ]}
      >
        {shown.map((one) => (
          <Row
            {...{ one, visit }}
            path={isMany ? path : null}
            badge={shownState(one.state, empty.has(one.accountId))}
          />
        ))}
      </Table>
      <p class="hint">
        As the night ended; the number of open breaks leads to those that are open now.
      </p>
      <Pager at={at} pages={pages} to={(page) => `${path}?accounts=${page + 1}#accounts`} />
      <MoneyConfirmed accounts={isMany ? [togetherOf(accounts)] : accounts} words={words} />
    </section>
  );
}

/** The page of each account has its own money. */
function togetherOf(accounts: readonly AccountSummary[]) {
  const totals = moneyOf({ accounts: [...accounts] });
  return { accountId: `all ${countText(accounts.length)}`, totals };
}

function Row(props: {
  one: AccountSummary;
  path: string | null;
  badge: ReturnType<typeof shownState>;
  visit: Visit;
}) {
  const { one, path, badge, visit } = props;
  const { accountId } = one;
  const { words } = visit;
  const mayLook = visit.accounts.includes(accountId);
  const query = new URLSearchParams({ account: accountId });
  return (
    <tr>
      <th scope="row">
        {path !== null && mayLook ? <a href={`${path}?${query}`}>{accountId}</a> : accountId}
      </th>
      <td>
        <State {...badge} />
      </td>
      {CLASSES.map(([key, head]) => (
        <Figure name={head}>{words.count(one.orders[key])}</Figure>
      ))}
      <Figure name="Open breaks">
        {mayLook ? (
          <a href={`/breaks?${query}`}>{words.count(one.tie.openAfter)}</a>
        ) : (
          words.count(one.tie.openAfter)
        )}
      </Figure>
    </tr>
  );
}

const CLASSES = [
  ['matched', 'Matched'],
  ['explained', 'Explained'],
  ['due', 'Due'],
  ['awaited', 'Awaited'],
  ['broken', 'Differ'],
  ['notCompared', 'Not compared'],
] as const;
