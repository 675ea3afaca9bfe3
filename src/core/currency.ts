// Which currencies the ledger may hold, and in which shape (ISO 4217 and docs/CONTRACT.md section
// 4). Owns the table of decimals and the one check of a ledger amount. Must never guess: a currency
// whose amounts do not fit two decimals, or that is not in the table, is refused until the profile
// lists it. Neighbours: money.ts reads the digits, ledgerRow.ts checks the rest of a row.

import { AMOUNT_MAX, type Hundredths, WHOLE_DIGITS_MAX } from './money.js';

/** Decimals by currency code, as the profile's `currencies` gives them. */
export type CurrencyDecimals = Readonly<Record<string, number>>;

type AmountCheck =
  | { readonly kind: 'ok'; readonly amount: Hundredths }
  | { readonly kind: 'refused'; readonly reason: string };

/** Decimals that numeric(20,2) and the gateway's printed amounts can hold. */
const LEDGER_DECIMALS = 2;

const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF';

const TWO_DECIMALS = `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF
  CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
  GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL
  MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
  PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP
  TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`;

const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND';

const FOUR_DECIMALS = 'CLF UYW';

const ISO_DECIMALS: ReadonlyMap<string, number> = new Map([
  ...codes(NO_DECIMALS, 0),
  ...codes(TWO_DECIMALS, 2),
  ...codes(THREE_DECIMALS, 3),
  ...codes(FOUR_DECIMALS, 4),
]);

/** How many decimals a currency has; the profile's word counts before the table's. */
export function decimalsOf(currency: string, profileCurrencies: CurrencyDecimals): number | null {
  if (Object.hasOwn(profileCurrencies, currency)) return profileCurrencies[currency] ?? null;
  return ISO_DECIMALS.get(currency) ?? null;
}

/** The currencies that express less than hundredths, with how many decimals they have. */
export function coarseCurrencies(profileCurrencies: CurrencyDecimals): Record<string, number> {
  const known = new Set([...ISO_DECIMALS.keys(), ...Object.keys(profileCurrencies)]);
  return Object.fromEntries(
    [...known].sort().flatMap((code) => {
      const decimals = decimalsOf(code, profileCurrencies);
      return decimals !== null && decimals < LEDGER_DECIMALS ? [[code, decimals]] : [];
    }),
  );
}

/** What an amount in such a currency must look like. */
export function coarseReason(currency: string, decimals: number): string {
  return decimals === 0
    ? `${currency} has no decimals: must end in .00`
    : `${currency} has one decimal: must end in 0`;
}

/** The currencies that a ledger row may be in, and the coarse ones of them. */
export interface LedgerCurrencies {
  readonly usable: readonly string[];
  readonly coarse: CurrencyDecimals;
}

export function ledgerCurrencies(profileCurrencies: CurrencyDecimals): LedgerCurrencies {
  const known = [...new Set([...ISO_DECIMALS.keys(), ...Object.keys(profileCurrencies)])];
  return {
    usable: known.filter((code) => currencyProblem(code, profileCurrencies) === null).sort(),
    coarse: coarseCurrencies(profileCurrencies),
  };
}

/** Why the ledger cannot hold this currency; null where it can. */
export function currencyProblem(
  currency: string,
  profileCurrencies: CurrencyDecimals,
): string | null {
  if (!/^[A-Z]{3}$/.test(currency)) return 'must be three capital letters (ISO 4217)';
  const decimals = decimalsOf(currency, profileCurrencies);
  if (decimals === null) {
    return 'is no currency of ISO 4217 and the profile does not list it under currencies';
  }
  if (decimals > LEDGER_DECIMALS && !Object.hasOwn(profileCurrencies, currency)) {
    return `has ${decimals} decimals: refused until the profile lists it under currencies`;
  }
  return null;
}

/** An amount of the ledger in its currency: exact, above zero, and of a shape the table allows. */
export function checkLedgerAmount(
  text: string,
  currency: string,
  profileCurrencies: CurrencyDecimals,
): AmountCheck {
  const problem = currencyProblem(currency, profileCurrencies);
  if (problem !== null) return { kind: 'refused', reason: `currency ${currency} ${problem}` };
  return expressible(checkPlainAmount(text), currency, profileCurrencies);
}

/** So many characters are a whole number of hundredths that a float holds exactly. */
const EXACT_CHARS_MAX = 16;
const [MINUS, POINT, NOUGHT] = [0x2d, 0x2e, 0x30];

/**
 * Hundredths of an amount that is written as most of a million lines are: -12.34. Sign by sign,
 * since a pattern and a text without its point take four times as long; null: look closer.
 */
function plainHundredths(text: string): number | null {
  const point = text.length - 3;
  const first = text.charCodeAt(0) === MINUS ? 1 : 0;
  if (point <= first || text.length > EXACT_CHARS_MAX) return null;
  let hundredths = 0;
  for (let at = first; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - NOUGHT;
    if (at === point) {
      if (digit !== POINT - NOUGHT) return null;
    } else if (digit >= 0 && digit <= 9) {
      hundredths = hundredths * 10 + digit;
    } else {
      return null;
    }
  }
  return first === 1 ? -hundredths : hundredths;
}

/** An amount that may be zero, or below it with a minus before it: a line of the acquirer. */
export function checkSignedAmount(
  text: string,
  currency: string,
  profileCurrencies: CurrencyDecimals,
): AmountCheck {
  const hundredths = plainHundredths(text);
  if (hundredths !== null) {
    return expressible({ kind: 'ok', amount: BigInt(hundredths) }, currency, profileCurrencies);
  }
  const isNegative = text.startsWith('-');
  const digits = isNegative ? text.slice(1) : text;
  if (/^0+(?:\.0{1,2})?$/.test(digits)) return { kind: 'ok', amount: 0n };
  const checked = expressible(checkPlainAmount(digits), currency, profileCurrencies);
  if (checked.kind === 'refused' || !isNegative) return checked;
  return { kind: 'ok', amount: -checked.amount };
}

function expressible(
  checked: AmountCheck,
  currency: string,
  profileCurrencies: CurrencyDecimals,
): AmountCheck {
  const decimals = decimalsOf(currency, profileCurrencies) ?? LEDGER_DECIMALS;
  if (checked.kind === 'refused') {
    // It is an amount, and may even be a true one.
    const isFiner = checked.reason === TOO_FINE && decimals > LEDGER_DECIMALS;
    const reason = `${TOO_FINE}: of ${currency}, too, no less than 0.01 can be kept`;
    return isFiner ? { kind: 'refused', reason } : checked;
  }
  if (decimals >= LEDGER_DECIMALS) return checked;
  const least = 10n ** BigInt(LEDGER_DECIMALS - decimals);
  return checked.amount % least === 0n
    ? checked
    : { kind: 'refused', reason: coarseReason(currency, decimals) };
}

const TOO_FINE = 'has more than two decimals';

/** An amount whose currency is not known here (a refund request takes its order's). */
export function checkPlainAmount(text: string): AmountCheck {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return { kind: 'refused', reason: shapeReason(text) };
  const [, whole = '', decimals = ''] = match;
  if (decimals.length > LEDGER_DECIMALS) {
    return { kind: 'refused', reason: TOO_FINE };
  }
  const amount = BigInt(whole + decimals.padEnd(LEDGER_DECIMALS, '0'));
  if (amount > AMOUNT_MAX || whole.length > WHOLE_DIGITS_MAX) {
    return { kind: 'refused', reason: `has more than ${WHOLE_DIGITS_MAX} digits before the point` };
  }
  if (amount === 0n) return { kind: 'refused', reason: 'must be above zero' };
  return { kind: 'ok', amount };
}

function shapeReason(text: string): string {
  if (/^-/.test(text)) return 'must not be negative';
  if (/^\d+(?:\.\d+)?e[+-]?\d+$/i.test(text)) return 'is in scientific notation, digits are lost';
  if (text.includes(',')) return 'must be digits with a point and no thousands mark';
  return 'must be digits, a point and two digits, such as 12.34';
}

function codes(list: string, decimals: number): [string, number][] {
  return list
    .trim()
    .split(/\s+/)
    .map((code) => [code, decimals]);
}
