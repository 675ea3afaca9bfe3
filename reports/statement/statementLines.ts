// The sheet under the statement: one line for each order of which both sides say different money,
// and by what it is explained. The figures of the statement are sums over these lines. Data and a
// plan of the sheet; neighbours: statementSheet.ts (the sums), core/runs/statement.ts (the lines).

import type { StatementLine } from '../../src/core/runs/statement.js';
import { itemWords } from '../../src/core/runs/statement.js';
import { orderPath } from '../../src/core/text/orderPath.js';
import type { Table } from '../column.js';
import { count, id, instant, money, text } from '../column.js';
import { linked } from '../columns.js';

export const LINES_NAME = 'Statement lines';

/** Of this day, after its night had ended: their sums are what the statement tells of it. */
export const MOVED_HEADINGS = {
  capture: 'Captured after the night',
  refund: 'Refunded after the night',
} as const;

const MOVED_COLUMNS = [
  money<StatementLine>(
    'moved_captured',
    MOVED_HEADINGS.capture,
    16,
    (row) => row.movedCaptured ?? null,
  ),
  money<StatementLine>(
    'moved_refunded',
    MOVED_HEADINGS.refund,
    16,
    (row) => row.movedRefunded ?? null,
  ),
];

/** `hasMoved`: money moved after the night, and stands in columns of its own. */
export function statementLinesTable(
  address: string | null,
  hasMoved = false,
): Table<StatementLine> {
  return {
    frozenColumns: 2,
    keep: (row) => [row.orderNo, ...(row.transactionId === null ? [] : [row.transactionId])],
    columns: [
      id('account_id', 'Account', 12, (row) => row.accountId),
      id(
        ...(['order_no', 'Order', 20] as const),
        (row) => row.orderNo,
        address === null ? {} : { link: (row) => address + orderPath(row.accountId, row.orderNo) },
      ),
      linked(
        id<StatementLine>('break_id', 'Break', 9, (row) => row.breakId),
        address,
      ),
      text('item', 'Explained by', 34, (row) => row.item, { words: itemWords }),
      text('currency', 'Currency', 10, (row) => row.currency),
      money('ledger_captured', 'Ledger captured', 16, (row) => row.ledgerCaptured),
      money('gateway_captured', 'Gateway captured', 16, (row) => row.gatewayCaptured),
      money('captured', 'Captured, gateway − ledger', 16, (row) => row.captured),
      money('ledger_refunded', 'Ledger refunded', 16, (row) => row.ledgerRefunded),
      money('gateway_refunded', 'Gateway refunded', 16, (row) => row.gatewayRefunded),
      money('refunded', 'Refunded, gateway − ledger', 16, (row) => row.refunded),
      instant('since', 'Since', 20, (row) => row.since),
      count('age_days', 'Age (days)', 10, (row) => row.ageDays),
      text('owner', 'Owner', 16, (row) => row.owner),
      id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
      ...(hasMoved ? MOVED_COLUMNS : []),
    ],
  };
}

const LINES = statementLinesTable(null);

export { LINES as STATEMENT_LINES };

/** As they are kept with a workbook. */
export function writtenLinesTable(hasMoved: boolean): Table<StatementLine> {
  const table = statementLinesTable(null, hasMoved);
  return { ...table, columns: table.columns.filter(({ key }) => key !== 'transaction_id') };
}
