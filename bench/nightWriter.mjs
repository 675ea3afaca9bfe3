// Writes the workbook of an ordinary night and says how long it took: what a run waits for at its
// end beside the file of all orders. Run by reports.mjs as a process of its own.

import { writeReconciliation } from '../dist/reports/reconciliation.js';
import { BREAK_KINDS } from '../dist/src/core/orders/verdict.js';

const [path] = process.argv.slice(2);
const [BREAKS, MOVED, WAITING] = [100, 300, 30];
const AT = new Date('2026-11-20T03:16:02Z');
const about = {
  ...{ environment: 'test', businessDate: '2026-11-19', timezone: 'Europe/Berlin' },
  ...{ cutOff: '00:00', asOf: AT, createdAt: AT, revision: 1, previousRun: null },
  ...{ previousWorkbook: null, chainHead: '', versions: [], profileHash: '', inputsHash: '' },
  ...{ digests: {}, parameters: [] },
};

const seen = (of, n) => ({ binding: { of, id: `${n}`, last: '0', seen: '0'.repeat(64) } });
const breaks = Array.from({ length: BREAKS }, (_, n) => ({
  ...{ accountId: 'A1001', orderNo: `SO-${n}`, kind: BREAK_KINDS[n % BREAK_KINDS.length] },
  ...{ state: 'open', sentence: `the gateway captured ${n}.00 EUR, the ledger expects 1.00 EUR` },
  ...{ expected: 'captured 1.00 EUR', actual: `captured ${n}.00 EUR`, currency: 'EUR' },
  ...{ difference: `${n}.00`, ledgerAmount: '1.00', gatewayAmount: `${n}.00`, firstSeen: AT },
  ...{ ageDays: n % 100, due: '2026-11-25', isOverdue: n % 2 === 0, owner: null, note: null },
  ...{
    transactionId: `T${n}`,
    transactions: [`T${n}`],
    breakId: `${n}`,
    stake: `${n}.00`,
    opened: `${n}.00`,
  },
  ...seen('break', n),
}));
const movement = (state) => (_, n) => ({
  ...{ instructionId: `${n}`, accountId: 'A1001', orderNo: `SO-${n}`, refundId: null, state },
  ...{ operation: 'capture', currency: 'EUR', amount: '1.00', transactionId: `T${n}` },
  ...{ gatewayReference: null, refundReference: null, gatewayMessage: null, at: AT },
  ...{ payoutFee: null, feeCurrency: null },
  ...{ holdReason: state === 'held' ? 'approval' : null, disputes: null },
  ...(state === 'held' ? seen('instruction', n) : { binding: null }),
});
const changes = breaks.map(({ breakId, accountId, orderNo, kind, owner, stake, ...one }) => ({
  ...{ breakId, accountId, orderNo, kind, owner, currency: 'EUR', change: 'new', before: null },
  ...{ after: stake, moved: stake, firstSeen: one.firstSeen, ageDays: one.ageDays, at: AT },
  ...{ by: 'tieout', isClaim: false, reason: null, cause: null },
}));
const counts = { matched: 9000, explained: 0, due: 0, awaited: 0, broken: 0, notCompared: 0 };
const tie = { openBefore: 0, new: BREAKS, reopened: 0, waived: 0, resolved: 0, openAfter: BREAKS };
const perKind = Object.fromEntries(
  BREAK_KINDS.map((kind) => [kind, breaks.filter((one) => one.kind === kind).length]),
);
const zero = { cancelled: '0.00', refunded: '0.00', unknown: '0.00' };
const summary = {
  ...{ run: '2026-11-19', businessDate: '2026-11-19', covers: ['2026-11-19'] },
  ...{ asOf: AT.toISOString(), environment: 'test', state: 'broken', reports: [] },
  pull: { pages: 90, failedPages: 0, asked: 9000, answered: 9000, unanswered: 0, unasked: 0 },
  accounts: [
    {
      ...{ accountId: 'A1001', state: 'broken', breaks: perKind, notSearched: [], tie },
      ...{ orders: { ledger: 9000, strangers: 0, gateway: 9000, ...counts }, instructions: {} },
      totals: [{ currency: 'EUR', captured: `${MOVED}.00`, net: `${MOVED}.00`, ...zero }],
    },
  ],
};
const moved = Array.from({ length: MOVED }, movement('confirmed'));
const waiting = Array.from({ length: WAITING }, movement('held'));
const data = {
  ...{ secret: '0'.repeat(64), lines: () => [] },
  ...{ summary, about, currencies: [], elsewhere: [], coverage: [], movedAfter: [] },
  breaks: (kinds) => [breaks.filter(({ kind }) => kinds?.includes(kind) ?? true)],
  ...{ changes: () => [changes], openBefore: [], comparedWith: [] },
  moved: () => [moved],
  waiting: () => [waiting],
  ...{ tiesByKind: [], tiesByMoney: [] },
};

const from = performance.now();
const before = process.cpuUsage();
await writeReconciliation(path, data);
const { user, system } = process.cpuUsage(before);
const ms = performance.now() - from;
process.stdout.write(`${JSON.stringify({ ms, cpuMs: (user + system) / 1000 })}\n`);
