// What is told on the page of a day and counts, or happened, on another, order by order: who adds
// it up comes to what the day and its statement say of it.

import { countText } from '../../../core/text/amounts.js';
import type { LateMovement, Named } from '../../../days/daysStore.js';
import type { MovedRow } from '../../../days/movedRowsStore.js';
import type { Words } from '../../format.js';
import { Figure, OrderLink, Table } from '../../layout/parts.js';

type Moved = Pick<LateMovement, 'orderNo' | 'operation' | 'amount' | 'currency'>;

interface Props<Row> {
  moved: Named<Row>;
  account: string;
  words: Words;
}

/** Columns behind those that all have: head, and what stands there. */
type More<Row> = readonly (readonly [string, (row: Row) => string])[];

function Movements<Row extends Moved>(props: Props<Row> & { caption: string; more: More<Row> }) {
  const { account, words, caption, more } = props;
  const { rows, count } = props.moved;
  if (count === 0) return null;
  const first =
    rows.length < count ? `: the first ${countText(rows.length)} of ${countText(count)}` : '';
  return (
    <Table
      caption={caption + first}
      isCaptionSeen
      columns={[
        { head: 'Order' },
        { head: 'What' },
        { head: 'Amount', isFigure: true },
        { head: 'Currency' },
        ...more.map(([head]) => ({ head })),
      ]}
    >
      {rows.map((one) => (
        <tr>
          <th scope="row">
            <OrderLink accountId={account} orderNo={one.orderNo} />
          </th>
          <td>{one.operation}</td>
          <Figure>{words.amount(one.amount, one.currency)}</Figure>
          <td>{one.currency}</td>
          {more.map(([, of]) => (
            <td>{of(one)}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** What moved after the night of the day had ended. */
export function MovedRows(props: Props<MovedRow>) {
  return (
    <Movements
      {...props}
      caption="What moved after the night of this day had ended"
      more={[
        ['Known since', ({ at }) => props.words.at(at)],
        ['Counts on', ({ countsOn }) => countsOn],
      ]}
    />
  );
}

/** What became known on the day and belongs to an earlier one. */
export function LateRows(props: Props<LateMovement>) {
  return (
    <Movements
      {...props}
      caption="What became known here and belongs to an earlier, closed day"
      more={[['Belongs to', ({ belongsTo }) => belongsTo]]}
    />
  );
}
