// The columns of `tieout export outcomes`: those of the view tieout.outcomes, in its order and
// under its names (docs/CONTRACT.md section 4). Programs of the shop read them, so nothing is
// altered. Neighbours: core/instructions/outcome.ts (the row), delimited.ts (the file).

import type { OutcomeRow } from '../src/core/instructions/outcome.js';
import type { Table } from './column.js';
import { count, id, instant, money } from './column.js';

const NARROW = 14;

export const OUTCOMES: Table<OutcomeRow> = {
  frozenColumns: 1,
  keep: () => [],
  columns: [
    count('seq', 'Number', NARROW, (row) => Number(row.seq)),
    id('account_id', 'Account', NARROW, (row) => row.accountId),
    id('order_no', 'Order', NARROW, (row) => row.orderNo),
    id('refund_id', 'Refund', NARROW, (row) => row.refundId),
    id('operation', 'Operation', NARROW, (row) => row.operation),
    money('amount', 'Amount', NARROW, (row) => row.amount),
    id('currency', 'Currency', NARROW, (row) => row.currency),
    id('state', 'State', NARROW, (row) => row.state),
    id('gateway_reference', 'Gateway reference', NARROW, (row) => row.gatewayReference),
    instant('at', 'At', NARROW, (row) => row.at),
  ],
};
