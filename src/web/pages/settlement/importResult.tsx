// What an import of a settlement file says of itself, as tables: the refused lines, or the batches
// with what they come to. The same words as on the command line. Neighbour: upload.tsx shows them.

import { basename } from 'node:path';
import { labelOf } from '../../../core/text/labels.js';
import type { SettlementImport } from '../../../ledger/settlement/settlementResult.js';
import type { Words } from '../../format.js';
import { Figure, Table } from '../../layout/parts.js';
import { batchPath } from './figures.js';

type Refused = SettlementImport & { kind: 'refused' };
type Imported = SettlementImport & { kind: 'imported' };

export function Refusals({ result: { problems, more } }: { result: Refused }) {
  return (
    <>
      <p class="problem" role="status">
        Refused, nothing was taken: a file is taken whole or not at all.
        {more ? ` These are the first ${problems.length} problems, there may be more.` : ''}
      </p>
      <Table
        caption="What is refused"
        columns={[
          { head: 'Line', isFigure: true },
          { head: 'Column' },
          { head: 'Value' },
          { head: 'Reason' },
        ]}
      >
        {problems.map(({ file, line, column, value, reason }) => (
          <tr>
            <Figure>{line ?? basename(file)}</Figure>
            <td>{column ?? ''}</td>
            <td class="value">{value ?? ''}</td>
            <td>{reason}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

export function Taken({ result, words }: { result: Imported; words: Words }) {
  const { check, inserted, unchanged, batchCount, batches, warnings } = result;
  const rest = batchCount - batches.length;
  return (
    <>
      <p class="sentence" role="status">
        {check ? 'Checked, nothing was taken yet' : 'Taken'}: new lines {words.count(inserted)},
        known ones {words.count(unchanged)}, in {words.count(batchCount)} batches
        {rest > 0 ? `, of which the first ${words.count(batches.length)} are listed` : ''}.
      </p>
      {warnings.map((warning) => (
        <p class="hint">{words.free(warning)}</p>
      ))}
      <Table
        caption="Batches of the file"
        columns={[
          { head: 'Batch' },
          { head: 'Account' },
          { head: 'Lines', isFigure: true },
          { head: 'Pays out', isFigure: true },
          { head: 'Currency' },
          { head: 'Net by type' },
          { head: 'State' },
        ]}
      >
        {batches.map((one) => (
          <tr>
            <th scope="row">
              {check && one.fate === 'inserted' ? (
                one.batch
              ) : (
                <a href={batchPath(one.accountId, one.batch)}>{one.batch}</a>
              )}
            </th>
            <td>{one.accountId}</td>
            <Figure>{words.count(one.lines)}</Figure>
            <Figure>{words.amount(one.payout, one.currency)}</Figure>
            <td>{one.currency}</td>
            <td>
              {Object.entries(one.sums)
                .map(
                  ([type, sum]) =>
                    `${labelOf(type)} ${sum.lines}: ${words.amount(sum.net, one.currency)}`,
                )
                .join('; ')}
            </td>
            <td>{one.fate === 'inserted' ? 'new' : 'known, nothing changes'}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
