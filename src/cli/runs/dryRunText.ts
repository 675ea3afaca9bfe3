// What a dry run would do, order by order: for a person, and as CSV for a program. That nothing of
// it was done is said where the list is read. Neighbour: runs/dryRunStore.ts finds it.

import type { Table } from '../../../reports/column.js';
import { id, money, text } from '../../../reports/column.js';
import { delimitedText } from '../../../reports/delimited.js';
import { reasonToWait } from '../../core/instructions/holdReasons.js';
import { instructionMoney } from '../../core/instructions/instruction.js';
import type { RunSummary, WouldDo } from '../../core/runs/summary.js';
import { countText } from '../../core/text/amounts.js';
import type { Line } from '../terminal.js';
import { columns } from '../terminal.js';

const NOTHING_DONE = 'DRY RUN: nothing was sent, nothing was kept.';

export function dryLines({ wouldDo }: RunSummary): Line[] {
  if (wouldDo === undefined) return [];
  const sent = wouldDo.filter(({ next }) => next === 'send');
  const waiting = wouldDo.filter(({ next }) => next === 'wait');
  return [
    '',
    `${NOTHING_DONE} A night would now`,
    ...listed('send', sent),
    ...listed('leave waiting for a person or a setting, with the reason', waiting),
    ...(wouldDo.length === 0 ? ['  do nothing: no order needs anything'] : []),
  ];
}

function listed(what: string, rows: readonly WouldDo[]): Line[] {
  if (rows.length === 0) return [];
  const lines = columns(rows.map(cellsOf), [AMOUNT]).map((line) => ['    ', line].flat());
  return [`  ${what} (${countText(rows.length)}):`, ...lines];
}

const AMOUNT = 4;

function cellsOf(row: WouldDo): string[] {
  const { accountId, operation, orderNo, refundId, reason } = row;
  const why = reason === null ? '' : reasonToWait('held', reason);
  return [accountId, operation, orderNo, refundId ?? '', instructionMoney(row), why];
}

const WOULD_DO: Table<WouldDo> = {
  columns: [
    id('account_id', 'Account', 12, (row) => row.accountId),
    id('operation', 'Operation', 10, (row) => row.operation),
    id('order_no', 'Order', 24, (row) => row.orderNo),
    id('refund_id', 'Refund', 24, (row) => row.refundId),
    // Of a payout in a unit that nobody has set no column says an amount.
    money('amount', 'Amount', 12, (row) => (row.isInTotals ? row.amount : null)),
    id('currency', 'Currency', 8, (row) => row.currency),
    id('next', 'Next', 8, (row) => row.next),
    text('reason', 'Reason', 30, (row) => row.reason),
    id('done', 'Done', 6, () => 'no'),
  ],
  keep: (row) => [row.orderNo],
  frozenColumns: 0,
};

export async function printWouldDo(rows: readonly WouldDo[]): Promise<void> {
  process.stderr.write(`${NOTHING_DONE}\n`);
  for await (const piece of delimitedText('csv', WOULD_DO, [rows])) process.stdout.write(piece);
}
