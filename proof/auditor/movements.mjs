// The book of movements (I15): where it is kept, what it holds of a transaction is what the gateway
// really took and gave back, whoever did it, by account and currency. Shares no code with tieout.

import { groupBy, hundredths, moneyText, orderKey, transactionKey } from './books.mjs';

const TAKEN = new Set(['captured', 'partially_refunded', 'refunded']);
const UNDECIDED = new Set(['planned', 'queued', 'sending', 'accepted', 'unknown']);

/**
 * What the newest run saw whole is held against the gateway as it stands: `bookLooks`, by order,
 * with when it was seen last. What moved since then, and what nobody can say of, is left out; what
 * stands in suspense has bounds alone.
 */
export function bookEqualsEffects(joined) {
  const booked = groupBy(joined.movements ?? [], transactionKey);
  const seen = new Map((joined.bookLooks ?? []).map((look) => [orderKey(look), look.seen_at]));
  const movedAt = newestBy(joined.effects, transactionKey, ({ at }) => Date.parse(at));
  const undecided = new Set(
    joined.instructions.filter(({ state }) => UNDECIDED.has(state)).map(orderKey),
  );
  const found = [];
  const sums = new Map();
  for (const one of joined.transactions) {
    const [key, order] = [transactionKey(one), orderKey(one)];
    if (!seen.has(order) || undecided.has(order) || one.state === 'odd') continue;
    if ((movedAt.get(key) ?? 0) >= Date.parse(seen.get(order))) continue;
    const rows = booked.get(key) ?? [];
    found.push(...wrongBook(key, one, rows));
    addTo(sums, one, rows);
  }
  return [...found, ...wrongSums(sums)];
}

function newestBy(rows, keyOf, timeOf) {
  const newest = new Map();
  for (const row of rows) {
    newest.set(keyOf(row), Math.max(newest.get(keyOf(row)) ?? 0, timeOf(row)));
  }
  return newest;
}

function wrongBook(key, transaction, rows) {
  const isTaken = TAKEN.has(transaction.state);
  const taken = isTaken ? (hundredths(transaction.amount) ?? 0n) : 0n;
  const back = hundredths(transaction.refunded ?? '0.00') ?? 0n;
  const found = [];
  const captured = sumOf(rows, 'captured');
  if (captured !== taken) {
    found.push(`${key}: ${moneyText(captured)} booked as captured, ${moneyText(taken)} was`);
  }
  const refunded = sumOf(rows, 'refunded');
  const isOpen = rows.some(({ amount }) => amount === null);
  // A further part that was refunded elsewhere shows in nothing until all of it is.
  const isHidden = transaction.state === 'partially_refunded' && refunded > 0n;
  const isRight = isOpen || isHidden ? refunded <= back : refunded === back;
  if (!isRight) {
    found.push(`${key}: ${moneyText(refunded)} booked as refunded, ${moneyText(back)} was`);
  }
  return found;
}

function sumOf(rows, kind) {
  return rows
    .filter((row) => row.kind === kind)
    .reduce((sum, { amount }) => sum + (hundredths(amount) ?? 0n), 0n);
}

/** Captures have no suspense: they are equal by account and currency as well. */
function addTo(sums, transaction, rows) {
  const key = `${transaction.account_id} ${transaction.currency}`;
  const sum = sums.get(key) ?? { real: 0n, booked: 0n };
  if (TAKEN.has(transaction.state)) {
    sum.real += hundredths(transaction.amount) ?? 0n;
  }
  sum.booked += sumOf(
    rows.filter(({ currency }) => currency === transaction.currency),
    'captured',
  );
  sums.set(key, sum);
}

function wrongSums(sums) {
  return [...sums]
    .filter(([, { real, booked }]) => real !== booked)
    .map(([key, { real, booked }]) => {
      return `${key}: ${moneyText(booked)} booked as captured, ${moneyText(real)} was`;
    });
}
