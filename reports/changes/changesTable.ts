// The lines of the sheet 'Since the run before': each break that is new, reopened, grown, shrunk,
// waived or resolved, with its money before and now. Data; neighbours: changesSheet.ts (the sums
// above them), core/breaks/change.ts (the words).

import type { Change } from '../../src/core/breaks/change.js';
import { CHANGE_WORDS } from '../../src/core/breaks/change.js';
import { nameLabel } from '../../src/core/instructions/decider.js';
import type { ChangeRow } from '../../src/core/runs/reporting.js';
import { causeLabel, labelOf } from '../../src/core/text/labels.js';
import type { Table } from '../column.js';
import { count, id, instant, money, text } from '../column.js';
import { linked } from '../columns.js';

/** With the address of the console each number of a break leads to its page. */
export function changesTable(address: string | null): Table<ChangeRow> {
  return {
    frozenColumns: 2,
    keep: (row) => [row.orderNo],
    columns: [
      id('account_id', 'Account', 12, (row) => row.accountId),
      id('order_no', 'Order', 20, (row) => row.orderNo),
      linked(
        id<ChangeRow>('break_id', 'Break', 9, (row) => row.breakId),
        address,
      ),
      text('change', 'Change', 12, (row) => row.change, { rowWords: (row) => wordsOf(row.change) }),
      text('kind', 'What differs', 24, (row) => row.kind, { words: labelOf }),
      text('currency', 'Currency', 10, (row) => row.currency),
      money('before', 'Open before', 16, (row) => row.before),
      money('now', 'Open now', 16, (row) => row.after),
      money('moved', 'Moved', 16, (row) => (row.currency === null ? null : row.moved)),
      count('age_days', 'Age (days)', 10, (row) => row.ageDays),
      text('owner', 'Owner', 16, (row) => row.owner),
      text('by', 'By whom', 20, (row) => row.by, {
        rowWords: (row) => nameLabel(row.by, row.isClaim),
      }),
      text('why', 'Why', 40, (row) => row.reason, { rowWords: whyOf }),
      instant('at', 'At', 20, (row) => row.at),
    ],
  };
}

/** Without links: where its columns stand is the same. */
export const CHANGES_TABLE = changesTable(null);

function wordsOf(change: Change): string {
  return CHANGE_WORDS[change];
}

function whyOf({ cause, reason }: ChangeRow): string {
  return cause === null ? (reason ?? '') : causeLabel(cause);
}
