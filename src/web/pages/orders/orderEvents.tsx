// What was seen changed of an order in the ledger, and what a person called by hand, on its page.

import { withZonedTimes } from '../../../core/text/zonedTimes.js';
import type { OrderHistory } from '../../../orders/historyStore.js';
import { calledByHand, changeWords } from '../../../orders/orderEventWords.js';
import type { Words } from '../../format.js';
import { Figure, Name, Table } from '../../layout/parts.js';

interface Props {
  history: OrderHistory;
  words: Words;
}

export function LedgerChanges({ history, words }: Props) {
  if (history.ledgerChanges.length === 0) return null;
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Seen changed in the ledger</h2>
      <ol class="timeline">
        {history.ledgerChanges.map((change) => (
          <li>
            <time>{words.at(String(change.at))}</time>{' '}
            {withZonedTimes(changeWords(change), words.zone)}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Beside the run: what tieout itself did stands among the instructions. */
export function ByHand({ history, words }: Props) {
  const called = calledByHand(history.calls);
  if (called.length === 0) return null;
  return (
    <section aria-labelledby="by-hand">
      <h2 id="by-hand">Called by hand</h2>
      <Table
        caption="What a person called at the gateway"
        columns={[
          { head: 'At' },
          { head: 'Operation' },
          { head: 'Amount', isFigure: true },
          { head: 'Transaction' },
          { head: 'By' },
          { head: 'End' },
        ]}
      >
        {called.map(({ at, operation, money, transaction, by, end }) => (
          <tr>
            <th scope="row">{words.at(at)}</th>
            <td>{operation}</td>
            <Figure>{money}</Figure>
            <td>{transaction === null ? '' : <Name name={transaction} />}</td>
            <td>{by}</td>
            <td>{withZonedTimes(end, words.zone)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
