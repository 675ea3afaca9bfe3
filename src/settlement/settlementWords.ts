// What became of the captured money, in words: one sentence a currency, the same on the command
// line and the console. Pure. Neighbour: settlementStore.ts has the figures.

import { byName, firstNamed } from '../core/accounts/alike.js';
import { addAmounts } from '../core/money.js';
import { amountIn, countText } from '../core/text/amounts.js';
import { labelOf } from '../core/text/labels.js';
import type { LeftBooks } from './leftBooks.js';
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

/** Apart from the others, whose figures they are not in; empty where no account left so. */
export function leftLines({ accounts, oldest }: LeftBooks, from: string): string[] {
  if (accounts.length === 0) return [];
  const names = firstNamed(accounts.map(({ accountId }) => accountId).toSorted(byName));
  const [one, which] = accounts.length === 1 ? ['account', 'which is'] : ['accounts', 'which are'];
  const head =
    `Not in these figures: ${one} ${names}, ${which} not in the configuration any more, and ` +
    'whose books have open items:';
  return [head, ...currencySentences({ accounts }, oldest, from)];
}

/** What stands above their open items, which are in no figure of the others. */
export function leftOpenLines(accountIds: readonly string[]): string[] {
  if (accountIds.length === 0) return [];
  const names = firstNamed(accountIds.toSorted(byName));
  return [`Apart, since not in the configuration any more: what is open of ${names}`];
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
  return (
    `${currency}: captured ${total(gateway.map((row) => row.captured))}, ` +
    `refunded ${total(gateway.map((row) => row.refunded))}${suspended(gateway)}, ` +
    `settled ${total(gateway.map((row) => row.settled))}, ` +
    `at the gateway ${open}${missing(of(oldest))}; ` +
    `paid out ${total(bank.map((row) => row.paidOut))} (${payableWords(payable, currency)}), ` +
    `arrived ${total(bank.map((row) => row.arrived))}.`
  );
}

/** What no figure beside it holds. */
function suspended(rows: readonly { suspense: number }[]): string {
  const count = rows.reduce((all, row) => all + row.suspense, 0);
  if (count === 0) return '';
  return count === 1
    ? ' and 1 refund of an amount that nobody knows yet'
    : ` and ${countText(count)} refunds of amounts that nobody knows yet`;
}

type PayableRow = SettlementDocument['accounts'][number]['payable'][number];

/** What was settled and what became of it, down to what is paid out: the figures of the book. */
function payableWords(payable: readonly PayableRow[], currency: string): string {
  const total = (name: Exclude<keyof PayableRow, 'currency'>): string =>
    amountIn(sum(payable.map((row) => row[name])), currency);
  const unpaid = total('closing');
  return [
    `gross ${total('gross')}`,
    `less fees ${total('fees')}`,
    `less chargebacks ${total('chargebacks')}`,
    `plus other ${total('other')}`,
    ...(/[1-9]/.test(unpaid) ? [`less not paid out yet ${unpaid}`] : []),
  ].join(', ');
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
