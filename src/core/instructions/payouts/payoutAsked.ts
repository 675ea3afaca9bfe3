// What a payout request asks for, in the words in which whoever approves it reads it: to whom, to
// which account, and what leaves ours for it. The account stands whole only where a person may
// approve; everybody else, and what is kept with a decision, has its end. Pure.

import { asWritten } from '../../text/amounts.js';
import { isIban } from '../../text/iban.js';
import { maskCardNumbers } from '../../text/masking.js';

/** Part of what a decision is bound to; what a request does not name is absent. */
export interface AskedPayout {
  amount: string | null;
  currency: string | null;
  beneficiary: string | null;
  beneficiaryId: string | null;
  reference: string | null;
  reason: string | null;
  /** of the whole payload */
  sha256: string;
  /** the ends of IBAN and account number */
  account?: string;
  bank?: string;
  sourceAmount?: string;
  sourceCurrency?: string;
  method?: string;
  feePaidBy?: string;
}

/** For who may approve it. */
export interface Payee {
  /** whole; null: the request names none */
  account: string | null;
  /** whose it is, by the request */
  holder: string | null;
  /** a payout to it was confirmed before; null: nothing says where it goes */
  isKnown: boolean | null;
}

/** "Müller GmbH, beneficiary 4711 of the gateway"; empty: the request names nobody. */
export function beneficiaryWords({ beneficiary, beneficiaryId }: AskedPayout): string {
  const id = beneficiaryId || null;
  const named = [beneficiary || null, id === null ? null : `beneficiary ${id} of the gateway`];
  return maskCardNumbers(named.filter((part) => part !== null).join(', '), id === null ? [] : [id]);
}

/** Where it goes, and how; empty: the request names none, or it was seen before this was kept. */
export function accountWords(asked: AskedPayout, payee: Payee | null = null): string {
  const account = payee === null ? (asked.account ?? null) : payee.account;
  const none = payee === null ? null : 'no account named in the request';
  const parts = [
    account === null ? none : account,
    payee?.holder == null ? null : `in the name of ${payee.holder}`,
    asked.bank === undefined ? null : `bank ${asked.bank}`,
    asked.method === undefined ? null : `by ${asked.method}`,
    asked.feePaidBy === undefined ? null : `fee paid by ${asked.feePaidBy}`,
  ].filter((part) => part !== null);
  const text = parts.join(', ');
  return maskCardNumbers(text, text.split(/[ ,]+/).filter(isIban));
}

/** Empty where one was paid to before. */
export function newPayeeWords(isKnown: boolean | null | undefined): string {
  return isKnown === false ? 'no payout to it is confirmed yet' : '';
}

/** What leaves the payer's account; null: the request does not say. */
export function leavingWords(asked: AskedPayout | null | undefined): string | null {
  const { sourceAmount, sourceCurrency } = asked ?? {};
  if (sourceAmount === undefined && sourceCurrency === undefined) return null;
  return asWritten(sourceAmount ?? null, sourceCurrency ?? null);
}

/** "100 JPY as written, for which 900000 EUR as written leaves our account" */
export function askedWords(asked: AskedPayout): string {
  const leaving = leavingWords(asked);
  const from = leaving === null ? '' : `, for which ${leaving} leaves our account`;
  return asWritten(asked.amount, asked.currency) + from;
}

/** To whom, with the end of the account. */
export function payeeWords(asked: AskedPayout, isKnown: boolean | null | undefined): string {
  const whom = beneficiaryWords(asked) || 'nobody named';
  const parts = [whom, accountWords(asked), newPayeeWords(isKnown)];
  return parts.filter((part) => part !== '').join('; ');
}

/** The same of many, by currency; of what is no whole number how many there are. */
export function leavingSum(all: readonly (AskedPayout | null | undefined)[]): string {
  const sums = new Map<string, bigint>();
  let unread = 0;
  for (const asked of all) {
    if (leavingWords(asked) === null) continue;
    const { sourceAmount = '', sourceCurrency = '' } = asked ?? {};
    if (!/^\d{1,15}$/.test(sourceAmount) || sourceCurrency === '') unread += 1;
    else sums.set(sourceCurrency, (sums.get(sourceCurrency) ?? 0n) + BigInt(sourceAmount));
  }
  const parts = [...sums].sort().map(([currency, sum]) => asWritten(String(sum), currency));
  if (unread > 0) parts.push(`${unread} that cannot be read`);
  return parts.join(', ');
}
