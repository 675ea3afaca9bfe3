// The invariants about sums and completeness: nothing that was to be moved is forgotten (I5), what
// is kept as evidence is what it was (I10), and the figures of the nights are those of the books
// (I11). Shares no code with tieout.

import { createHash } from 'node:crypto';
import { groupBy, hundredths, isByHand, moneyText, movedOf, orderKey, shownFor } from './books.mjs';

const WAITS_FOR_A_PERSON = new Set(['held', 'unknown']);
/** What is planned or queued and waits for more than a night is I12's. */
const NO_END = new Set(['sending', 'accepted']);

/** Every order is where the ledger wants it, or a person is told; nothing is stuck half-way. */
export function nothingForgotten(joined) {
  const found = [];
  for (const row of joined.instructions) {
    if (NO_END.has(row.state)) {
      found.push(`${row.operation} ${row.id} of ${orderKey(row)} ended ${row.state}`);
    }
  }
  const rowsOf = groupBy(joined.instructions, orderKey);
  for (const { account_id, request_id } of joined.payouts ?? []) {
    const key = `${account_id} ${request_id}`;
    if (!rowsOf.has(key)) found.push(`payout ${key}: there is no instruction for it`);
  }
  const breaksOf = groupBy(
    joined.breaks.filter(({ state }) => state !== 'resolved'),
    orderKey,
  );
  const shown = groupBy(joined.transactions, orderKey);
  const asked = groupBy(joined.requests, orderKey);
  // What counts as done because its ledger dates it older than the account: told once, by name.
  const isHistory = new Set(
    joined.runs
      .flatMap(({ summary }) => summary?.notices ?? [])
      .filter(({ kind }) => kind === 'now_history')
      .flatMap(({ accountId, names }) => names.map((name) => `${accountId} ${name}`)),
  );
  for (const order of joined.orders) {
    const key = orderKey(order);
    const missing = whatIsMissing(order, shown.get(key) ?? [], asked.get(key) ?? []);
    const rows = rowsOf.get(key) ?? [];
    const isTold =
      breaksOf.has(key) ||
      rows.some(({ state }) => WAITS_FOR_A_PERSON.has(state)) ||
      isHistory.has(`${order.account_id} ${order.order_no}`);
    if (missing !== null && !isTold) found.push(`${key}: ${missing}, and nobody is told`);
    const unknown = rows.find(({ state }) => state === 'unknown');
    if (unknown !== undefined && !breaksOf.has(key)) {
      found.push(`${unknown.operation} ${unknown.id} of ${key} is unknown, and nobody is told`);
    }
  }
  return found;
}

const CAPTURED = new Set(['captured', 'partially_refunded', 'refunded']);
const GONE = new Set(['cancelled', 'declined', 'refunded']);
/** Ends in which no money was ever taken: there is none to give back. */
const NEVER_TAKEN = new Set(['cancelled', 'declined']);

/** What the ledger wants and the gateway does not show; null when there is nothing. */
function whatIsMissing(order, transactions, requests) {
  const one = transactions.find(({ transaction_id }) => transaction_id === order.transaction_id);
  const shown = one ?? transactions.at(-1);
  if (shown === undefined) {
    // Called off before it was ever paid: both sides agree.
    return order.expected === 'cancelled' ? null : 'the gateway does not know it';
  }
  if (order.expected === 'captured' && !CAPTURED.has(shown.state)) {
    return `to be captured, is ${shown.state}`;
  }
  if (order.expected === 'cancelled' && !GONE.has(shown.state) && requests.length === 0) {
    return `to be cancelled, is ${shown.state}`;
  }
  // Called off before the money was taken, as the ledger wants it, whatever is asked back of it.
  if (order.expected === 'cancelled' && NEVER_TAKEN.has(shown.state)) return null;
  // Called off, and all that was taken went back: nothing is left to ask for.
  if (order.expected === 'cancelled' && shown.state === 'refunded') return null;
  const wanted = requests.reduce((sum, row) => sum + (hundredths(row.refund_amount) ?? 0n), 0n);
  const back = hundredths(shown.refunded) ?? 0n;
  return back < wanted ? `${moneyText(wanted - back)} of refunds did not happen` : null;
}

/** A stored answer is the bytes that its hash was made of; each attempt has at most one. */
export function evidenceUntouched(joined) {
  const found = [];
  for (const { attempt_id, body, body_sha256 } of joined.answers) {
    if (body === null || body === undefined) continue;
    const hash = createHash('sha256').update(body).digest('hex');
    if (hash !== body_sha256) found.push(`the answer to ${attempt_id} is not what was stored`);
  }
  for (const [attempt, answers] of groupBy(joined.answers, (row) => row.attempt_id)) {
    if (answers.length > 1) found.push(`${attempt} has ${answers.length} answers`);
  }
  return found;
}

/** The totals of each night are the sums of what it confirmed; its classes add up to its orders. */
export function figuresTie(joined) {
  const found = understated(joined);
  for (const { run_id, business_date, summary } of joined.runs) {
    if (summary === null) continue;
    const settled = groupBy(
      joined.instructions.filter(
        (row) => row.state === 'confirmed' && String(row.settled_run_id) === String(run_id),
      ),
      ({ account_id }) => account_id,
    );
    for (const account of summary.accounts) {
      const name = `${business_date} ${account.accountId}`;
      const own = settled.get(account.accountId) ?? [];
      found.push(...wrongTotals(name, account.totals, own), ...wrongClasses(name, account));
    }
  }
  return found;
}

const ENDED_WELL = new Set(['tied_out', 'broken']);

/**
 * What happened before a finished night last looked is in its money, or was said to be unknown: it
 * must not have stood as merely accepted when the night was told. A code without a meaning proves
 * nothing; such an order is a break. A payout shows in no snapshot.
 */
function understated(joined) {
  const found = [];
  const eventsOf = groupBy(joined.events, ({ id }) => String(id));
  const unreadable = new Set(
    joined.breaks.filter(({ kind }) => kind === 'unknown_status').map(orderKey),
  );
  for (const run of joined.runs) {
    if (!ENDED_WELL.has(run.state) || run.ended_at == null || run.looked_at == null) continue;
    const accounts = new Set(run.summary?.accounts.map(({ accountId }) => accountId));
    for (const [id, effects] of joined.effectsOf) {
      const row = joined.byId.get(String(id));
      if (!accounts.has(row.account_id) || row.operation === 'payout') continue;
      if (unreadable.has(orderKey(row))) continue;
      if (!effects.some(({ at }) => Date.parse(at) < Date.parse(run.looked_at))) continue;
      const before = (eventsOf.get(String(id)) ?? []).filter(
        ({ at }) => Date.parse(at) <= Date.parse(run.ended_at),
      );
      if (before.at(-1)?.to !== 'accepted') continue;
      found.push(`${run.business_date}: ${row.operation} ${id} of ${orderKey(row)} is left out`);
    }
  }
  return found;
}

const COLUMNS = { captured: 'capture', cancelled: 'cancel', refunded: 'refund' };

function wrongTotals(name, totals, settled) {
  const found = [];
  const currencies = new Set([...totals, ...settled].map(({ currency }) => currency));
  for (const currency of currencies) {
    const printed = totals.find((row) => row.currency === currency) ?? {};
    for (const [column, operation] of Object.entries(COLUMNS)) {
      const sum = settled
        .filter((row) => row.operation === operation && row.currency === currency)
        .reduce((total, row) => total + movedOf(row), 0n);
      if ((hundredths(printed[column] ?? '0.00') ?? -1n) === sum) continue;
      found.push(
        `${name}: ${column} ${currency} ${printed[column]}, by the books ${moneyText(sum)}`,
      );
    }
  }
  return found;
}

function wrongClasses(name, { orders, tie }) {
  const { matched, explained, due, awaited, broken, notCompared, ledger, strangers } = orders;
  const classes = matched + explained + due + awaited + broken + notCompared;
  const found = [];
  if (classes !== ledger + strangers) found.push(`${name}: ${classes} of ${ledger + strangers}`);
  const { openBefore, reopened, waived, resolved, openAfter } = tie;
  if (openBefore + tie.new + reopened - waived - resolved !== openAfter) {
    found.push(`${name}: the breaks do not tie`);
  }
  return found;
}

/** Money by currency: what is confirmed, what moved by our requests, and what nobody can say yet. */
export function moneyByCurrency(joined) {
  const sums = new Map();
  const add = (currency, column, amount) => {
    const row = sums.get(currency) ?? { confirmed: 0n, moved: 0n, unknown: 0n, difference: 0n };
    row[column] += amount;
    sums.set(currency, row);
  };
  for (const row of joined.instructions) {
    if (row.operation === 'review' || !['confirmed', 'unknown'].includes(row.state)) continue;
    // With those of the same need in a database that was put back since.
    const { own } = shownFor(joined, row);
    // Confirmed by what somebody did by hand moved by no request of ours.
    if (row.state === 'confirmed' && own.length === 0 && hasByHand(joined, row)) continue;
    add(row.currency, row.state, movedOf(row));
    for (const effect of own) add(row.currency, 'moved', movedOf(effect));
    const counted = row.state === 'confirmed' ? movedOf(row) : 0n;
    const real = own.reduce((sum, effect) => sum + movedOf(effect), 0n);
    if (row.state === 'confirmed') add(row.currency, 'difference', real - counted);
  }
  for (const effect of joined.effects) {
    if (isByHand(effect) || effect.operation === 'review') continue;
    const owner = joined.ownerOf.get(effect);
    if (joined.forgotten.instructions.includes(owner)) continue;
    if (owner !== null && ['confirmed', 'unknown'].includes(owner?.state)) continue;
    add(effect.currency ?? owner?.currency ?? '?', 'difference', movedOf(effect));
  }
  return sums;
}

function hasByHand(joined, row) {
  const around = joined.byHand.get(`${row.account_id} ${row.transaction_id}`) ?? [];
  return around.length > 0 || shownFor(joined, row).byHand.length > 0;
}
