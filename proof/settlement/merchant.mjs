// One account of the oracle's world: what was captured and refunded, and what the acquirer's batches
// say of it. Each line knows which movement it truly means, so that nothing has to be matched to
// know what is right. Neighbours: differences.mjs plants, oracle.mjs works out what has to be told.

import { randomOf } from '../random.mjs';
import { agreedFee, dayAfter, NIGHTS, SETTINGS, TOLERANCE, textOf } from './calendar.mjs';

const CURRENCIES = ['EUR', 'EUR', 'EUR', 'USD', 'JPY', 'KWD'];
/** Order numbers as shops have them. */
const NAMES = [(no) => `${no}`, (no) => `00${no}`, (no) => `A,${no}`, (no) => `Ä "${no}"`];

export function openMerchant(accountId, seeds) {
  const random = randomOf(...seeds);
  return {
    ...{ accountId, random, currency: random.pick(CURRENCIES), name: random.pick(NAMES) },
    /** captures and refunds as the book has them */
    movements: [],
    /** orders of the ledger, and transactions that the newest look showed */
    ...{ orders: [], shown: [] },
    /** lines by stage and name of their batch */
    batches: new Map(),
    made: 0,
  };
}

export function newNumber(merchant) {
  merchant.made += 1;
  return merchant.made;
}

export function drawAmount({ random, currency }) {
  const amount = BigInt(random.between(100, 60_000));
  return currency === 'JPY' ? amount * 100n : amount;
}

/** A part of it that the currency can express, neither nothing nor all. */
export function partOf(merchant, amount) {
  const step = merchant.currency === 'JPY' ? 100n : 1n;
  const steps = Number(amount / step);
  return BigInt(merchant.random.between(1, Math.max(1, steps - 1))) * step;
}

/** A business date of what a stage (0, 1, 2) brings. */
export function drawDate({ random }, stage) {
  const first = stage === 0 ? SETTINGS.from : dayAfter(NIGHTS[stage - 1], 1);
  const days = (Date.parse(NIGHTS[stage]) - Date.parse(first)) / 86_400_000;
  return dayAfter(first, random.between(0, days));
}

/** Books a capture of a new order. */
export function capture(merchant, { stage = 0, on = drawDate(merchant, stage), ...over } = {}) {
  const no = newNumber(merchant);
  const movement = {
    ...{ key: no, kind: 'captured', order: merchant.name(no), transaction: `T${no}` },
    ...{ currency: merchant.currency, amount: drawAmount(merchant), reference: null },
    ...{ on, stage, isHistory: false, group: null, ...over },
  };
  merchant.movements.push(movement);
  return movement;
}

/** Books a refund of a capture. */
export function refund(merchant, of, over = {}) {
  const no = newNumber(merchant);
  const movement = {
    ...of,
    ...{ key: no, kind: 'refunded', amount: partOf(merchant, of.amount), group: null },
    ...{ reference: merchant.random.chance(0.5) ? `R${no}` : null, ...over },
  };
  merchant.movements.push(movement);
  return movement;
}

const STYLES = {
  order: ({ order }) => ({ order }),
  transaction: ({ transaction }) => ({ transaction }),
  both: ({ order, transaction }) => ({ order, transaction }),
  // what the acquirer calls an order is not always what the shop does
  strange: ({ order, transaction }) => ({ order: `psp ${order}`, transaction }),
  reference: ({ reference }) => ({ reference }),
  all: ({ order, transaction, reference }) => ({ order, transaction, reference }),
};

/** How a line may name a movement; `several`: only what is the movement's own names it. */
export function drawStyle({ random }, movement) {
  const plain = ['order', 'transaction', 'both', 'both', 'strange'];
  return random.pick(movement.reference === null ? plain : [...plain, 'reference', 'all']);
}

/** A line that means a movement; `over` says what is different from how it should be. */
export function settle(merchant, movement, over = {}) {
  const { style = drawStyle(merchant, movement), stage = movement.stage, ...rest } = over;
  const amount = movement.kind === 'captured' ? movement.amount : -movement.amount;
  return addLine(merchant, {
    ...{ stage, type: movement.kind, currency: movement.currency, amount },
    ...{ on: bookedOn(merchant, movement.on, stage), means: movement, ...STYLES[style](movement) },
    ...rest,
  });
}

/** Not before the money moved, in the days before a night. */
export function bookedOn(merchant, on, stage) {
  const least = stage === 0 ? SETTINGS.from : dayAfter(NIGHTS[stage - 1], 1);
  const first = on > least ? on : least;
  const days = (Date.parse(NIGHTS[stage]) - Date.parse(first)) / 86_400_000;
  return dayAfter(first, merchant.random.between(0, Math.max(0, days)));
}

/** Late in the evening, too: until the cut-off it is the same business date. */
const TIMES = ['T12:00:00Z', 'T01:00:00Z', 'T23:30:00Z'];

/** Adds any line; what is not given is as the tariff and the arithmetic of a line want it. */
export function addLine(merchant, given) {
  const { random } = merchant;
  const { stage, type, on, batch = `${stage + 1}${random.pick(['', '', 'b'])}` } = given;
  const bookedAt = `${on}${random.pick(TIMES)}`;
  const settle = given.settle ?? given.currency;
  const gross = given.gross ?? given.amount;
  const fee = given.fee ?? drawFee(merchant, { type, gross, settle, bookedAt });
  const line = {
    ...{ means: null, order: null, transaction: null, reference: null, group: null },
    ...given,
    ...{ id: `L${newNumber(merchant)}`, batch, bookedAt, settle, gross, fee, net: gross - fee },
  };
  const known = merchant.batches.get(batch) ?? { batch, stage, lines: [] };
  known.lines.push(line);
  merchant.batches.set(batch, known);
  return line;
}

/** As agreed, or off by what is tolerated. */
function drawFee({ random }, { type, gross, settle, bookedAt }) {
  if (type !== 'captured') return random.chance(0.2) && settle !== 'JPY' ? 35n : 0n;
  const fee = agreedFee(gross, settle, bookedAt);
  if (settle === 'JPY' || !random.chance(0.1)) return fee;
  return fee + random.pick([-TOLERANCE, TOLERANCE]);
}

/** What else a batch holds, and the payout that closes it. */
export function closeBatches(merchant) {
  for (const { batch, stage, lines } of merchant.batches.values()) {
    for (const settle of new Set(lines.map((line) => line.settle))) {
      const last = lines.reduce((found, line) => (line.on > found ? line.on : found), '');
      const common = { batch, stage, on: last, currency: settle };
      addCosts(merchant, common);
      const sum = lines
        .filter((line) => line.settle === settle)
        .reduce((all, line) => all + line.net, 0n);
      closeBatch(merchant, common, sum);
    }
  }
}

function addCosts(merchant, common) {
  const { random } = merchant;
  const step = common.currency === 'JPY' ? 100n : 1n;
  const draw = (most) => BigInt(random.between(1, most)) * step;
  if (random.chance(0.3)) {
    const cost = draw(900);
    // written as a fee, or as money that goes out
    const money = random.chance(0.5) ? { gross: 0n, fee: cost } : { gross: -cost, fee: 0n };
    addLine(merchant, { ...common, type: 'fee', amount: money.gross, ...money });
  }
  for (const type of ['reserve', 'carried', 'adjustment']) {
    if (!random.chance(0.15)) continue;
    const amount = random.chance(0.5) ? draw(700) : -draw(700);
    addLine(merchant, { ...common, type, amount, fee: 0n });
  }
}

function closeBatch(merchant, common, sum) {
  if (sum === 0n || merchant.random.chance(0.4)) return;
  const type = sum > 0n ? 'payout' : 'carried';
  addLine(merchant, { ...common, type, amount: -sum, fee: 0n });
}

const HEAD = [
  ...['account_id', 'batch', 'line_id', 'type', 'booked_at', 'order_no', 'transaction_id'],
  ...['reference', 'currency', 'amount', 'settle_currency', 'gross', 'fee', 'net'],
];

export const COLUMNS = Object.fromEntries(HEAD.map((name) => [name, { from: name }]));

/** The acquirer's file of a stage, of several merchants. */
export function fileOf(merchants, stage) {
  const lines = merchants.flatMap((merchant) =>
    [...merchant.batches.values()]
      .filter((one) => one.stage === stage)
      .flatMap((one) => one.lines.map((line) => rowOf(merchant, line))),
  );
  return `${[HEAD.join(','), ...lines].join('\n')}\n`;
}

function rowOf({ accountId }, line) {
  const isOne = line.settle === line.currency;
  const money = [line.gross, line.fee, line.net].map(textOf);
  // what follows from the rest may be left out
  if (isOne && line.type !== 'fee') money[0] = '';
  return [
    ...[accountId, line.batch, line.id, line.type, line.bookedAt],
    ...[line.order, line.transaction, line.reference],
    ...[line.currency, textOf(line.amount), isOne ? '' : line.settle, ...money],
  ]
    .map(cell)
    .join(',');
}

function cell(text) {
  if (text === null) return '';
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
