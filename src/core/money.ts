// Money as exact hundredths in a bigint. Nothing here knows a currency's name; whether a currency
// may be written in hundredths at all is decided in currency.ts. No float passes through this file.

/** An amount in hundredths of the currency's unit: 12.34 is 1234n. */
export type Hundredths = bigint;

/** The shape that the gateway's document prints for amounts: digits, a point, two digits. */
const PRINTED_AMOUNT = /^\d{1,18}\.\d\d$/;

/** Reads an amount of the printed shape; null for anything else, zero included as 0n. */
export function parseAmount(text: string): Hundredths | null {
  if (!PRINTED_AMOUNT.test(text)) return null;
  return BigInt(text.slice(0, -3) + text.slice(-2));
}

/** Writes hundredths in the printed shape; a negative difference gets a leading minus. */
export function formatAmount(amount: Hundredths): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Reads what formatAmount wrote: it may be below zero, and anything else is an error. */
export function exactAmount(text: string): Hundredths {
  const amount = parseAmount(text.replace(/^-/, ''));
  if (amount === null) throw new Error(`${text} is no amount`);
  return text.startsWith('-') ? -amount : amount;
}

/** The sum of two amounts of one currency. */
export function addAmounts(left: string, right: string): string {
  return formatAmount(exactAmount(left) + exactAmount(right));
}
