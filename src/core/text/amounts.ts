// Amounts and counts as people read them: in groups of three, with the decimals that the currency
// has. Pure; files and JSON keep the printed shape.

import { decimalsOf } from '../currency.js';
import type { MoneySum } from '../money.js';

/** "1234567.00" is "1,234,567.00"; what is no plain figure stays as somebody wrote it. */
export function grouped(text: string): string {
  if (!FIGURE.test(text)) return text;
  const [whole = '', decimals] = text.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return decimals === undefined ? groups : `${groups}.${decimals}`;
}

const FIGURE = /^-?\d+(?:\.\d+)?$/;

/** A count in a sentence for people: "20,000". */
export function countText(count: number | bigint): string {
  return grouped(count.toString());
}

/** What a list leaves out, as one more item: "1,234 more"; no item where it leaves out none. */
export function moreOf(rest: number): string[] {
  return rest > 0 ? [`${countText(rest)} more`] : [];
}

/** The same behind what is named: " and 1,234 more"; empty where nothing is left out. */
export function andMore(rest: number): string {
  return moreOf(rest)
    .map((more) => ` and ${more}`)
    .join('');
}

/** With what is counted: "1 break", "20,000 breaks". */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * "23400.00" of JPY is "23400" and "12.34" of KWD "12.340", as ISO 4217 has their decimals; what
 * is not zero is never left out, and what is no amount stays as somebody wrote it.
 */
export function inDecimals(text: string, currency: string): string {
  if (!HUNDREDTHS.test(text)) return text;
  const decimals = decimalsOf(currency, {}) ?? KEPT_DECIMALS;
  if (decimals > KEPT_DECIMALS) return text + '0'.repeat(decimals - KEPT_DECIMALS);
  return decimals === 0 && text.endsWith('.00') ? text.slice(0, -'.00'.length) : text;
}

/** The same in groups: "23,400" and "12.340". */
export function amountIn(text: string, currency: string): string {
  return grouped(inDecimals(text, currency));
}

/** Of several currencies, in their order: "2,050.00 EUR, 3,000 JPY"; empty where there is none. */
export function moneyText(money: Readonly<Record<string, string>>): string {
  const inOrder = Object.entries(money).sort(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.map(([currency, amount]) => moneyIn(amount, currency)).join(', ');
}

/** "2,050.00 EUR, 3 without an amount"; empty where there is neither. */
export function sumText({ money, withoutAmount }: MoneySum): string {
  const without = withoutAmount === 0 ? '' : `${countText(withoutAmount)} without an amount`;
  return [moneyText(money), without].filter((part) => part !== '').join(', ');
}

/** "30 waived: 27,000.00 EUR"; where there is no row, the words alone. */
export function withSum(words: string, sum: MoneySum): string {
  const money = sumText(sum);
  return money === '' ? words : `${words}: ${money}`;
}

/** As amounts are kept and printed. */
const HUNDREDTHS = /^-?\d+\.\d\d$/;
const KEPT_DECIMALS = 2;

/** "23,400 JPY"; without a currency the amount alone. */
export function moneyIn(text: string, currency: string | null | undefined): string {
  return currency ? `${amountIn(text, currency)} ${currency}` : grouped(text);
}

/** In a unit that nobody has set: shown as money it would say one. */
export function asWritten(text: string | null, currency: string | null): string {
  return `${text ?? 'no amount'} ${currency ?? ''} as written`.replace('  ', ' ');
}
