// The accounts of a night: their orders by class, their open breaks, and the money that was moved.

import type { AccountSummary } from '../../../core/runs/summary.js';
import { Figure, State, Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { MoneyConfirmed } from './moneyConfirmed.js';

export function Accounts({
  accounts,
  visit,
}: {
  accounts: readonly AccountSummary[];
  visit: Visit;
}) {
  const { words } = visit;
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">Accounts</h2>
      <Table
        caption="Orders of each account by class"
        class="lists"
        columns={[
          { head: 'Account' },
          { head: 'State' },
          ...CLASSES.map(([, head]) => ({ head, isFigure: true })),
          { head: 'Open breaks', isFigure: true },
        ]}
      >
        {accounts.map((one) => (
          <tr>
            <th scope="row">{one.accountId}</th>
            <td>
              <State state={one.state} />
            </td>
            {CLASSES.map(([key, head]) => (
              <Figure name={head}>{words.count(one.orders[key])}</Figure>
            ))}
            <Figure name="Open breaks">
              {visit.accounts.includes(one.accountId) ? (
                <a href={`/breaks?account=${encodeURIComponent(one.accountId)}`}>
                  {words.count(one.tie.openAfter)}
                </a>
              ) : (
                words.count(one.tie.openAfter)
              )}
            </Figure>
          </tr>
        ))}
      </Table>
      <p class="hint">
        As the night ended; the number of open breaks leads to those that are open now.
      </p>
      <MoneyConfirmed accounts={accounts} words={words} />
    </section>
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
