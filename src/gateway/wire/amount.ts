// Between hundredths and the text of an amount on the wire. The document prints two decimals for
// every amount; a currency that does not fit is listed in the profile's `currencies`. No float
// passes through here. Neighbours: core/money for the printed shape, prepareBatch for what is sent.

import { formatAmount, type Hundredths, parseAmount } from '../../core/money.js';
import type { Profile } from '../document/profile.js';

type Currencies = Profile['currencies'];

/** The text of an amount; null when the currency cannot express it. */
export function wireAmount(
  currencies: Currencies,
  currency: string,
  amount: Hundredths,
): string | null {
  if (amount < 0n) return null;
  const decimals = decimalsOf(currencies, currency);
  const [units = '', cents = ''] = formatAmount(amount).split('.');
  if (decimals >= 2) return `${units}.${cents.padEnd(decimals, '0')}`;
  if (/[^0]/.test(cents.slice(decimals))) return null;
  return decimals === 0 ? units : `${units}.${cents.slice(0, decimals)}`;
}

/** Reads what `wireAmount` writes; null for any other text, and for a part below a hundredth. */
export function readWireAmount(
  currencies: Currencies,
  currency: string,
  text: string,
): Hundredths | null {
  const decimals = decimalsOf(currencies, currency);
  if (decimals === 2) return parseAmount(text);
  const [units = '', part = '', more] = text.split('.');
  const hasPoint = text.includes('.');
  if (more !== undefined || hasPoint !== decimals > 0 || part.length !== decimals) return null;
  if (/[^0]/.test(part.slice(2))) return null;
  return parseAmount(`${units}.${part.slice(0, 2).padEnd(2, '0')}`);
}

function decimalsOf(currencies: Currencies, currency: string): number {
  return Object.hasOwn(currencies, currency) ? (currencies[currency] ?? 2) : 2;
}
