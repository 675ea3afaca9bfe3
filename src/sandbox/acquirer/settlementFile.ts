// The acquirer's settlement file of the sandbox: what it captured and refunded, batch by batch, as
// CSV that docs/maps/sandbox-settlement.yaml reads. One batch an account, currency and day (UTC);
// its nets, payout included, come to nothing. What stands in a day that has ended stays as it is,
// so that the file of a later day repeats it line by line. Neighbours: differences.ts plants what
// shall not fit, inspect.ts answers with it.

import { formatAmount, type Hundredths, parseAmount } from '../../core/money.js';
import { allOrders } from '../book/book.js';
import type { SandboxOrder, SandboxTransaction } from '../book/order.js';
import type { Desk } from '../desk.js';
import { plantedIn } from './differences.js';
import type { SettledLine } from './settledLine.js';
import { feeOf, isSettled } from './settledLine.js';

const HEADER = 'Account,Batch,Line,Type,Booked,Order,Transaction,Reference,Currency,Amount,Fee,Net';

/** Everything that was captured or refunded by the end of a date, `YYYY-MM-DD` in UTC. */
export function* settlementFile(
  desk: Desk,
  { until, withDifferences }: { until: string; withDifferences: boolean },
): Generator<string> {
  const batches = new Map<string, SettledLine[]>();
  const moved = movedSince(desk);
  const { seed } = desk.book.plan.settings;
  for (const order of allOrders(desk.book)) {
    for (const transaction of order.transactions) {
      const lines = linesOf(order, transaction, moved);
      const isTouched = moved.has(keyOf(order.accountId, transaction.transactionId));
      const told = withDifferences
        ? plantedIn({ order, transaction, isTouched, seed }, lines)
        : lines;
      for (const line of told) putInto(batches, line, until);
    }
  }
  yield `${HEADER}\n`;
  for (const name of [...batches.keys()].sort()) yield* batchText(name, batches.get(name) ?? []);
}

interface Moves {
  capturedAt: string | null;
  refunds: { at: string; amount: Hundredths }[];
}

/** What was moved over the wire or by hand, by transaction; the seed knows the rest. */
function movedSince({ effects }: Desk): ReadonlyMap<string, Moves> {
  const moved = new Map<string, Moves>();
  for (const text of effects) {
    const effect = JSON.parse(text) as Record<string, string | undefined>;
    const key = keyOf(effect.account_id ?? '', effect.transaction_id ?? '');
    const known = moved.get(key) ?? { capturedAt: null, refunds: [] };
    if (effect.operation === 'capture') known.capturedAt = effect.at ?? null;
    if (effect.operation === 'refund') {
      const amount = parseAmount(effect.refund_amount ?? '') ?? 0n;
      known.refunds.push({ at: effect.at ?? '', amount });
    }
    moved.set(key, known);
  }
  return moved;
}

const TAKEN: ReadonlySet<string> = new Set(['captured', 'partially_refunded', 'refunded']);

function linesOf(
  order: SandboxOrder,
  transaction: SandboxTransaction,
  moved: ReadonlyMap<string, Moves>,
): SettledLine[] {
  const amount = parseAmount(transaction.amount);
  if (!TAKEN.has(transaction.state) || amount === null) return [];
  if (!isSettled(transaction.currency)) return [];
  const { capturedAt = null, refunds = [] } =
    moved.get(keyOf(order.accountId, transaction.transactionId)) ?? {};
  const of = (type: string, at: Date, money: Hundredths, reference: string): SettledLine => ({
    ...{ accountId: order.accountId, type, id: reference, at, orderNo: order.orderNo },
    ...{ transactionId: transaction.transactionId, reference, currency: transaction.currency },
    ...{ amount: money, fee: type === 'captured' ? feeOf(money, transaction.currency) : 0n },
  });
  const takenAt = capturedAt === null ? new Date(transaction.at) : new Date(capturedAt);
  const lines = [of('captured', takenAt, amount, `${transaction.transactionId}-C`)];
  const known = refunds.reduce((sum, refund) => sum + refund.amount, 0n);
  const before = transaction.refunded - known;
  if (before > 0n) lines.push(of('refunded', takenAt, -before, `${transaction.transactionId}-R`));
  for (const [at, refund] of refunds.entries()) {
    const count = transaction.refundCount - refunds.length + at + 1;
    const reference = `${transaction.transactionId}-${String(count).padStart(2, '0')}`;
    lines.push(of('refunded', new Date(refund.at), -refund.amount, reference));
  }
  return lines;
}

function putInto(batches: Map<string, SettledLine[]>, line: SettledLine, until: string): void {
  const day = line.at.toISOString().slice(0, 10);
  if (day > until) return;
  const name = `${line.accountId},SB-${day.replaceAll('-', '')}-${line.currency}`;
  const known = batches.get(name);
  if (known === undefined) batches.set(name, [line]);
  else known.push(line);
}

/** The lines of a batch and what closes it: a payout, or what is carried where more went back. */
function* batchText(name: string, lines: readonly SettledLine[]): Generator<string> {
  let sum = 0n;
  for (const line of lines) {
    const net = line.amount - line.fee;
    sum += net;
    yield lineText(name, { ...line, booked: line.at, net });
  }
  const [first] = lines;
  if (first === undefined || sum === 0n) return;
  const day = first.at.toISOString().slice(0, 10);
  const booked = new Date(`${day}T23:59:59Z`);
  const closing = { type: sum > 0n ? 'payout' : 'carried', amount: -sum, fee: 0n, net: -sum };
  const bare = { id: 'closing', orderNo: '', transactionId: '', reference: '' };
  yield lineText(name, { ...first, ...bare, ...closing, booked });
}

function lineText(
  name: string,
  line: Omit<SettledLine, 'at' | 'accountId'> & { booked: Date; net: Hundredths },
): string {
  const money = [line.amount, line.fee, line.net].map(formatAmount);
  const at = line.booked.toISOString().replace(/\.\d+Z$/, 'Z');
  const about = [line.orderNo, line.transactionId, line.reference].map(cell);
  return `${[name, cell(line.id), line.type, at, ...about, line.currency, ...money].join(',')}\n`;
}

/** An order that came over the wire may have any number. */
function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function keyOf(accountId: string, transactionId: string): string {
  return `${accountId} ${transactionId}`;
}
