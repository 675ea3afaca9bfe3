// What became of the captured money, in words: one sentence a currency, the same on the command
// line and the console. Pure. Neighbour: settlementStore.ts has the figures.

import { addAmounts } from '../core/money.js';
import { amountIn, countText } from '../core/text/amounts.js';
import { labelOf } from '../core/text/labels.js';
import type { OldestOpen, SettlementDocument } from './settlementStore.js';

/** One sentence a currency over all accounts, and what is wrong below. */
export function settlementLines(
  document: SettlementDocument,
  oldest: readonly OldestOpen[],
  from: string,
): string[] {
  const breaks = document.accounts.flatMap((one) => breakLines(one.accountId, one.breaks));
  return [...currencySentences(document, oldest, from), ...breaks];
}

export function currencySentences(
  document: Pick<SettlementDocument, 'accounts'>,
  oldest: readonly OldestOpen[],
  from: string,
): string[] {
  const books = document.accounts.flatMap((one) => [...one.atGateway, ...one.payable, ...one.bank]);
  const currencies = [...new Set(books.map(({ currency }) => currency))].sort();
  if (currencies.length === 0) return [`Nothing was captured or settled since ${from}.`];
  return currencies.map((currency) => sentence(document, oldest, currency));
}

function sentence(
  { accounts }: Pick<SettlementDocument, 'accounts'>,
  oldest: readonly OldestOpen[],
  currency: string,
): string {
  const of = <Row extends { currency: string }>(rows: readonly Row[]) =>
    rows.filter((row) => row.currency === currency);
  const gateway = of(accounts.flatMap((one) => one.atGateway));
  const payable = of(accounts.flatMap((one) => one.payable));
  const bank = of(accounts.flatMap((one) => one.bank));
  const total = (amounts: readonly string[]): string => amountIn(sum(amounts), currency);
  const open = total(gateway.map((row) => row.closing));
  const fees = total(payable.map((row) => row.fees));
  const charged = total(payable.map((row) => row.chargebacks));
  return (
    `${currency}: captured ${total(gateway.map((row) => row.captured))}, ` +
    `refunded ${total(gateway.map((row) => row.refunded))}, ` +
    `settled ${total(gateway.map((row) => row.settled))}, ` +
    `at the gateway ${open}${missing(of(oldest))}; ` +
    `paid out ${total(bank.map((row) => row.paidOut))} (fees ${fees}, chargebacks ${charged}), ` +
    `arrived ${total(bank.map((row) => row.arrived))}.`
  );
}

function missing(rows: readonly OldestOpen[]): string {
  const count = (pick: (row: OldestOpen) => number) =>
    rows.reduce((all, row) => all + pick(row), 0);
  const [since] = rows.map((row) => row.since).sort();
  if (since === undefined) return '';
  const overdue = count((row) => row.overdue);
  const late = overdue === 0 ? '' : `, ${countText(overdue)} overdue`;
  const movements = count((row) => row.movements);
  const which =
    movements === 1 ? '1 capture or refund' : `${countText(movements)} captures and refunds`;
  return ` (${which} without a settlement line since ${since}${late})`;
}

function sum(amounts: readonly string[]): string {
  return amounts.reduce(addAmounts, '0.00');
}

function breakLines(accountId: string, breaks: Readonly<Record<string, number>>): string[] {
  const told = Object.entries(breaks).map(
    ([kind, count]) => `${countText(count)} ${labelOf(kind)}`,
  );
  if (told.length === 0) return [];
  return [`${accountId}: ${told.join(', ')} (tieout breaks list)`];
}
