// The columns of `tieout export outcomes`: those of the view tieout.outcomes, in its order and
// under its names (CONTRACT section 4). Programs of the shop read them, so nothing is altered.
// Neighbours: core/outcome.ts (the row), delimited.ts (the file).

import type { OutcomeRow } from '../src/core/outcome.js';
import type { Column, Table } from './columns.js';

const NARROW = 14;

export const OUTCOMES: Table<OutcomeRow> = {
  frozenColumns: 1,
  keep: () => [],
  columns: [
    {
      key: 'seq',
      heading: 'Number',
      width: NARROW,
      kind: 'count',
      read: (row) => Number(row.seq),
    },
    idColumn('account_id', 'Account', (row) => row.accountId),
    idColumn('order_no', 'Order', (row) => row.orderNo),
    idColumn('refund_id', 'Refund', (row) => row.refundId),
    idColumn('operation', 'Operation', (row) => row.operation),
    {
      key: 'amount',
      heading: 'Amount',
      width: NARROW,
      kind: 'money',
      read: (row) => row.amount,
      currency: (row) => row.currency,
    },
    idColumn('currency', 'Currency', (row) => row.currency),
    idColumn('state', 'State', (row) => row.state),
    idColumn('gateway_reference', 'Gateway reference', (row) => row.gatewayReference),
    { key: 'at', heading: 'At', width: NARROW, kind: 'instant', read: (row) => row.at },
  ],
};

function idColumn(
  key: string,
  heading: string,
  read: (row: OutcomeRow) => string | null,
): Column<OutcomeRow> {
  return { key, heading, width: NARROW, kind: 'id', read };
}
