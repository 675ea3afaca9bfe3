// One plain sentence for each break of settlement: what the acquirer's lines say, what the gateway
// shows, and what to do about it. Pure. Neighbour: sentence.ts has those of orders.

import { countText, moneyIn } from '../text/amounts.js';

/** What a side may say of it. */
interface Side {
  state?: string;
  currency?: string;
  amount?: string | null;
  batch?: string;
  times?: number;
  since?: string;
  /** the last date, where there are several */
  until?: string;
  /** what lines differ by, each for itself, where some are too high and some too low */
  off?: string;
  /** where an order has both, each for itself */
  captured?: string;
  refunded?: string;
  /** what was settled as what, where no one sum says it */
  parts?: readonly Part[];
}

export interface Part {
  state: string;
  currency: string;
  amount: string;
}

interface Sides {
  expected: Side;
  actual: Side;
}

/** Of a refund made elsewhere, mostly. */
export function unknownMoney(currency = ''): string {
  return currency === '' ? 'an unknown amount' : `an unknown amount of ${currency}`;
}

export const SETTLEMENT_SENTENCES = {
  not_settled: ({ expected }: Sides): string =>
    `${whatMoved(expected)} in no settlement file yet: import what is missing, or ask the acquirer`,
  settled_twice: ({ expected, actual }: Sides): string =>
    `${money(expected)} was ${expected.state ?? 'moved'}, and the acquirer settled ` +
    `${money(actual)} in ${times(actual)}${inBatch(actual)}: ask the acquirer which line is wrong`,
  settled_not_captured: ({ expected, actual }: Sides): string =>
    `the acquirer settled ${settledAs(actual, expected.state)}${inBatch(actual)}, and the ` +
    'gateway shows no such movement of this order: look at the portal, then ask the acquirer',
  settled_unknown: ({ actual }: Sides): string =>
    `the acquirer settled ${settledAs(actual)}${inBatch(actual)} for what neither ledger nor ` +
    'gateway knows: ask the acquirer whose it is',
  settlement_amount: ({ expected, actual }: Sides): string =>
    `${eachThatMoved(expected)}, and the acquirer settled ${eachSettled(actual)}` +
    `${inBatch(actual)}: ${inAll(expected, actual)}ask the acquirer for the difference`,
  fee_variance: ({ expected, actual }: Sides): string =>
    `the acquirer took a fee of ${money(actual)}${inBatch(actual)}, ${money(expected)} was ` +
    `agreed${byLine(actual)}: claim it back, or correct settlement.tariff`,
  charged_back: ({ actual }: Sides): string =>
    `${money(actual)} was charged back${inBatch(actual)}: answer the dispute, refund nothing of it`,
};

/** Where the sums alone would hide it. */
function byLine({ off, times: lines = 1, currency }: Side): string {
  if (off === undefined) return '';
  return `, and the ${countText(lines)} lines differ by ${moneyIn(off, currency)} in all`;
}

function money({ amount, currency }: Side): string {
  return amount ? moneyIn(amount, currency) : unknownMoney(currency);
}

function whatMoved({ state = 'moved', since = 'an earlier day', until, ...side }: Side): string {
  const { captured, refunded, currency } = side;
  const when = until === undefined ? `on ${since}` : `from ${since} to ${until}`;
  if (captured === undefined && refunded === undefined) {
    return `${money(side)} ${state} ${when} is`;
  }
  const [came, went] = [captured, refunded].map((amount) => money({ amount, currency } as Side));
  return `${came} captured and ${went} refunded ${when} are`;
}

function eachThatMoved({ state = 'moved', captured, refunded, ...side }: Side): string {
  if (captured === undefined && refunded === undefined) return `${money(side)} was ${state}`;
  const [came, went] = [captured, refunded].map((amount) => money({ ...side, amount } as Side));
  return `${came} was captured and ${went} refunded`;
}

function eachSettled({ parts, ...side }: Side): string {
  return parts === undefined ? money(side) : partsText(parts);
}

/** "108.00 USD as captured and 19.00 EUR as refunded"; of one of both "50.00 EUR and 54.00 USD". */
export function partsText(parts: readonly Part[]): string {
  const isOfBoth = new Set(parts.map(({ state }) => state)).size > 1;
  return parts.map((part) => money(part) + (isOfBoth ? ` as ${part.state}` : '')).join(' and ');
}

/** Where the sums alone would hide it. */
function inAll({ currency }: Side, { off }: Side): string {
  return off === undefined ? '' : `${moneyIn(off, currency)} differs in all, `;
}

function settledAs({ captured, refunded, state, ...side }: Side, wanted = 'captured'): string {
  if (captured === undefined || refunded === undefined) {
    return `${money(side)} as ${state ?? wanted}`;
  }
  const [came, went] = [captured, refunded].map((amount) => money({ ...side, amount }));
  return `${came} as captured and ${went} as refunded`;
}

function times({ times: lines = 1 }: Side): string {
  return lines === 1 ? '1 line' : `${countText(lines)} lines`;
}

function inBatch({ batch }: Side): string {
  return batch === undefined ? '' : ` (batch ${batch})`;
}

/** The batch that it stands on, where it stands on no order; null elsewhere. */
export function batchOfBreak({ kind, orderNo }: { kind: string; orderNo: string }): string | null {
  const [, batch] = /^batch (.+)$/s.exec(orderNo) ?? [];
  return isOfSettlement(kind) && batch !== undefined ? batch : null;
}

/** One of what became of the captured money, not of what ledger and gateway say. */
export function isOfSettlement(kind: string): boolean {
  return kind in SETTLEMENT_SENTENCES;
}
