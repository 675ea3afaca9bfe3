// Settlement as a person reads it on a terminal: a sentence a currency, a line a batch, an item, a
// fee. Pure. Text from outside is masked here, ids are not altered.

import { addAmounts } from '../../core/money.js';
import { labelOf } from '../../core/text/labels.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type {
  BatchLine,
  FeeFigures,
  OldestOpen,
  OpenItem,
  SettlementDocument,
} from '../../settlement/settlementStore.js';

/** One sentence a currency over all accounts, and what is wrong below. */
export function settlementLines(
  document: SettlementDocument,
  oldest: readonly OldestOpen[],
  from: string,
): string[] {
  const { accounts } = document;
  const books = accounts.flatMap((one) => [...one.atGateway, ...one.payable, ...one.bank]);
  const currencies = [...new Set(books.map(({ currency }) => currency))].sort();
  if (currencies.length === 0) return [`Nothing was captured or settled since ${from}.`];
  return [
    ...currencies.map((currency) => sentence(document, oldest, currency)),
    ...accounts.flatMap((one) => breakLines(one.accountId, one.breaks)),
  ];
}

function sentence(
  { accounts }: SettlementDocument,
  oldest: readonly OldestOpen[],
  currency: string,
): string {
  const of = <Row extends { currency: string }>(rows: readonly Row[]) =>
    rows.filter((row) => row.currency === currency);
  const gateway = of(accounts.flatMap((one) => one.atGateway));
  const payable = of(accounts.flatMap((one) => one.payable));
  const bank = of(accounts.flatMap((one) => one.bank));
  const open = sum(gateway.map((row) => row.closing));
  const fees = sum(payable.map((row) => row.fees));
  const charged = sum(payable.map((row) => row.chargebacks));
  return (
    `${currency}: captured ${sum(gateway.map((row) => row.captured))}, ` +
    `refunded ${sum(gateway.map((row) => row.refunded))}, ` +
    `settled ${sum(gateway.map((row) => row.settled))}, ` +
    `at the gateway ${open}${missing(of(oldest))}; ` +
    `paid out ${sum(bank.map((row) => row.paidOut))} (fees ${fees}, chargebacks ${charged}), ` +
    `arrived ${sum(bank.map((row) => row.arrived))}.`
  );
}

function missing(rows: readonly OldestOpen[]): string {
  const count = (pick: (row: OldestOpen) => number) =>
    rows.reduce((all, row) => all + pick(row), 0);
  const [since] = rows.map((row) => row.since).sort();
  if (since === undefined) return '';
  const overdue = count((row) => row.overdue);
  const late = overdue === 0 ? '' : `, ${overdue} overdue`;
  return ` (${count((row) => row.movements)} not settled since ${since}${late})`;
}

function sum(amounts: readonly string[]): string {
  return amounts.reduce(addAmounts, '0.00');
}

function breakLines(accountId: string, breaks: Readonly<Record<string, number>>): string[] {
  const told = Object.entries(breaks).map(([kind, count]) => `${count} ${labelOf(kind)}`);
  if (told.length === 0) return [];
  return [`${accountId}: ${told.join(', ')} (tieout breaks list)`];
}

export function batchLine(one: SettlementDocument['batches'][number]): string {
  const { accountId, batch, currency, lines, payout, arrived, state } = one;
  const money = `${payout} ${currency}  arrived ${arrived}`;
  return `${accountId}  ${batch}  ${lines} lines  ${money}  ${state}`;
}

export function lineOfBatch(line: BatchLine): string {
  const { accountId, lineId, type, bookedAt, gross, fee, net, settleCurrency } = line;
  const money = `${gross} - ${fee} = ${net} ${settleCurrency}`;
  const order = line.orderNo === null ? '' : `  order ${line.orderNo}`;
  const found = line.settlesOrder === null ? '' : `  settles ${line.settlesOrder}`;
  const how = line.matchedBy === null ? '' : ` of ${line.movedOn}, by ${line.matchedBy}`;
  const keep = [accountId, line.orderNo ?? '', line.settlesOrder ?? ''];
  const text = `${accountId}  ${lineId}  ${type}  ${bookedAt}  ${money}${order}${found}${how}`;
  return maskCardNumbers(text, keep);
}

export function itemLine(item: OpenItem): string {
  const { book, accountId, currency, amount, what, orderNo, batch, since, suspense } = item;
  const where = [
    ...(orderNo === null ? [] : [`order ${orderNo}`]),
    ...(batch === null ? [] : [`batch ${batch}`]),
  ];
  const money = suspense ? `an unknown amount of ${currency}` : `${amount} ${currency}`;
  return `${since}  ${BOOKS[book]}  ${accountId}  ${where.join(', ')}  ${what}  ${money}`;
}

const BOOKS = { atGateway: 'at the gateway', bank: 'to arrive' } as const;

export function feeLine(one: FeeFigures): string {
  const { accountId, currency, type, lines, gross, fees, agreed, variance, beyond } = one;
  const taken = `${accountId}  ${currency}  ${type}: ${lines} lines, gross ${gross}, fees ${fees}`;
  if (agreed === null) return `${taken}, nothing agreed`;
  return `${taken}, agreed ${agreed}, variance ${variance}, ${beyond} past the tolerance`;
}
