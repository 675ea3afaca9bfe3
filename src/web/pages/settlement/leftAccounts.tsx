// What is not settled of accounts that left the configuration: apart from the books above it,
// for who may see these accounts; each sum leads to its rows. Neighbour: settlement.tsx.

import { accountsFor } from '../../../core/access.js';
import { byName } from '../../../core/accounts/alike.js';
import { counted } from '../../../core/text/amounts.js';
import { leftBooks } from '../../../settlement/leftBooks.js';
import type { SettlementRules } from '../../../settlement/settlement.js';
import { leftLines } from '../../../settlement/settlementWords.js';
import { Table } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { FigureLink } from './figures.js';

/** Rows that are shown; the sentences have the money of all of them. */
const ROWS_MAX = 50;

/** Null: there are none, or none that the reader may see. */
export async function leftSection({ deps, person, words }: Visit, rules: SettlementRules) {
  const found = await leftBooks(deps.db, rules, deps.accountIds);
  const ids = found.accounts.map(({ accountId }) => accountId);
  const seen = accountsFor('look', person.grants, ids);
  const accounts = found.accounts.filter(({ accountId }) => seen.includes(accountId));
  const oldest = found.oldest.filter(({ accountId }) => seen.includes(accountId));
  if (accounts.length === 0) return null;
  const rows = accounts
    .toSorted((one, other) => byName(one.accountId, other.accountId))
    .flatMap(({ accountId, atGateway }) => atGateway.map((row) => ({ accountId, ...row })));
  const [head = '', ...sentences] = leftLines({ accounts, oldest }, rules.times.from);
  return (
    <>
      <h2>Accounts that are not in the configuration any more</h2>
      <p>{head}</p>
      {sentences.map((sentence) => (
        <p class="sentence">{sentence}</p>
      ))}
      <Table
        caption={`What of them is not settled${
          rows.length > ROWS_MAX ? `: the first ${ROWS_MAX} of ${counted(rows.length, 'row')}` : ''
        }`}
        isCaptionSeen
        class="lists"
        columns={[
          { head: 'Account' },
          { head: 'Currency' },
          { head: 'Not settled yet', isFigure: true },
        ]}
      >
        {rows.slice(0, ROWS_MAX).map(({ accountId, currency, closing }) => (
          <tr>
            <th scope="row">{accountId}</th>
            <td>{currency}</td>
            <FigureLink
              of="open"
              name="Not settled yet"
              accountId={accountId}
              currency={currency}
              amount={closing}
              words={words}
            />
          </tr>
        ))}
      </Table>
      <p class="hint">
        No night looks for what is open of them, and a file with lines of these accounts is refused.
        Who runs tieout puts an account back under <code>accounts</code> (without{' '}
        <code>liveFrom</code> it is only observed) until it is settled.
      </p>
    </>
  );
}
