// What moved in a night, by account and currency, on the page of the night.

import { BETWEEN_NIGHTS } from '../../../core/runs/reporting.js';
import type { AccountSummary } from '../../../core/runs/summary.js';
import type { Words } from '../../format.js';
import { Figure, Table } from '../../layout/parts.js';

interface OfAccounts {
  accounts: readonly Pick<AccountSummary, 'accountId' | 'totals'>[];
  words: Words;
}

const MONEY = [
  ['captured', 'Captured'],
  ['refunded', 'Refunded'],
  ['net', 'Net'],
  ['cancelled', 'Cancelled'],
  ['unknown', 'Unknown'],
  ['paidOut', 'Payouts made'],
  ['payoutFees', 'Payout fees'],
] as const;

export function MoneyConfirmed({ accounts, words }: OfAccounts) {
  const hasFees = accounts.some(({ totals }) => totals.some((one) => one.payoutFees !== undefined));
  const columns = MONEY.filter(([key]) => hasFees || key !== 'payoutFees');
  return (
    <>
      <h2>Money confirmed in this run</h2>
      <Table
        caption="Money of each account and currency"
        class="lists"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          ...columns.map(([, head]) => ({ head, isFigure: true })),
        ]}
      >
        {accounts.flatMap((one) =>
          one.totals.map((total) => (
            <tr>
              <th scope="row">{one.accountId}</th>
              <td>{total.currency}</td>
              {columns.map(([key, head]) => (
                <Figure name={head}>{words.amount(total[key] ?? '0.00', total.currency)}</Figure>
              ))}
            </tr>
          )),
        )}
      </Table>
      <p class="hint">
        Net is captured less refunded; payouts are in no other column, and in none for as long as
        nobody has set whether the gateway writes their amounts in euros or in cents: what was asked
        for stands on the sheet Money moved. Unknown money is in no other column: nobody can say yet
        whether it moved. {BETWEEN_NIGHTS}
      </p>
    </>
  );
}
