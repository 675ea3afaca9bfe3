// What moved of an order, and what the acquirer settled of it, on the page of the order.

import { labelOf } from '../../../core/text/labels.js';
import type { OrderMoney } from '../../../orders/orderMoneyStore.js';
import { matchWords, settledWords } from '../../../orders/orderMoneyWords.js';
import type { Words } from '../../format.js';
import { Empty, Figure, Name, Table } from '../../layout/parts.js';
import { BatchLink } from './figures.js';

interface Props {
  account: string;
  money: OrderMoney;
  words: Words;
}

export function OrderSettlement(props: Props) {
  return (
    <section aria-labelledby="settlement">
      <h2 id="settlement">What became of the money</h2>
      <Movements {...props} />
      <Lines {...props} />
    </section>
  );
}

function Movements({ money, words }: Props) {
  if (money.movements.length === 0) return <Empty>Nothing of it has moved yet.</Empty>;
  return (
    <Table
      caption="Movements"
      isCaptionSeen
      columns={[
        { head: 'Business date' },
        { head: 'What' },
        { head: 'Amount', isFigure: true },
        { head: 'Transaction' },
        { head: 'Settled' },
      ]}
    >
      {money.movements.map((one) => (
        <tr>
          <th scope="row">{one.businessDate}</th>
          <td>
            {labelOf(one.kind)} {one.made}
          </td>
          <Figure>
            {one.amount === null ? 'in suspense' : words.amount(one.amount, one.currency)}{' '}
            {one.currency}
          </Figure>
          <td>
            <Name name={one.transaction} />
          </td>
          <td>{settledWords(one)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Lines({ account, money, words }: Props) {
  if (money.lines.length === 0) return <Empty>No settlement line names it yet.</Empty>;
  return (
    <Table
      caption="Settlement lines"
      isCaptionSeen
      columns={[
        { head: 'Batch' },
        { head: 'Booked' },
        { head: 'Type' },
        { head: 'Gross', isFigure: true },
        { head: 'Fee', isFigure: true },
        { head: 'Net', isFigure: true },
        { head: 'Settles' },
      ]}
    >
      {money.lines.map((line) => (
        <tr>
          <th scope="row">
            <BatchLink accountId={account} batch={line.batch} />
          </th>
          <td>{words.at(line.bookedAt)}</td>
          <td>{labelOf(line.type)}</td>
          <Figure>
            {words.amount(line.gross, line.settleCurrency)} {line.settleCurrency}
          </Figure>
          <Figure>{words.amount(line.fee, line.settleCurrency)}</Figure>
          <Figure>{words.amount(line.net, line.settleCurrency)}</Figure>
          <td>{matchWords(line)}</td>
        </tr>
      ))}
    </Table>
  );
}
