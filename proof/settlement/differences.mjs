// What differs between the book and the acquirer's files, kind by kind, planted into an account's
// world. Nothing here says what has to be told of it: oracle.mjs does, from the facts alone.
// Neighbour: merchant.mjs.

import { dayAfter, NIGHTS } from './calendar.mjs';
import {
  addLine,
  bookedOn,
  capture,
  drawAmount,
  drawDate,
  newNumber,
  partOf,
  refund,
  settle,
} from './merchant.mjs';

const OLD = '2026-10-28';

/** A capture, or one of its refunds, of one of the first stages. */
function movementOf(merchant, over = {}) {
  const of = capture(merchant, over);
  if (!merchant.random.chance(0.4)) return of;
  settle(merchant, of);
  return refund(merchant, of);
}

function stageOf({ random }, movement) {
  return random.between(movement.stage, NIGHTS.length - 1);
}

/** What is of neither the book nor the files yet. */
function strangeNames(merchant) {
  const no = newNumber(merchant);
  return { order: merchant.name(no), transaction: `T${no}` };
}

function strangeLine(merchant, over) {
  const { random } = merchant;
  const stage = over.stage ?? random.between(0, NIGHTS.length - 1);
  const isRefund = random.chance(0.2);
  const amount = drawAmount(merchant);
  return addLine(merchant, {
    ...{ stage, type: isRefund ? 'refunded' : 'captured', currency: merchant.currency },
    // a line of the morning after a night: that night could not have shown it
    on: random.chance(0.2) ? dayAfter(NIGHTS[stage], 1) : drawDate(merchant, stage),
    ...{ amount: isRefund ? -amount : amount, ...over },
  });
}

function chargeBack(merchant, of, over) {
  const { random } = merchant;
  const { order, transaction } = of;
  const named = random.pick([
    { order },
    { transaction },
    { order, transaction },
    { order: `psp ${order}`, transaction },
  ]);
  const { stage } = over;
  return addLine(merchant, {
    ...{ currency: of.currency, on: bookedOn(merchant, of.on, stage), ...named, ...over },
  });
}

export const DIFFERENCES = {
  /** Not settled: long overdue, just overdue, or not yet. */
  'missing line': (merchant) => {
    const of = movementOf(merchant, { stage: merchant.random.between(0, 2) });
    if (merchant.random.chance(0.3)) refund(merchant, of, { amount: partOf(merchant, of.amount) });
  },

  'settled twice': (merchant) => {
    const of = capture(merchant, { stage: merchant.random.between(0, 1) });
    const twice = [of];
    if (merchant.random.chance(0.4)) twice.push(refund(merchant, of));
    for (const movement of twice) {
      settle(merchant, movement);
      if (movement.kind === 'captured' || merchant.random.chance(0.7)) {
        settle(merchant, movement, { stage: stageOf(merchant, movement) });
      }
    }
  },

  /** The ledger or the gateway knows the order, and no capture of it was shown. */
  'settled but not captured': (merchant) => {
    const { random } = merchant;
    const { order, transaction } = strangeNames(merchant);
    const isShown = random.chance(0.4);
    if (isShown) merchant.shown.push({ order, transaction });
    else merchant.orders.push({ order, transaction, placedAt: '2026-11-03T10:00:00Z' });
    const named = random.pick([{ order }, { transaction }, { order, transaction }]);
    strangeLine(merchant, named);
  },

  'settled and unknown': (merchant) => {
    const { order, transaction } = strangeNames(merchant);
    const reference = `X${transaction}`;
    const named = [{ order }, { transaction }, { order, transaction }, { reference }];
    strangeLine(merchant, merchant.random.pick(named));
  },

  'another amount': (merchant) => {
    const { random } = merchant;
    const movement = movementOf(merchant);
    const sign = movement.kind === 'captured' ? 1n : -1n;
    const part = partOf(merchant, movement.amount);
    if (random.chance(0.2)) {
      const currency = movement.currency === 'CHF' ? 'EUR' : 'CHF';
      settle(merchant, movement, { currency });
      return;
    }
    const amount = random.chance(0.6) ? part : movement.amount + part;
    settle(merchant, movement, { amount: sign * amount });
    // what is missing may come later, or never
    const rest = movement.amount - amount;
    if (rest <= 0n || !random.chance(0.4)) return;
    settle(merchant, movement, { amount: sign * rest, stage: stageOf(merchant, movement) });
  },

  'another fee': (merchant) => {
    const { random } = merchant;
    const movement = movementOf(merchant, { stage: random.between(0, 2) });
    const line = settle(merchant, movement);
    const off = random.between(1, 300) * (random.chance(0.4) ? -1 : 1);
    line.fee += BigInt(off) * (line.settle === 'JPY' ? 100n : 1n);
    line.net = line.gross - line.fee;
  },

  'charged back': (merchant) => {
    const { random } = merchant;
    const of = capture(merchant);
    settle(merchant, of);
    const stage = stageOf(merchant, of);
    const amount = random.chance(0.7) ? of.amount : partOf(merchant, of.amount);
    chargeBack(merchant, of, { stage, type: 'chargeback', amount: -amount });
    if (!random.chance(0.5)) return;
    const back = random.chance(0.8) ? amount : partOf(merchant, amount);
    const later = random.between(stage, NIGHTS.length - 1);
    chargeBack(merchant, of, { stage: later, type: 'chargeback_reversed', amount: back });
  },

  'each way to name it': (merchant) => {
    const of = capture(merchant);
    const style = merchant.random.pick(['order', 'transaction', 'both', 'strange']);
    settle(merchant, of, { style });
    const reference = `R${newNumber(merchant)}`;
    const back = refund(merchant, of, { reference });
    const styles = ['reference', 'order', 'transaction', 'all', 'strange'];
    settle(merchant, back, { style: merchant.random.pick(styles) });
    // a second payment of the same order, that only its transaction tells apart
    if (!merchant.random.chance(0.4)) return;
    const second = capture(merchant, { order: of.order });
    settle(merchant, second, { style: 'transaction' });
  },

  /** As many lines as refunds, fewer, or one that its reference sets apart. */
  'equal refunds': (merchant) => {
    const { random } = merchant;
    const of = capture(merchant, { amount: drawAmount(merchant) * 10n });
    settle(merchant, of, { style: 'both' });
    const count = random.between(2, 3);
    const group = `equal ${of.key}`;
    const step = merchant.currency === 'JPY' ? 100n : 1n;
    const amount = BigInt(random.between(1, 90)) * step;
    const later = stageOf(merchant, of);
    const isApart = random.chance(0.4);
    for (let at = 0; at < count; at += 1) {
      const isNamed = isApart && at === 0;
      const over = { amount, group: isNamed ? null : group, reference: null };
      const back = refund(merchant, of, isNamed ? { ...over, reference: `R${of.key}` } : over);
      if (isNamed) settle(merchant, back, { style: 'reference' });
    }
    const left = isApart ? count - 1 : count;
    const lines = random.pick([left, left, left, 1]);
    for (let at = 0; at < lines; at += 1) {
      const stage = at === 0 ? of.stage : later;
      addLine(merchant, {
        ...{ type: 'refunded', currency: of.currency, amount: -amount, order: of.order, group },
        ...{ stage, on: bookedOn(merchant, of.on, stage) },
      });
    }
  },

  /** Equal refunds of one order and their lines, in any order of arrival, and not as many of each. */
  'equal refunds at any time': (merchant) => {
    const { random } = merchant;
    const last = NIGHTS.length - 1;
    const stage = random.between(0, 1);
    const of = capture(merchant, { stage, amount: drawAmount(merchant) * 10n });
    settle(merchant, of, { style: 'both' });
    const group = `any ${of.key}`;
    const amount = merchant.currency === 'JPY' ? 700n : 7n;
    const anyStage = () => random.between(of.stage, last);
    const over = { amount, reference: null, group };
    const back = Array.from({ length: random.between(1, 3) }, () =>
      refund(merchant, of, { ...over, stage: anyStage() }),
    );
    for (let left = random.between(1, 4); left > 0; left -= 1) {
      const style = random.pick(['order', 'transaction', 'both']);
      settle(merchant, back[0], { style, group, means: null, stage: anyStage() });
    }
  },

  /** Equal refunds over the two payments of one order; lines name one of these, or the order alone. */
  'equal refunds of two payments': (merchant) => {
    const { random } = merchant;
    const stage = random.between(0, 1);
    const first = capture(merchant, { stage, amount: drawAmount(merchant) * 10n });
    const { order, on, currency } = first;
    const second = capture(merchant, { stage, on, order, amount: first.amount });
    const group = `two ${first.key}`;
    const amount = currency === 'JPY' ? 900n : 9n;
    for (const of of [first, second]) {
      const { transaction } = of;
      settle(merchant, of, { style: 'transaction' });
      for (let left = random.between(1, 3); left > 0; left -= 1) {
        refund(merchant, of, { amount, reference: null, group });
        // none, or one of any night
        if (random.chance(0.1)) continue;
        const named = random.pick([{ order }, { transaction }, { order, transaction }]);
        const later = random.pick([stage, random.between(stage, NIGHTS.length - 1)]);
        addLine(merchant, {
          ...{ type: 'refunded', currency, amount: -amount, group, ...named },
          ...{ stage: later, on: bookedOn(merchant, on, later) },
        });
      }
    }
  },

  /** A line that comes stages after its movement, or before it. */
  'late line': (merchant) => {
    const { random } = merchant;
    if (random.chance(0.6)) {
      const of = movementOf(merchant, { stage: random.between(0, 1) });
      settle(merchant, of, { stage: random.between(of.stage + 1, NIGHTS.length - 1) });
      return;
    }
    const stage = random.between(1, 2);
    const of = capture(merchant, { stage });
    const { order, transaction } = of;
    if (random.chance(0.5)) {
      merchant.orders.push({ order, transaction, placedAt: '2026-11-03T10:00:00Z' });
    }
    settle(merchant, of, { stage: stage - 1, on: drawDate(merchant, stage - 1) });
  },

  /** The acquirer puts right what it said, by another batch. */
  'corrected batch': (merchant) => {
    const { random } = merchant;
    const of = capture(merchant, { stage: random.between(0, 1) });
    const said = partOf(merchant, of.amount);
    settle(merchant, of, { amount: said, style: 'both' });
    const stage = random.between(of.stage, NIGHTS.length - 1);
    const batch = `corrected ${of.key}`;
    const isWhole = random.chance(0.4);
    const amount = isWhole ? of.amount : of.amount - said;
    if (amount === 0n) return;
    settle(merchant, of, { amount, stage, batch, style: 'both' });
    if (!isWhole || !random.chance(0.5)) return;
    const on = NIGHTS[stage];
    const back = { type: 'adjustment', amount: -said, fee: 0n, currency: of.currency };
    addLine(merchant, { ...back, stage, batch, on, order: of.order });
  },

  /** What was captured or settled before the books begin. */
  history: (merchant) => {
    const { random } = merchant;
    const of = capture(merchant, { on: OLD, isHistory: true });
    const amount = random.chance(0.7) ? of.amount : partOf(merchant, of.amount);
    const before = { stage: 0, on: OLD, batch: 'old' };
    random.pick([
      () => null,
      () => settle(merchant, of, { ...before, amount }),
      () => settle(merchant, of, { amount, stage: random.between(0, 2) }),
      () => strangeLine(merchant, { ...before, ...strangeNames(merchant) }),
      // booked before, and settles what was captured since
      () => settle(merchant, capture(merchant), before),
      // one batch on both sides of the first date
      () => {
        settle(merchant, of, { ...before, batch: '1' });
        settle(merchant, capture(merchant), { batch: '1' });
      },
      () => chargeBack(merchant, of, { stage: 1, type: 'chargeback', amount: -amount }),
      () => chargeBack(merchant, of, { ...before, type: 'chargeback', amount: -amount }),
      () => {
        const names = strangeNames(merchant);
        merchant.orders.push({ ...names, placedAt: `${OLD}T10:00:00Z` });
        strangeLine(merchant, { ...names, stage: 1 });
      },
    ])();
  },

  'settled in another currency': (merchant) => {
    const { random } = merchant;
    const movement = movementOf(merchant, { stage: random.between(0, 1) });
    const settled = movement.currency === 'USD' ? 'EUR' : 'USD';
    const sign = movement.kind === 'captured' ? 1n : -1n;
    const gross = (sign * movement.amount * BigInt(random.between(60, 160))) / 100n;
    const line = settle(merchant, movement, { settle: settled, gross: gross || sign });
    if (!random.chance(0.3)) return;
    line.fee += 200n;
    line.net -= 200n;
  },

  /** A refund made elsewhere in part, of which nobody knows the amount until its line says it. */
  'in suspense': (merchant) => {
    const { random } = merchant;
    const of = capture(merchant);
    settle(merchant, of);
    const amount = partOf(merchant, of.amount);
    const back = refund(merchant, of, { amount: null, reference: null });
    if (random.chance(0.3)) return;
    const stage = stageOf(merchant, back);
    const style = random.pick(['order', 'transaction', 'both']);
    settle(merchant, back, { stage, style, amount: -amount });
  },
};
