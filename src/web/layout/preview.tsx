// What one press would do to many, before it is pressed: how many, how much money by currency and
// since when, of what is done and of what is left as it is, with the reason. The same for every
// decision over many.

import type { ComponentChildren } from 'preact';
import type { Words } from '../format.js';
import { MoneyOf, Table } from './parts.js';

export interface PreviewRow {
  what: ComponentChildren;
  count: number;
  money: Readonly<Record<string, string>>;
  /** rows of which nobody knows the amount */
  withoutAmount?: number;
  oldest: Date | null;
}

export function PreviewTable(props: { rows: readonly PreviewRow[]; words: Words }) {
  const { rows, words } = props;
  return (
    <Table
      caption="What would be done"
      class="cards"
      columns={[
        { head: 'What' },
        { head: 'How many', isFigure: true },
        { head: 'Money', isFigure: true },
        { head: 'Oldest' },
      ]}
    >
      {rows.map(({ what, count, money, withoutAmount = 0, oldest }) => (
        <tr>
          <th scope="row" class="words">
            {what}
          </th>
          <td class="figure" data-name="How many">
            {words.count(count)}
          </td>
          <td class="figure">
            <MoneyOf money={money} withoutAmount={withoutAmount} words={words} />
          </td>
          <td class="when" data-name="Oldest">
            {words.at(oldest)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
