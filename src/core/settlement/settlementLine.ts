// One line of the acquirer's settlement file, checked (docs/CONTRACT.md section 9): which columns
// it has, what each may hold, and the arithmetic of a line. Amounts are from the merchant's side:
// what comes in is above 0. Pure, and never repairs a value. Neighbours: core/ledger/ledgerRow.ts
// has the shapes it shares with the ledger; ledger/settlement/ reads the files and judges whole
// batches.

import type { CurrencyDecimals } from '../currency.js';
import { checkSignedAmount, currencyProblem } from '../currency.js';
import type { Column, RawLine, RowCheck } from '../ledger/ledgerRow.js';
import { checking, identifier, instant, oneOf, present, Refusal } from '../ledger/ledgerRow.js';
import type { Hundredths } from '../money.js';
import { formatAmount } from '../money.js';

/** What a line says of the money. */
export const LINE_TYPES = [
  'captured',
  'refunded',
  'chargeback',
  'chargeback_reversed',
  'fee',
  'reserve',
  'carried',
  'adjustment',
  'payout',
] as const;
type LineType = (typeof LINE_TYPES)[number];

export const SETTLEMENT_COLUMNS: readonly Column[] = [
  { name: 'account_id', nullable: false },
  { name: 'batch', nullable: false },
  { name: 'type', nullable: false },
  { name: 'booked_at', nullable: false },
  { name: 'currency', nullable: true },
  { name: 'amount', nullable: true },
  { name: 'net', nullable: false },
  { name: 'line_id', nullable: true },
  { name: 'order_no', nullable: true },
  { name: 'transaction_id', nullable: true },
  { name: 'reference', nullable: true },
  { name: 'settle_currency', nullable: true },
  { name: 'gross', nullable: true },
  { name: 'fee', nullable: true },
];

/** A line as it is kept; in settle_currency are gross, fee and net. */
export interface SettlementLine {
  readonly accountId: string;
  readonly batch: string;
  readonly lineId: string | null;
  readonly type: LineType;
  readonly bookedAt: string;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  readonly reference: string | null;
  readonly currency: string;
  readonly amount: Hundredths;
  readonly settleCurrency: string;
  readonly gross: Hundredths;
  readonly fee: Hundredths;
  readonly net: Hundredths;
}

/** Lines of these types name what the order was charged, in the order's currency. */
const OF_AN_ORDER: readonly LineType[] = [
  'captured',
  'refunded',
  'chargeback',
  'chargeback_reversed',
];
/** Where the currencies are equal, what the acquirer counts is what the order was charged. */
const GROSS_IS_AMOUNT: readonly LineType[] = ['captured', 'refunded', 'chargeback'];

const SIGNS: Readonly<Partial<Record<LineType, { above: boolean; reason: string }>>> = {
  captured: { above: true, reason: 'what was captured comes in: must be above 0' },
  refunded: { above: false, reason: 'what was refunded goes out: must be below 0' },
  chargeback: { above: false, reason: 'what was taken back goes out: must be below 0' },
  chargeback_reversed: { above: true, reason: 'what was reversed comes back in: must be above 0' },
  payout: {
    above: false,
    reason: "a payout leaves the acquirer's account for ours: must be below 0 (negate in the map?)",
  },
};

export function checkSettlementLine(
  line: RawLine,
  currencies: CurrencyDecimals,
): RowCheck<SettlementLine> {
  return checking(() => {
    const type = oneOf<LineType>(line, 'type', LINE_TYPES);
    const money = moneyOf(line, type, currencies);
    return {
      accountId: identifier(line, 'account_id'),
      batch: identifier(line, 'batch'),
      lineId: optional(line, 'line_id'),
      type,
      bookedAt: instant(line, 'booked_at'),
      orderNo: optional(line, 'order_no'),
      transactionId: optional(line, 'transaction_id'),
      reference: optional(line, 'reference'),
      ...money,
    };
  });
}

type Money = Pick<
  SettlementLine,
  'currency' | 'amount' | 'settleCurrency' | 'gross' | 'fee' | 'net'
>;

function moneyOf(line: RawLine, type: LineType, currencies: CurrencyDecimals): Money {
  const ofOrder = OF_AN_ORDER.includes(type);
  // A fee or a payout is nothing that an order was charged: its line may say the money once.
  const settling = present(line, 'settle_currency') ? 'settle_currency' : 'currency';
  const charging = ofOrder || present(line, 'currency') ? 'currency' : settling;
  const settleCurrency = currencyOf(line, settling, currencies);
  const currency = charging === settling ? settleCurrency : currencyOf(line, charging, currencies);
  const read = (column: string, of: string): Hundredths => amountOf(line, column, of, currencies);
  const net = read('net', settleCurrency);
  const fee = present(line, 'fee') ? read('fee', settleCurrency) : 0n;
  const gross = present(line, 'gross') ? read('gross', settleCurrency) : net + fee;
  const amount = ofOrder || present(line, 'amount') ? read('amount', currency) : gross;
  const money = { currency, amount, settleCurrency, gross, fee, net };
  requireSigns(line, type, money);
  requireArithmetic(line, type, money);
  return money;
}

function requireSigns(line: RawLine, type: LineType, { amount, gross, net }: Money): void {
  const sign = SIGNS[type];
  if (sign === undefined) return;
  const fits = (value: Hundredths): boolean => (sign.above ? value > 0n : value < 0n);
  if (!fits(amount)) {
    // Of a payout it may be empty, and is then what its net says.
    const column = present(line, 'amount') ? 'amount' : 'net';
    throw new Refusal(column, line[column] ?? formatAmount(amount), sign.reason);
  }
  // Of a few hundredths another currency may make nothing, but never the contrary.
  if (OF_AN_ORDER.includes(type) && gross !== 0n && !fits(gross)) {
    const column = present(line, 'gross') ? 'gross' : 'net';
    const reason = `gross is ${formatAmount(gross)}, and ${sign.reason}`;
    throw new Refusal(column, line[column] ?? null, reason);
  }
  if (type === 'payout' && !fits(net)) throw new Refusal('net', line.net ?? null, sign.reason);
}

function requireArithmetic(line: RawLine, type: LineType, money: Money): void {
  const { amount, gross, fee, net } = money;
  if (net !== gross - fee) {
    const worked = `${formatAmount(gross)} - ${formatAmount(fee)} = ${formatAmount(gross - fee)}`;
    throw new Refusal('net', line.net ?? null, `is not gross - fee: ${worked}`);
  }
  if (money.currency !== money.settleCurrency || !GROSS_IS_AMOUNT.includes(type)) return;
  if (gross === amount) return;
  const said = present(line, 'gross') ? 'gross' : 'net + fee';
  const reason = `${said} is ${formatAmount(gross)}, and in one currency must equal it`;
  throw new Refusal('amount', line.amount ?? null, reason);
}

function optional(line: RawLine, column: string): string | null {
  return present(line, column) ? identifier(line, column) : null;
}

function currencyOf(line: RawLine, column: string, currencies: CurrencyDecimals): string {
  const currency = line[column] ?? '';
  const problem = currencyProblem(currency, currencies);
  if (problem !== null) throw new Refusal(column, currency === '' ? null : currency, problem);
  return currency;
}

function amountOf(
  line: RawLine,
  column: string,
  currency: string,
  currencies: CurrencyDecimals,
): Hundredths {
  const text = line[column] ?? null;
  if (text === null || text === '') throw new Refusal(column, null, 'must not be empty');
  const checked = checkSignedAmount(text, currency, currencies);
  if (checked.kind === 'refused') throw new Refusal(column, text, checked.reason);
  return checked.amount;
}
