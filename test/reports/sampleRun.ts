// One night as data, for the report tests: two accounts, every section filled, and it ties.

import type { DayFigures } from '../../src/core/runs/businessDay.js';
import type {
  AboutData,
  BreakRow,
  ChangeRow,
  CurrencyRow,
  InstructionRow,
  OrderRow,
  ReconciliationData,
} from '../../src/core/runs/reporting.js';
import type { StatementLine } from '../../src/core/runs/statement.js';
import type { RunSummary } from '../../src/core/runs/summary.js';

export const ABOUT: AboutData = {
  environment: 'test',
  businessDate: '2026-11-19',
  timezone: 'Europe/Berlin',
  cutOff: '00:00',
  asOf: new Date('2026-11-20T03:16:02.000Z'),
  createdAt: new Date('2026-11-20T03:20:00.000Z'),
  revision: 1,
  previousRun: '2026-11-18',
  previousWorkbook: 'd'.repeat(64),
  chainHead: 'e'.repeat(64),
  versions: [['tieout', '0.1.0']],
  profileHash: 'a'.repeat(64),
  inputsHash: 'b'.repeat(64),
  digests: { summary: 'c'.repeat(64) },
  keepsSettlement: false,
  consoleAddress: null,
  parameters: [['graceHours', '24']],
};

export function breakRow(changes: Partial<BreakRow> = {}): BreakRow {
  return {
    breakId: '11',
    accountId: 'A1001',
    orderNo: 'ORD-1',
    kind: 'amount_mismatch',
    state: 'open',
    sentence: 'The ledger says 10.00 EUR, the gateway 9.50 EUR.',
    expected: '10.00',
    actual: '9.50',
    currency: 'EUR',
    difference: '-0.50',
    stake: '0.50',
    opened: '0.50',
    ledgerAmount: '10.00',
    ...{ gatewayAmount: '9.50', gatewayCurrency: 'EUR' },
    firstSeen: new Date('2026-11-18T22:30:00.000Z'),
    ageDays: 1,
    ...{ due: '2026-11-25', isOverdue: false },
    ...{ owner: null, note: null, waiverAskedBy: null, waiverAskedReason: null },
    transactionId: '10001',
    transactions: ['10001'],
    ...changes,
  };
}

export function changeRow(changes: Partial<ChangeRow> = {}): ChangeRow {
  return {
    ...{ breakId: '11', accountId: 'A1001', orderNo: 'ORD-1', kind: 'amount_mismatch' },
    ...{ owner: null, firstSeen: new Date('2026-11-18T22:30:00.000Z'), ageDays: 1 },
    ...{ currency: 'EUR', change: 'new', before: null, after: '0.50', moved: '10.00' },
    ...{ at: new Date('2026-11-20T03:16:02.000Z'), by: 'tieout', isClaim: false },
    ...{ reason: null, cause: null },
    ...changes,
  };
}

export function statementLine(changes: Partial<StatementLine> = {}): StatementLine {
  return {
    ...{ accountId: 'A1001', currency: 'EUR', orderNo: 'ORD-1', item: 'amount_mismatch' },
    ...{ breakId: '11', instructionId: null, owner: null, ageDays: 1 },
    ...{ since: new Date('2026-11-18T22:30:00.000Z'), transactionId: '10001' },
    ...{ ledgerCaptured: '10.00', gatewayCaptured: '9.50' },
    ...{ ledgerRefunded: null, gatewayRefunded: null, captured: '-0.50', refunded: '0.00' },
    ...changes,
  };
}

export function movementRow(changes: Partial<InstructionRow> = {}): InstructionRow {
  return {
    instructionId: '7',
    accountId: 'A1001',
    orderNo: 'ORD-2',
    refundId: null,
    operation: 'capture',
    state: 'confirmed',
    currency: 'EUR',
    amount: '100.10',
    transactionId: '10002',
    gatewayReference: 'ref-2',
    refundReference: 'rr-2',
    gatewayMessage: null,
    payoutFee: null,
    feeCurrency: null,
    at: new Date('2026-11-20T03:17:00.000Z'),
    holdReason: null,
    disputes: null,
    payout: null,
    ...changes,
  };
}

export function orderRow(changes: Partial<OrderRow> = {}): OrderRow {
  return {
    accountId: 'A1001',
    orderNo: 'ORD-1',
    class: 'matched',
    kinds: '',
    expected: 'captured',
    gatewayState: 'captured',
    paymentStatus: '3000',
    currency: 'EUR',
    ledgerAmount: '10.00',
    gatewayCurrency: changes.currency === undefined ? 'EUR' : changes.currency,
    gatewayAmount: '10.00',
    ledgerCaptured: '10.00',
    gatewayCaptured: '10.00',
    ledgerRefunded: null,
    gatewayRefunded: null,
    transactionId: '10001',
    transactionDate: '20261119120000',
    placedAt: new Date('2026-11-19T11:00:00.000Z'),
    ...changes,
  };
}

/** The books of a business day that rolls forward from nothing. */
export function dayRow(changes: Partial<DayFigures> = {}): DayFigures {
  return {
    ...{ accountId: 'A1001', businessDate: '2026-11-19', currency: 'EUR', state: 'open' },
    ...{ timezone: 'Europe/Berlin', cutOff: '00:00', runState: 'tied_out' },
    asOf: new Date('2026-11-20T03:16:02.000Z'),
    ...{ opening: '0.00', captured: '10.00', refunded: '4.00', adjustments: '-1.00' },
    ...{ closing: '5.00', cancelled: '2.00', cancelledLate: '0.00', paidOut: '3.00' },
    ...{ captures: 1, refunds: 1, cancels: 1, payouts: 1, late: 1 },
    ...changes,
  };
}

export function currencyRow(changes: Partial<CurrencyRow> = {}): CurrencyRow {
  return {
    accountId: 'A1001',
    currency: 'EUR',
    ofDate: 6,
    carried: 4,
    gatewayOnly: 1,
    atGateway: 10,
    classes: { matched: 6, explained: 0, due: 2, awaited: 1, broken: 2, notCompared: 0 },
    ledger: '1000.00',
    gateway: '990.00',
    money: {
      matched: '600.00',
      explained: '0.00',
      due: '200.00',
      awaited: '50.00',
      broken: '150.00',
      notCompared: '0.00',
    },
    ledgerCaptured: '900.00',
    ledgerRefunded: '30.00',
    gatewayCaptured: '699.50',
    gatewayRefunded: '10.00',
    ledgerCaptures: 9,
    gatewayCaptures: 7,
    ...changes,
  };
}

export function sampleSummary(): RunSummary {
  return {
    run: '2026-11-19',
    businessDate: '2026-11-19',
    covers: ['2026-11-18', '2026-11-19'],
    asOf: '2026-11-20T03:16:02Z',
    environment: 'test',
    state: 'broken',
    pull: { pages: 1, failedPages: 0, asked: 12, answered: 11, unanswered: 1, unasked: 0 },
    accounts: [
      {
        accountId: 'A1001',
        state: 'broken',
        orders: {
          ledger: 10,
          strangers: 1,
          gateway: 10,
          matched: 6,
          explained: 0,
          due: 2,
          awaited: 1,
          broken: 2,
          notCompared: 0,
        },
        breaks: { amount_mismatch: 1, missing_at_gateway: 1 },
        notSearched: ['missing_in_ledger'],
        tie: { openBefore: 3, new: 1, reopened: 0, waived: 0, resolved: 2, openAfter: 2 },
        instructions: { capture: { held: 1, confirmed: 2 }, refund: { confirmed: 1 } },
        totals: [
          {
            currency: 'EUR',
            captured: '300.30',
            cancelled: '0.00',
            refunded: '10.00',
            net: '290.30',
            unknown: '0.00',
          },
        ],
      },
      {
        accountId: '0010',
        state: 'tied_out',
        orders: {
          ledger: 1,
          strangers: 0,
          gateway: 1,
          matched: 1,
          explained: 0,
          due: 0,
          awaited: 0,
          broken: 0,
          notCompared: 0,
        },
        breaks: {},
        notSearched: [],
        tie: { openBefore: 0, new: 0, reopened: 0, waived: 0, resolved: 0, openAfter: 0 },
        instructions: {},
        totals: [
          {
            currency: 'JPY',
            captured: '5000.00',
            cancelled: '0.00',
            refunded: '0.00',
            net: '5000.00',
            unknown: '0.00',
          },
        ],
      },
    ],
    reports: [],
  };
}

/** The same night with its rows at hand. */
export type RunAtHand = Omit<
  ReconciliationData,
  'breaks' | 'changes' | 'lines' | 'moved' | 'waiting'
> & {
  breaks: readonly BreakRow[];
  changes: readonly ChangeRow[];
  lines: readonly StatementLine[];
  moved: readonly InstructionRow[];
  waiting: readonly InstructionRow[];
};

/** As the workbook takes it: rows in chunks of two. */
export function runOf({
  breaks,
  changes,
  lines,
  moved,
  waiting,
  ...night
}: RunAtHand): ReconciliationData {
  return {
    ...night,
    breaks: (kinds) => chunked(breaks.filter(({ kind }) => kinds?.includes(kind) ?? true)),
    changes: () => chunked(changes),
    lines: () => chunked(lines),
    moved: () => chunked(moved),
    waiting: () => chunked(waiting),
  };
}

async function* chunked<R>(rows: readonly R[]): AsyncGenerator<readonly R[]> {
  for (let at = 0; at < rows.length; at += 2) yield rows.slice(at, at + 2);
}

export function sampleRun(changes: Partial<RunAtHand> = {}): RunAtHand {
  return {
    summary: sampleSummary(),
    about: ABOUT,
    secret: 'f'.repeat(64),
    movedAfter: [],
    signings: new Map(),
    signedFigures: [],
    breaks: [
      breakRow(),
      breakRow({
        orderNo: 'ORD-9',
        kind: 'missing_at_gateway',
        currency: 'EUR',
        difference: null,
        stake: '10.00',
        opened: '10.00',
        note: 'asked the shop',
      }),
    ],
    changes: [
      changeRow({ orderNo: 'ORD-9', kind: 'missing_at_gateway', breakId: '12', after: '10.00' }),
      changeRow({ change: 'shrunk', before: '0.60', after: '0.50', moved: '-0.10' }),
      changeRow({
        orderNo: 'ORD-8',
        change: 'resolved',
        before: '9.50',
        after: null,
        moved: '-9.50',
      }),
    ],
    comparedWith: [{ accountId: 'A1001', businessDate: '2026-11-18', revision: 1 }],
    openBefore: [{ accountId: 'A1001', currency: 'EUR', breaks: 2, money: '10.10' }],
    lines: [
      statementLine(),
      statementLine({
        orderNo: 'ORD-9',
        item: 'missing_at_gateway',
        breakId: '12',
        gatewayCaptured: null,
        captured: '-10.00',
      }),
      statementLine({
        ...{ orderNo: 'ORD-6', item: 'held', breakId: null, ledgerCaptured: '190.00' },
        ...{ gatewayCaptured: null, captured: '-190.00', ledgerRefunded: '20.00' },
        refunded: '-20.00',
      }),
    ],
    moved: [
      movementRow(),
      movementRow({ orderNo: 'ORD-3', amount: '200.20' }),
      movementRow({ orderNo: 'ORD-4', operation: 'refund', refundId: 'R1', amount: '10.00' }),
      movementRow({ accountId: '0010', orderNo: 'ORD-5', currency: 'JPY', amount: '5000.00' }),
    ],
    waiting: [
      movementRow({ orderNo: 'ORD-6', state: 'held', holdReason: 'needs approval', at: null }),
      movementRow({ orderNo: 'ORD-7', state: 'held', operation: 'review', amount: null }),
    ],
    currencies: [
      currencyRow(),
      currencyRow({
        ...{ accountId: '0010', currency: 'JPY', ledgerCaptured: '5000.00' },
        ...{ gatewayCaptured: '5000.00', ledgerRefunded: '0.00', gatewayRefunded: '0.00' },
      }),
    ],
    elsewhere: [
      {
        accountId: 'A1001',
        currency: 'EUR',
        captured: '12.00',
        cancelled: '0.00',
        refunded: '3.50',
      },
    ],
    coverage: [
      [{ accountId: 'A1001', orderNo: 'ORD-8', page: 3, how: 'not answered', reason: '500' }],
    ],
    tiesByKind: [
      {
        accountId: 'A1001',
        kind: 'amount_mismatch',
        openBefore: 1,
        new: 1,
        reopened: 0,
        waived: 0,
        resolved: 1,
        openAfter: 1,
      },
    ],
    tiesByMoney: [
      {
        accountId: 'A1001',
        currency: 'EUR',
        openBefore: '20.10',
        new: '0.50',
        reopened: '0.00',
        waived: '0.00',
        resolved: '10.10',
        openAfter: '10.50',
      },
    ],
    ...changes,
  };
}
