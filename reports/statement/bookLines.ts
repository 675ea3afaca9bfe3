// The sheet under the part of the statement that goes on to the settlement: one line for each
// capture or refund that is not settled, or not as it was made. The figures of the statement are
// sums over these lines. Data; neighbours: statementBooks.ts (the sums),
// core/runs/statementBooks.ts (what the lines are).

import type { BookLine } from '../../src/core/runs/statementBooks.js';
import { bookWords } from '../../src/core/runs/statementBooks.js';
import type { Table } from '../column.js';
import { count, date, id, money, text } from '../column.js';
import { linked } from '../columns.js';

export const BOOK_LINES_NAME = 'Not settled';

export function bookLinesTable(address: string | null): Table<BookLine> {
  return {
    frozenColumns: 2,
    keep: ({ orderNo, transactionId, batch }) =>
      [orderNo, transactionId, batch].filter((one) => one !== null),
    columns: [
      id('account_id', 'Account', 12, (row) => row.accountId),
      id('order_no', 'Order', 20, (row) => row.orderNo),
      linked(
        id<BookLine>('break_id', 'Break', 9, (row) => row.breakId),
        address,
      ),
      text('item', 'Explained by', 34, (row) => row.item, { words: bookWords }),
      text('currency', 'Currency', 10, (row) => row.currency),
      money('captured', 'Captured, not settled', 16, (row) => row.captured),
      money('refunded', 'Refunded, not settled', 16, (row) => row.refunded),
      date('since', 'Since', 12, (row) => row.since),
      count('age_days', 'Age (days)', 10, (row) => row.ageDays),
      text('owner', 'Owner', 16, (row) => row.owner),
      id('batch', 'Batch', 16, (row) => row.batch),
      id('transaction_id', 'Transaction', 24, (row) => row.transactionId),
    ],
  };
}

export const BOOK_LINES = bookLinesTable(null);
