// A payout request as the message that is sent for it, and its amounts as money: the document
// prints them in a unit that the profile knows. The plan and whoever sends ask it alike. Pure.
// Neighbour: preparePayout.ts, the exchange itself.

import { type CurrencyDecimals, currencyProblem, decimalsOf } from '../../core/currency.js';
import type { Payout } from '../document/payoutMessages.js';
import type { Profile } from '../document/profile.js';

/** Null: the request does not name it; an amount that is null keeps to no limit. */
type PayoutSource = { currency: string; amount: string | null } | null;

/** What is sent for a request: its payload as it is, and its id. */
export function payoutMessage(
  requestId: string,
  payload: Readonly<Record<string, unknown>>,
): Payout {
  return { ...payload, request_id: requestId } as unknown as Payout;
}

/** What leaves the payer's account where the request names it, too: limits hold for both. */
export function sourceOf(
  profile: Profile,
  { source_amount: printed, source_currency: named }: Readonly<Record<string, unknown>>,
): PayoutSource {
  if (printed === undefined || printed === '') return null;
  const currency = typeof named === 'string' ? named : '';
  // Of an amount that is none, or in no currency, nobody can say that it keeps to a limit.
  return { currency, amount: payoutMoney(profile, currency, printed) };
}

const WHOLE_DIGITS_MAX = 15;

type Money = { kind: 'money'; text: string } | { kind: 'none'; problem: string };

/** The amount with two decimals; as printed where nobody knows its unit. Null: it is none. */
export function payoutMoney(
  profile: Pick<Profile, 'payout' | 'currencies'>,
  currency: string,
  printed: unknown,
): string | null {
  const read = readAmount(profile, currency, printed);
  return read.kind === 'money' ? read.text : null;
}

/** Why `payoutMoney` reads none in it; null: it reads one. */
export function payoutAmountProblem(
  profile: Pick<Profile, 'payout' | 'currencies'>,
  currency: string,
  printed: unknown,
): string | null {
  const read = readAmount(profile, currency, printed);
  return read.kind === 'none' ? read.problem : null;
}

function readAmount(
  { payout: { unit }, currencies }: Pick<Profile, 'payout' | 'currencies'>,
  currency: string,
  printed: unknown,
): Money {
  const none = (problem: string): Money => ({ kind: 'none', problem });
  const digits = typeof printed === 'string' ? printed : '';
  if (!/^\d+$/.test(digits) || /^0+$/.test(digits)) return none('no amount above zero');
  if (digits.length > WHOLE_DIGITS_MAX) {
    return none(`payment_amount has more than ${WHOLE_DIGITS_MAX} digits`);
  }
  if (unit === null) return { kind: 'money', text: `${digits}.00` };
  // In either unit: what an order may not be in, nobody is paid in.
  const problem = currencyProblem(currency, currencies);
  if (problem !== null) return none(`payment_currency ${currency} ${problem}`);
  const text = unit === 'minor' ? ofMinor(currencies, currency, digits) : `${digits}.00`;
  if (text !== null) return { kind: 'money', text };
  return none(`payment_amount: of ${currency}, too, no less than 0.01 can be kept`);
}

/** Null: nobody knows its decimals, or there is a part below a hundredth. */
function ofMinor(currencies: CurrencyDecimals, currency: string, digits: string): string | null {
  const decimals = decimalsOf(currency, currencies);
  if (decimals === null || currencyProblem(currency, currencies) !== null) return null;
  const padded = digits.padStart(decimals + 1, '0');
  const point = padded.length - decimals;
  const part = padded.slice(point);
  if (/[^0]/.test(part.slice(2))) return null;
  return `${padded.slice(0, point)}.${part.slice(0, 2).padEnd(2, '0')}`;
}

/** A fee, which may have decimals, with two of them; null where nobody knows what it comes to. */
export function feeMoney(
  profile: Pick<Profile, 'payout' | 'currencies'>,
  { fee_amount: printed, fee_currency: currency }: Record<'fee_amount' | 'fee_currency', unknown>,
): string | null {
  const { unit } = profile.payout;
  const [, whole = '', part = ''] = FEE.exec(String(printed ?? '')) ?? [];
  if (unit === null || whole === '' || !/^[A-Z]{3}$/.test(String(currency ?? ''))) return null;
  if (unit === 'major') return `${whole}.${part.padEnd(2, '0')}`;
  return part === '' ? ofMinor(profile.currencies, String(currency), whole) : null;
}

/** Zeros behind the second decimal say nothing. */
const FEE = /^(\d{1,15})(?:\.(\d{0,2}?)0*)?$/;
