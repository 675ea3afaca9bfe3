// Settlement as a person reads it on a terminal: a line a batch, an item, a fee. Pure. Text from
// outside is masked here, ids are not altered. Neighbour: settlement/settlementWords.ts has the
// sentences, which the console says, too.

import { amountIn, countText, grouped, moneyIn } from '../../core/text/amounts.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type {
  BatchLine,
  FeeFigures,
  OpenItem,
  SettlementDocument,
} from '../../settlement/settlementStore.js';

/** Which cells of a batch, and of a fee, are figures. */
export const BATCH_FIGURES = [2, 3, 4];
export const FEE_FIGURES = [3, 4, 5];

export function batchCells(one: SettlementDocument['batches'][number]): string[] {
  const { accountId, batch, currency, lines, payout, arrived, state } = one;
  const came = `arrived ${amountIn(arrived, currency)}`;
  return [accountId, batch, `${countText(lines)} lines`, moneyIn(payout, currency), came, state];
}

export function lineOfBatch(line: BatchLine): string {
  const { accountId, lineId, type, bookedAt, gross, fee, net, settleCurrency } = line;
  const shown = (amount: string): string => amountIn(amount, settleCurrency);
  const money = `${shown(gross)} - ${shown(fee)} = ${moneyIn(net, settleCurrency)}`;
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
  const money = suspense ? `an unknown amount of ${currency}` : moneyIn(amount, currency);
  return `${since}  ${BOOKS[book]}  ${accountId}  ${where.join(', ')}  ${what}  ${money}`;
}

const BOOKS = { atGateway: 'at the gateway', bank: 'to arrive' } as const;

export function feeCells(one: FeeFigures): string[] {
  const { accountId, currency, type, lines, gross, fees, agreed, variance, beyond } = one;
  const shown = (amount: string): string => amountIn(amount, currency);
  const taken = [
    accountId,
    currency,
    type,
    `${grouped(String(lines))} lines`,
    `gross ${shown(gross)}`,
    `fees ${shown(fees)}`,
  ];
  if (agreed === null) return [...taken, 'nothing agreed'];
  const found = `variance ${shown(variance ?? '0.00')}, ${beyond} past the tolerance`;
  return [...taken, `agreed ${shown(agreed)}, ${found}`];
}
