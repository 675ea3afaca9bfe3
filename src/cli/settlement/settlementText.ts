// Settlement as a person reads it on a terminal: a line a batch, an item, a fee. Pure. Its rows
// have ids, amounts and words of ours: nothing of them is masked, since ids are never altered.
// Neighbour: settlement/settlementWords.ts has the sentences, which the console says, too.

import { openWords } from '../../core/settlement/openWords.js';
import { amountIn, counted, moneyIn } from '../../core/text/amounts.js';
import { labelOf } from '../../core/text/labels.js';
import type {
  BatchLine,
  FeeFigures,
  OpenItem,
  SettlementDocument,
} from '../../settlement/settlementStore.js';
import type { Listing } from '../terminal.js';

/** Which cells of a batch, and of a fee, are figures. */
export const BATCH_FIGURES = [2, 3, 4];
export const FEE_FIGURES = [3, 4, 5];

export function batchCells(one: SettlementDocument['batches'][number]): string[] {
  const { accountId, batch, currency, lines, payout, arrived, state } = one;
  const came = `arrived ${amountIn(arrived, currency)}`;
  return [accountId, batch, counted(lines, 'line'), moneyIn(payout, currency), came, state];
}

/** How the lines of a batch, and open items, stand: their heads, and which cells are figures. */
export const BATCH_LINES: Listing<BatchLine> = {
  head: ['account', 'line', 'type', 'gross', 'fee', 'net', 'order', 'settles', 'booked at'],
  figures: [3, 4, 5],
  cells: (line) => {
    const { accountId, lineId, type, bookedAt, gross, fee, net, settleCurrency } = line;
    const shown = (amount: string): string => amountIn(amount, settleCurrency);
    const how = line.matchedBy === null ? '' : ` of ${line.movedOn}, by ${labelOf(line.matchedBy)}`;
    return [
      accountId,
      lineId,
      labelOf(type),
      shown(gross),
      shown(fee),
      moneyIn(net, settleCurrency),
      line.orderNo ?? '-',
      line.settlesOrder === null ? '-' : `${line.settlesOrder}${how}`,
      bookedAt,
    ];
  },
};

export const OPEN_ITEMS: Listing<OpenItem> = {
  head: ['since', 'book', 'account', 'order', 'batch', 'open', 'what'],
  figures: [5],
  cells: (item) => [
    item.since,
    BOOKS[item.book],
    item.accountId,
    item.orderNo ?? '-',
    item.batch ?? '-',
    item.suspense ? `unknown ${item.currency}` : moneyIn(item.amount, item.currency),
    openWords(item),
  ],
};

const BOOKS = { atGateway: 'at the gateway', bank: 'to arrive' } as const;

export function feeCells(one: FeeFigures): string[] {
  const { accountId, currency, type, lines, gross, fees, agreed, variance, beyond } = one;
  const shown = (amount: string): string => amountIn(amount, currency);
  const taken = [
    accountId,
    currency,
    type,
    counted(lines, 'line'),
    `gross ${shown(gross)}`,
    `fees ${shown(fees)}`,
  ];
  if (agreed === null) return [...taken, 'nothing agreed'];
  const found = `variance ${shown(variance ?? '0.00')}, ${beyond} past the tolerance`;
  return [...taken, `agreed ${shown(agreed)}, ${found}`];
}
