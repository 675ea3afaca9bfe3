// What is planted for the auditor's questions about a night beyond the money: did it end, do its
// figures equal the effects, was everybody told; and for databases that were put back, calls by hand
// and edited ledgers. Neighbour: auditor.test.ts, which plants them and has the others.

import type { Books, Row } from './soundBooks.js';
import { ACCOUNT, attempt, effect, instruction, MIDNIGHT } from './soundBooks.js';

/** What it is, the invariants that must cry out, and how sound books are spoilt. */
export type Planted = [string, readonly string[], (books: Books) => void];

export function rowOf(books: Books, table: string, at: number): Row {
  const row = books[table]?.[at];
  if (row === undefined) throw new Error(`${table} has no row ${at}`);
  return row;
}

export function add(books: Books, table: string, ...rows: Row[]): void {
  books[table]?.push(...rows);
}

export function editSummary(books: Books, change: (account: Row) => void): void {
  for (const table of ['runs', 'ends']) {
    const { accounts } = rowOf(books, table, 0).summary as { accounts: Row[] };
    const [account] = accounts;
    if (account !== undefined) change(account);
  }
}

/** What an earlier database knew: an instruction of order 1 or 3 and the attempt that sent it. */
export function forget(books: Books, row: Row): void {
  const id = String(row.id);
  const no = id.slice(1);
  const lost = { ...row, order_no: no, transaction_id: `T${no}` };
  const forgotten = { instructions: [lost], attempts: [attempt(id)] };
  Object.assign(books, { forgotten });
}

export const PLANTED_TOLD: readonly Planted[] = [
  [
    'a run without an end',
    ['I12'],
    (books) => {
      Object.assign(rowOf(books, 'runs', 0), { state: 'running', summary: null });
    },
  ],
  [
    'a run that failed and was never gone on with',
    ['I12'],
    (books) => {
      Object.assign(rowOf(books, 'runs', 0), { state: 'failed', summary: null });
    },
  ],
  [
    'an attempt that nobody classified',
    ['I12'],
    (books) => {
      rowOf(books, 'attempts', 0).outcome = null;
    },
  ],
  [
    'an instruction that stays queued, and an account that says it is finished',
    ['I12'],
    (books) => {
      add(books, 'instructions', { ...instruction('5', 'capture', 'queued'), order_no: '3' });
    },
  ],
  [
    'a night that says less than it did',
    ['I11', 'I13'],
    (books) => {
      editSummary(books, (account) => {
        account.totals = [
          { currency: 'EUR', captured: '0.00', cancelled: '0.00', refunded: '10.00' },
        ];
      });
    },
  ],
  [
    'a night that says nothing of a currency',
    ['I13'],
    (books) => {
      editSummary(books, (account) => {
        account.totals = [];
      });
    },
  ],
  [
    'a capture that counts in a later night than the one that knew it',
    ['I13'],
    (books) => {
      const last = books.events?.findLast(({ id }) => id === '1');
      Object.assign(last ?? {}, { moment: MIDNIGHT + 90 });
    },
  ],
  [
    'an effect that is unknown in a night that speaks of none',
    ['I13'],
    (books) => {
      editSummary(books, (account) => {
        account.instructions = {};
      });
    },
  ],
  [
    'a night that tied out with an open break',
    ['I14'],
    (books) => {
      editSummary(books, (account) => {
        account.state = 'tied_out';
      });
    },
  ],
  [
    'a refund whose request left the ledger',
    ['I14'],
    (books) => {
      books.requests = books.requests?.filter(({ refund_id }) => refund_id !== 'R2') ?? [];
    },
  ],
  [
    'a refund whose request was lowered after it was paid',
    ['I14'],
    (books) => {
      rowOf(books, 'requests', 0).refund_amount = '9.00';
    },
  ],
  [
    'a request for an order that the ledger lacks',
    ['I14'],
    (books) => {
      add(books, 'requests', {
        ...{ account_id: ACCOUNT, refund_id: 'R9', order_no: 'typo', refund_amount: '1.00' },
      });
    },
  ],
  [
    'an account that nobody names any more, with an unknown refund',
    ['I14'],
    (books) => {
      add(books, 'instructions', {
        ...instruction('6', 'refund', 'unknown', '1.00'),
        account_id: 'A2',
      });
    },
  ],
  [
    'a capture that a person had made with a call of tieout',
    ['I1'],
    (books) => {
      const called = { account_id: ACCOUNT, operation: 'capture', body_sha256: 'called' };
      add(books, 'calls', { ...called, called_at: '2026-01-01T22:59:59.000Z' });
      const before = { at: '2026-01-01T23:00:00.000Z' };
      books.effects?.unshift({ ...effect('1', 'capture', 'x0.called'), ...before });
    },
  ],
  [
    'a capture that a database forgot which was put back',
    ['I1'],
    (books) => {
      forget(books, instruction('L1', 'capture', 'confirmed'));
      add(books, 'effects', effect('1', 'capture', 'x8.bodyL1'));
    },
  ],
  [
    'a refund that a database forgot which was put back',
    ['I1'],
    (books) => {
      forget(books, { ...instruction('L3', 'refund', 'confirmed', '4.00'), refund_id: 'R3' });
      add(books, 'effects', effect('3', 'refund', 'x8.bodyL3', '4.00'));
    },
  ],
  [
    'a refund that the ledger did not ask for when it was claimed',
    ['I4'],
    (books) => {
      const rows = [{ at: MIDNIGHT - 86_400, sum: 3_99n }];
      Object.assign(books, { asked: new Map([[`${ACCOUNT} 3`, rows]]) });
    },
  ],
  [
    'a refund of a payment that was disputed, which nobody had seen',
    ['I16'],
    (books) => {
      disputeTheRefund(books, MIDNIGHT - 9);
    },
  ],
];

/** The dispute of the confirmed refund becomes known before its claim; a person approved it then. */
export function disputeTheRefund(books: Books, approved: number): void {
  const one = { account_id: ACCOUNT, dispute_id: 'D1', order_no: 'as the bank says' };
  books.disputed = [{ ...one, transaction_id: 'T2', stage: 'opened', at: MIDNIGHT - 5 }];
  books.approvals = [{ id: '2', approved }];
}
