// What `tieout settlement`, its open items and its breaks have to say of an account after a stage,
// worked out from the facts and from what each line truly means (docs/CONTRACT.md section 9). It
// shares no code with the program and matches nothing. Neighbour: merchant.mjs makes the facts.

import {
  agreedFee,
  businessDateOf,
  isOverdue,
  NIGHTS,
  SETTINGS,
  sizeOf,
  TOLERANCE,
  textOf,
} from './calendar.mjs';

const ORDER_TYPES = ['captured', 'refunded'];

/** `night` and `files`: how many stages of nights and of files are over. */
export function openOracle(merchant) {
  const settledBy = new Map();
  const known = new Map();
  let stakes = new Map();
  return {
    after({ nights, files }) {
      const facts = factsOf(merchant, { nights, files });
      link(facts, settledBy, known);
      const state = { ...facts, settledBy, known };
      state.again = againOf(state);
      stakes = stakesOf(breaksOf(state), stakes);
      return { ...figuresOf(state), breaks: stakes, items: itemsOf(state) };
    },
  };
}

function factsOf(merchant, { nights, files }) {
  const movements = merchant.movements.filter(({ stage }) => stage < nights);
  const batches = [...merchant.batches.values()].filter(({ stage }) => stage < files);
  const lines = batches.flatMap((one) => one.lines);
  return { merchant, movements, batches, lines, night: NIGHTS[nights - 1] };
}

/**
 * A refund has what names it. Another line that says no more than what is settled waits: it may be
 * of an equal refund, which was not shown yet. Of equal ones each has its line once there are as
 * many; before, nobody can say which.
 */
function link({ movements, lines }, settledBy, known) {
  const waiting = lines.filter((line) => !settledBy.has(line));
  const settle = (line, movement) => {
    settledBy.set(line, movement);
    if (movement.amount === null && !known.has(movement)) known.set(movement, sizeOf(line.amount));
  };
  const alone = waiting.filter(({ group, means }) => group === null && movements.includes(means));
  for (const line of alone.filter(isNamed)) settle(line, line.means);
  for (const line of alone.filter((one) => !isNamed(one))) {
    if (!isSettled(line, { settledBy, known })) settle(line, line.means);
  }
  const settled = new Set(settledBy.values());
  for (const group of new Set(movements.flatMap((one) => one.group ?? []))) {
    const of = movements.filter((one) => one.group === group && !settled.has(one));
    const told = waiting.filter((line) => line.group === group);
    for (const [at, movement] of eachWithItsLine(of, told)) settle(told[at], movement);
  }
}

/**
 * Of equal refunds those of which each has a line: of a transaction, as many as name it; of them
 * all, where the lines that name the order alone are as many as the rest. Of more lines those that
 * say less are left over, then those that came last. Place of the line, and movement.
 */
function eachWithItsLine(of, told) {
  const names = ({ transaction }) => (transaction === null ? 1 : 0);
  const byArrival = [...told.keys()].sort(
    (one, other) => names(told[one]) - names(told[other]) || told[one].stage - told[other].stage,
  );
  const transactions = [...new Set(of.map(({ transaction }) => transaction))];
  if (transactions.length < 2) {
    return of.length > told.length ? [] : of.map((movement, at) => [byArrival[at], movement]);
  }
  const pairs = [];
  const short = [];
  for (const transaction of transactions) {
    const mine = of.filter((one) => one.transaction === transaction);
    const its = byArrival.filter((at) => told[at].transaction === transaction);
    if (its.length >= mine.length) pairs.push(...mine.map((one, at) => [its[at], one]));
    else short.push({ mine, its });
  }
  const others = byArrival.filter((at) => told[at].transaction === null);
  const missing = short.reduce((sum, { mine, its }) => sum + mine.length - its.length, 0);
  if (others.length < missing) return pairs;
  for (const { mine, its } of short) {
    pairs.push(...mine.map((one, at) => [its[at] ?? others.shift(), one]));
  }
  return pairs;
}

function isNamed({ reference, means }) {
  return reference !== null && reference === means.reference;
}

/** The line's amount is that of its refund, which has all of its money. */
function isSettled(line, state) {
  const { means } = line;
  if (means.kind !== 'refunded' || means.isHistory || !isEqual(line, means, state)) return false;
  const lines = linesOf(means, state);
  return lines.length > 0 && toldOf(means, lines).told >= amountOf(means, state);
}

function isEqual({ amount, currency }, movement, state) {
  return movement.currency === currency && amountOf(movement, state) === sizeOf(amount);
}

/** Lines that wait, and that say again what is settled already: line and movement. */
function againOf(state) {
  const again = new Map();
  const settled = new Set(state.settledBy.values());
  for (const line of state.lines) {
    if (!ORDER_TYPES.includes(line.type) || state.settledBy.has(line)) continue;
    const alike = alikeOf(line, state);
    if (alike.some((one) => !settled.has(one))) continue;
    const equal = alike.find((one) => !one.isHistory && isEqual(line, one, state));
    if (equal !== undefined) again.set(line, equal);
  }
  return again;
}

function alikeOf(line, { movements }) {
  return movements.filter((one) => one.kind === line.type && isAbout(line, one));
}

function amountOf(movement, { known }) {
  return movement.amount ?? known.get(movement) ?? null;
}

function linesOf(movement, { settledBy }) {
  return [...settledBy].filter(([, of]) => of === movement).map(([line]) => line);
}

/** With those that say it again. */
function saidOf(movement, state) {
  const again = [...state.again].filter(([, of]) => of === movement).map(([line]) => line);
  return [...linesOf(movement, state), ...again];
}

/** What is open since the stage before keeps what it opened with. */
function stakesOf(found, before) {
  return new Map([...found].map(([key, stake]) => [key, before.get(key) ?? stake]));
}

function breaksOf(state) {
  const sums = new Map();
  const add = (order, kind, currency, amount) => {
    const key = `${order}|${kind}`;
    const known = sums.get(key)?.amount ?? null;
    sums.set(key, { currency, amount: known === null ? amount : known + (amount ?? 0n) });
  };
  for (const movement of state.movements) {
    if (!movement.isHistory) breaksOfMovement(movement, state, add);
  }
  const nets = new Map();
  for (const line of state.lines.filter(isSince)) {
    for (const [kind, currency, amount] of differencesOfLine(line, state)) {
      const key = JSON.stringify([placeOf(line, state), kind, currency]);
      nets.set(key, (nets.get(key) ?? 0n) + amount);
    }
  }
  for (const [key, net] of nets) {
    const [order, kind, currency] = JSON.parse(key);
    // what was reversed is no chargeback any more
    if (kind !== 'charged_back' || net > 0n) add(order, kind, currency, sizeOf(net));
  }
  return sums;
}

function isSince({ bookedAt }) {
  return businessDateOf(bookedAt) >= SETTINGS.from;
}

function breaksOfMovement(movement, state, add) {
  const { order, currency } = movement;
  const amount = amountOf(movement, state);
  const lines = saidOf(movement, state);
  if (lines.length === 0) {
    if (isOverdue(movement.on, state.night)) add(order, 'not_settled', currency, amount);
    return;
  }
  const { told, isOther } = toldOf(movement, lines);
  if (isOther) add(order, 'settlement_amount', currency, amount);
  else if (told > amount && lines.length > 1) add(order, 'settled_twice', currency, told - amount);
  else if (told !== amount) add(order, 'settlement_amount', currency, sizeOf(told - amount));
}

function toldOf(movement, lines) {
  const same = lines.filter(({ currency }) => currency === movement.currency);
  const told = same.reduce((sum, line) => sum + sizeOf(line.amount), 0n);
  return { told, isOther: same.length < lines.length };
}

/** By kind and currency, with the sign of the money. */
function differencesOfLine(line, state) {
  const off = feeOff(line);
  const lost = lostKind(line, state);
  return [
    ...(off === 0n ? [] : [['fee_variance', line.settle, off]]),
    ...(lost === null ? [] : [[lost, line.currency, line.amount]]),
    ...(line.type.startsWith('chargeback') ? [['charged_back', line.currency, -line.amount]] : []),
  ];
}

/** Of a line without a movement, that a night after it would have shown. */
function lostKind(line, state) {
  const isLost = ORDER_TYPES.includes(line.type) && !state.settledBy.has(line);
  if (!isLost || state.again.has(line)) return null;
  if (businessDateOf(line.bookedAt) > state.night) return null;
  const { orders, shown } = state.merchant;
  const settled = new Set(state.settledBy.values());
  if (alikeOf(line, state).some((one) => !settled.has(one))) return null;
  const ordered = orders.find((one) => isAbout(line, one));
  if (ordered !== undefined && businessDateOf(ordered.placedAt) < SETTINGS.from) return null;
  const known = [...shown, ...state.movements];
  const isKnown = ordered !== undefined || known.some((one) => isAbout(line, one));
  return isKnown ? 'settled_not_captured' : 'settled_unknown';
}

function isAbout(line, { order, transaction }) {
  return line.order === order || (line.transaction !== null && line.transaction === transaction);
}

/** The order of ours that a line is about, else what it calls the order, else its batch. */
function placeOf(line, { merchant, movements, settledBy }) {
  const isOf = (one) => line.transaction !== null && one.transaction === line.transaction;
  const ours =
    settledBy.get(line) ?? [...movements, ...merchant.orders, ...merchant.shown].find(isOf);
  return ours?.order ?? line.order ?? `batch ${line.batch}`;
}

function feeOff(line) {
  if (line.type !== 'captured') return 0n;
  const off = line.fee - agreedFee(line.gross, line.settle, line.bookedAt);
  return sizeOf(off) > TOLERANCE ? off : 0n;
}

function figuresOf(state) {
  const { movements } = state;
  const since = movements.filter((one) => !one.isHistory);
  const counts = { settled: 0, open: 0, overdue: 0, differs: 0 };
  for (const movement of since) counts[fateOf(movement, state)] += 1;
  const batches = batchesOf(state);
  return {
    figures: {
      ...{ atGateway: atGatewayOf(since, state), payable: payableOf(batches) },
      ...{ bank: bankOf(batches), movements: counts },
    },
    batches,
  };
}

function fateOf(movement, state) {
  const lines = saidOf(movement, state);
  if (lines.length === 0) return isOverdue(movement.on, state.night) ? 'overdue' : 'open';
  const { told, isOther } = toldOf(movement, lines);
  return isOther || told !== amountOf(movement, state) ? 'differs' : 'settled';
}

function countedLines({ lines, settledBy }) {
  return lines.filter((line) => {
    if (!ORDER_TYPES.includes(line.type)) return false;
    const movement = settledBy.get(line);
    return movement === undefined ? isSince(line) : !movement.isHistory;
  });
}

function atGatewayOf(since, state) {
  const rows = new Map();
  const row = (currency) => {
    const known = rows.get(currency) ?? { captured: 0n, refunded: 0n, settled: 0n, suspense: 0 };
    rows.set(currency, known);
    return known;
  };
  for (const movement of since) {
    const amount = amountOf(movement, state);
    row(movement.currency)[movement.kind] += amount ?? 0n;
    row(movement.currency).suspense += amount === null ? 1 : 0;
  }
  for (const line of countedLines(state)) row(line.currency).settled += line.amount;
  return told(rows, (one) => ({ ...one, closing: one.captured - one.refunded - one.settled }));
}

/**
 * One a batch and settle currency; those that ended before the books began are history, unless they
 * settle what was captured since.
 */
function batchesOf({ batches, settledBy }) {
  return batches.flatMap(({ batch, lines }) =>
    [...new Set(lines.map(({ settle }) => settle))].flatMap((currency) => {
      const of = lines.filter(({ settle }) => settle === currency);
      const isInBooks = (line) => isSince(line) || settledBy.get(line)?.isHistory === false;
      if (!of.some(isInBooks)) return [];
      const payouts = of.filter(({ type }) => type === 'payout');
      const payout = -sum(payouts, 'gross') + (payouts.length > 0 ? 0n : sum(of, 'net'));
      const last = of.reduce((at, one) => (one.bookedAt > at ? one.bookedAt : at), '');
      return [{ batch, currency, lines: of, payout, last }];
    }),
  );
}

function sum(lines, what) {
  return lines.reduce((all, line) => all + line[what], 0n);
}

function payableOf(batches) {
  const rows = new Map();
  for (const { currency, lines, payout } of batches) {
    const of = (...types) => lines.filter(({ type }) => types.includes(type));
    const empty = { gross: 0n, fees: 0n, chargebacks: 0n, other: 0n, paidOut: 0n };
    const row = rows.get(currency) ?? empty;
    row.gross += sum(of(...ORDER_TYPES), 'gross');
    row.fees += sum(lines, 'fee') - sum(of('fee'), 'gross');
    row.chargebacks -= sum(of('chargeback', 'chargeback_reversed'), 'gross');
    row.other += sum(of('reserve', 'carried', 'adjustment'), 'gross');
    row.paidOut += payout;
    rows.set(currency, row);
  }
  return told(rows, (row) => ({ ...row, closing: 0n }));
}

function bankOf(batches) {
  const rows = new Map();
  for (const { currency, payout } of batches) {
    const row = rows.get(currency) ?? { paidOut: 0n };
    row.paidOut += payout;
    rows.set(currency, row);
  }
  return told(rows, ({ paidOut }) => ({ paidOut, arrived: 0n, closing: paidOut }));
}

function told(rows, work) {
  return [...rows].sort().map(([currency, row]) => {
    const cells = Object.entries(work(row)).map(([name, value]) => {
      return [name, typeof value === 'bigint' ? textOf(value) : value];
    });
    return { currency, ...Object.fromEntries(cells) };
  });
}

/** What the closings are made of, as `tieout settlement open` lists it; in any order. */
function itemsOf(state) {
  const { movements, settledBy } = state;
  const items = [];
  const add = (book, currency, amount, rest) => {
    const { what, order = null, transaction = null, batch = null, since, suspense = false } = rest;
    if (amount === 0n && !suspense) return;
    const names = { orderNo: order, transactionId: transaction, batch, since, suspense };
    items.push({ book, currency, amount: textOf(amount), what, ...names });
  };
  for (const movement of movements.filter((one) => !one.isHistory)) {
    const { kind: what, order, transaction, currency, on: since } = movement;
    const amount = amountOf(movement, state);
    const moved = (amount ?? 0n) * (what === 'captured' ? 1n : -1n);
    const same = linesOf(movement, state).filter((line) => line.currency === currency);
    const left = moved - sum(same, 'amount');
    add('atGateway', currency, left, {
      what,
      order,
      transaction,
      since,
      suspense: amount === null,
    });
  }
  for (const line of countedLines(state)) {
    if (settledBy.get(line)?.currency === line.currency) continue;
    const { order, transaction, batch, bookedAt } = line;
    const rest = { order, transaction, batch, since: businessDateOf(bookedAt) };
    add('atGateway', line.currency, -line.amount, { what: `settled ${line.type}`, ...rest });
  }
  for (const { batch, currency, payout, last } of batchesOf(state)) {
    add('bank', currency, payout, { what: 'payout', batch, since: businessDateOf(last) });
  }
  return items;
}
