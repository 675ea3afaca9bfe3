// What moved after the night of a day had ended, order by order: who adds it up comes to what the
// day and its statement say of it.

import { countText } from '../../../core/text/amounts.js';
import type { Named } from '../../../days/daysStore.js';
import type { MovedRow } from '../../../days/movedRowsStore.js';
import type { Words } from '../../format.js';
import { Figure, OrderLink, Table } from '../../layout/parts.js';

export function MovedRows(props: { moved: Named<MovedRow>; account: string; words: Words }) {
  const { moved, account, words } = props;
  const { rows, count } = moved;
  if (count === 0) return null;
  const first =
    rows.length < count ? `: the first ${countText(rows.length)} of ${countText(count)}` : '';
  return (
    <Table
      caption={`What moved after the night of this day had ended${first}`}
      isCaptionSeen
      columns={[
        { head: 'Order' },
        { head: 'What' },
        { head: 'Amount', isFigure: true },
        { head: 'Currency' },
        { head: 'Known since' },
        { head: 'Counts on' },
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
          <td>{words.at(one.at)}</td>
          <td>{one.countsOn}</td>
        </tr>
      ))}
    </Table>
  );
}
