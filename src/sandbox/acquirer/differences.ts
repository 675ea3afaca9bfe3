// What is wrong in a settlement file on purpose: lines that are missing, come twice, bear another
// amount or fee, or name what nobody captured; and chargebacks. Which transaction is spoilt, and
// how, is drawn from the seed and its number, so that the same file is spoilt alike whenever it is
// asked for. Neighbour: settlementFile.ts.

import type { Hundredths } from '../../core/money.js';
import { parseAmount } from '../../core/money.js';
import type { SandboxOrder, SandboxTransaction } from '../book/order.js';
import { hashText, mix } from '../seed/random.js';
import type { SettledLine } from './settledLine.js';
import { feeOf, isSettled } from './settledLine.js';

interface Spoilt {
  readonly order: SandboxOrder;
  readonly transaction: SandboxTransaction;
  /** It was moved since the sandbox was seeded: what it is now it was not always. */
  readonly isTouched: boolean;
  readonly seed: number;
}

/** Of 1,000 transactions. */
const SHARE = 3;
const CHARGEBACK_FEE: Hundredths = 1_500n;

type Spoil = (captured: SettledLine, lines: readonly SettledLine[]) => SettledLine[];

/** By name, in the order in which they are drawn; each spoils the line of the capture. */
const DIFFERENCES: Readonly<Record<string, Spoil>> = {
  'not settled': (captured, lines) => lines.filter((line) => line !== captured),
  'settled twice': (captured, lines) => [...lines, { ...captured, id: `${captured.id}-2` }],
  'another amount': (captured, lines) => [
    anotherAmount(captured, captured.amount + 100n),
    ...lines.filter((line) => line !== captured),
  ],
  'another fee': (captured, lines) => [
    { ...captured, fee: captured.fee + 100n },
    ...lines.filter((line) => line !== captured),
  ],
  'nobody knows it': (captured, lines) => [
    ...lines,
    {
      ...captured,
      id: `${captured.id}-X`,
      orderNo: `X${captured.orderNo}`,
      transactionId: `X${captured.transactionId}`,
      reference: `X${captured.reference}`,
    },
  ],
  'charged back': (captured, lines) => [
    ...lines,
    {
      ...captured,
      type: 'chargeback',
      id: `${captured.id}-B`,
      amount: -captured.amount,
      fee: CHARGEBACK_FEE,
    },
  ],
};

/** With the fee of that amount: one line differs in one way. */
function anotherAmount(line: SettledLine, amount: Hundredths): SettledLine {
  return { ...line, amount, fee: feeOf(amount, line.currency) };
}

/** The lines of a transaction as the spoilt file has them. */
export function plantedIn(spoilt: Spoilt, lines: readonly SettledLine[]): readonly SettledLine[] {
  const { order, transaction, isTouched, seed } = spoilt;
  const drawn = mix(seed, hashText(`${order.accountId} ${transaction.transactionId}`)) % 1_000;
  const kinds = Object.values(DIFFERENCES);
  const captured = lines.find(({ type }) => type === 'captured');
  if (captured === undefined) {
    const isDrawn = drawn < SHARE * kinds.length;
    return isDrawn && !isTouched ? neverCaptured(order, transaction) : lines;
  }
  const spoil = kinds[Math.floor(drawn / SHARE)];
  return spoil === undefined ? lines : spoil(captured, lines);
}

/** A declined payment that was settled all the same. */
function neverCaptured(order: SandboxOrder, transaction: SandboxTransaction): SettledLine[] {
  const amount = parseAmount(transaction.amount);
  if (transaction.state !== 'declined' || amount === null) return [];
  if (!isSettled(transaction.currency)) return [];
  const { transactionId, currency } = transaction;
  const id = `${transactionId}-C`;
  const at = new Date(transaction.at);
  const about = { accountId: order.accountId, orderNo: order.orderNo, transactionId };
  const fee = feeOf(amount, currency);
  return [{ ...about, type: 'captured', id, at, reference: id, currency, amount, fee }];
}
