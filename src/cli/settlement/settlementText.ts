// Settlement as a person reads it on a terminal: a line a batch, an item, a fee. Pure. Text from
// outside is masked here, ids are not altered. Neighbour: settlement/settlementWords.ts has the
// sentences, which the console says, too.

import { maskCardNumbers } from '../../core/text/masking.js';
import type {
  BatchLine,
  FeeFigures,
  OpenItem,
  SettlementDocument,
} from '../../settlement/settlementStore.js';

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
