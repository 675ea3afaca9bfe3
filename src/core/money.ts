// Money as exact hundredths in a bigint. Nothing here knows a currency's name; whether a currency
// may be written in hundredths at all is decided in currency.ts. No float passes through this file.

/** An amount in hundredths of the currency's unit: 12.34 is 1234n. */
export type Hundredths = bigint;

/** Digits before the point: of the ledger's numeric(20,2), and of what the gateway prints. */
export const WHOLE_DIGITS_MAX = 18;

/**
 * The largest amount of one row, of the ledger or of an answer. A sum has no bound: it is of any
 * number of rows, and nothing may cast it to what one row holds.
 */
export const AMOUNT_MAX: Hundredths = 10n ** BigInt(WHOLE_DIGITS_MAX + 2) - 1n;

/** The shape that the gateway's document prints for amounts: digits, a point, two digits. */
const PRINTED_AMOUNT = /^\d{1,18}\.\d\d$/;

/** Reads an amount of the printed shape; null for anything else, zero included as 0n. */
export function parseAmount(text: string): Hundredths | null {
  if (!PRINTED_AMOUNT.test(text)) return null;
  return BigInt(text.slice(0, -3) + text.slice(-2));
}

/** As people write one: 500.00, 500.5, 20000 of yen, 0.050 of dinars; null where it is none. */
export function readAmount(text: string): Hundredths | null {
  const [, whole, decimals = ''] = /^(\d{1,18})(?:\.(\d{1,2})0*)?$/.exec(text) ?? [];
  return whole === undefined ? null : BigInt(whole + decimals.padEnd(2, '0'));
}

/** Writes hundredths in the printed shape; a negative difference gets a leading minus. */
export function formatAmount(amount: Hundredths): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Reads what formatAmount wrote: a sum of any size, below zero too; null for anything else. */
export function parseSum(text: string): Hundredths | null {
  if (!/^-?\d+\.\d\d$/.test(text)) return null;
  return BigInt(text.replace('.', ''));
}

/** The same, where anything else is an error. */
export function exactAmount(text: string): Hundredths {
  const amount = parseSum(text);
  if (amount === null) throw new Error(`${text} is no amount`);
  return amount;
}

/** The sum of two amounts of one currency. */
export function addAmounts(left: string, right: string): string {
  return formatAmount(exactAmount(left) + exactAmount(right));
}

/** Money of several rows, by currency; rows of which nobody knows how much are counted apart. */
export interface MoneySum {
  money: Record<string, string>;
  withoutAmount: number;
}

/** Currencies in their order. */
export function sumMoney(
  rows: Iterable<{ readonly amount: string | null; readonly currency: string | null }>,
): MoneySum {
  const sums = new Map<string, Hundredths>();
  let withoutAmount = 0;
  for (const { amount, currency } of rows) {
    if (amount === null || currency === null) withoutAmount += 1;
    else sums.set(currency, (sums.get(currency) ?? 0n) + exactAmount(amount));
  }
  const inOrder = [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
  const money = Object.fromEntries(inOrder.map(([name, sum]) => [name, formatAmount(sum)]));
  return { money, withoutAmount };
}
