// The invariants of money, each as a function from the joined books to the ways in which they are
// broken. I1 to I4 and I6 to I9 stand here, those that compare instructions with effects; the ones
// about sums and completeness are in conservation.mjs. Shares no code with tieout.

import {
  bodyOf,
  groupBy,
  hundredths,
  isByHand,
  movedOf,
  ONCE,
  OPEN,
  orderKey,
  shownFor,
  transactionKey,
} from './books.mjs';

const nameOf = (row) => `${row.operation} ${row.id} of ${orderKey(row)} (${row.state})`;
const lineOf = (effect) =>
  `${effect.operation} of ${orderKey(effect)} at ${effect.at} (${effect.request})`;

/** No instruction has more than one effect, no transaction two captures, no request two refunds. */
export function onceOnly(joined) {
  const found = [];
  for (const [id, effects] of joined.effectsOf) {
    if (effects.length < 2) continue;
    found.push(`${nameOf(joined.byId.get(String(id)))} has ${effects.length} effects`);
  }
  const ours = joined.effects.filter((effect) => !isByHand(effect) && ONCE.has(effect.operation));
  const same = groupBy(ours, (effect) => `${effect.operation} ${transactionKey(effect)}`);
  for (const [what, effects] of same) {
    if (effects.length > 1) found.push(`${what} was done ${effects.length} times by us`);
  }
  const payouts = joined.effects.filter(({ operation }) => operation === 'payout');
  for (const [what, effects] of groupBy(payouts, orderKey)) {
    if (effects.length > 1) found.push(`payout ${what} was made ${effects.length} times`);
  }
  const refunds = [...joined.instructions, ...joined.forgotten.instructions].filter(
    ({ operation }) => operation === 'refund',
  );
  for (const [what, rows] of groupBy(refunds, (row) => `${row.account_id} ${row.refund_id}`)) {
    const done = rows.reduce((sum, row) => sum + (joined.effectsOf.get(row.id)?.length ?? 0), 0);
    if (rows.length > 1 && done > 1) found.push(`request ${what} was refunded ${done} times`);
  }
  return [...found, ...doneAfterACall(joined)];
}

/** What a person did with a call of tieout's is not done again by a batch that is claimed later. */
function doneAfterACall({ byId, byHand, effectsOf, attemptsOf }) {
  const found = [];
  for (const [id, effects] of effectsOf) {
    const row = byId.get(String(id));
    // Two parts of a refund look alike: of those the sum decides.
    if (row.operation === 'refund') continue;
    const calls = (byHand.get(transactionKey(row)) ?? []).filter(
      (call) => !isPortal(call) && call.operation === row.operation && isSame(call, row),
    );
    for (const effect of effects) {
      const claims = (attemptsOf.get(bodyOf(effect)) ?? []).map((one) =>
        Date.parse(one.claimed_at),
      );
      const before = calls.find(({ at }) => Date.parse(at) < Math.min(...claims));
      if (before !== undefined) found.push(`${lineOf(effect)} was done by hand: ${lineOf(before)}`);
    }
  }
  return found;
}

const isPortal = ({ request }) => String(request).startsWith('portal.');
const isSame = (call, row) => movedOf(call) === movedOf(row);

/** What is confirmed has exactly one effect, of the same amount and currency. */
export function confirmedHappened(joined) {
  const found = [];
  for (const row of joined.instructions) {
    if (row.state !== 'confirmed') continue;
    const { own, byHand } = shownFor(joined, row);
    if (own.length + byHand.length === 0) found.push(`${nameOf(row)} has no effect`);
    for (const effect of [...own, ...byHand]) {
      if (effect.currency === undefined || effect.currency === row.currency) continue;
      found.push(`${nameOf(row)} is in ${row.currency}, its effect in ${effect.currency}`);
    }
  }
  return found;
}

const NOTHING_HAPPENED = new Set(['rejected', 'withdrawn', 'planned', 'held', 'queued']);

/** What is rejected, withdrawn, or waits has no effect of ours; nor has an attempt not sent. */
export function nothingElseHappened(joined) {
  const found = [];
  for (const row of joined.instructions) {
    const own = joined.effectsOf.get(row.id) ?? [];
    if (own.length > 0 && NOTHING_HAPPENED.has(row.state)) {
      found.push(`${nameOf(row)}, yet it happened: ${lineOf(own[0])}`);
    }
  }
  for (const [body, effects] of bodies(joined)) {
    const attempts = joined.attemptsOf.get(body) ?? [];
    if (attempts.length === 0 || attempts.some(({ outcome }) => outcome !== 'not_sent')) continue;
    found.push(`attempt ${attempts[0].attempt_id} is not sent, yet caused ${lineOf(effects[0])}`);
  }
  return found;
}

/** Every effect belongs to one instruction or was made by hand. */
export function allAccountedFor(joined) {
  const strange = joined.effects
    .filter((effect) => !isByHand(effect) && joined.ownerOf.get(effect) === null)
    .map((effect) => `nobody ordered the ${lineOf(effect)}`);
  return [...strange, ...moreThanAsked(joined)];
}

/**
 * With each refund of ours, all of its order come to no more than the ledger asked for when it was
 * claimed, whatever rows it held before. `asked` is what the ledger's rows were, and when.
 */
function moreThanAsked({ effects, ownerOf, attemptsOf, asked }) {
  if (asked === undefined) return [];
  const found = [];
  const refunds = effects.filter((one) => one.operation === 'refund' && !isPortal(one));
  for (const [key, all] of groupBy(refunds, orderKey)) {
    const ours = [];
    for (const effect of all.filter((one) => !isByHand(one))) {
      ours.push(effect);
      const claims = (attemptsOf.get(bodyOf(effect)) ?? []).map(({ claimed }) => claimed);
      if (ownerOf.get(effect) === null || claims.length === 0) continue;
      // What a person did while it was on its way already could not be known to it.
      const claimedLast = Math.max(...claims) * 1_000;
      const calls = all.filter((one) => isByHand(one) && Date.parse(one.at) < claimedLast);
      const back = [...ours, ...calls].reduce((sum, one) => sum + movedOf(one), 0n);
      const wanted = askedAt(asked.get(key) ?? [], claims);
      if (back > wanted) found.push(`${lineOf(effect)}: ${back} given back, ${wanted} asked for`);
    }
  }
  return found;
}

/** The most that was asked for at one of the claims; in hundredths. */
function askedAt(states, claims) {
  const sums = claims.map((at) => states.findLast((one) => one.at <= at)?.sum ?? 0n);
  return sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
}

/**
 * An effect that a snapshot can show leaves no unknown behind; a partial refund waits for a person, and
 * so does an order that somebody moved on by hand, or that a request moved on which the database forgot
 * as it was put back: the snapshot shows the later move.
 */
export function unknownOnlyWhereNobodyCanSay(joined) {
  const found = [];
  for (const row of joined.instructions) {
    if (row.state !== 'unknown' || row.is_disputed || row.operation === 'payout') continue;
    if (joined.byHand.has(transactionKey(row)) || isMovedOn(joined, row)) continue;
    const isPartial =
      row.operation === 'refund' && hundredths(row.refund_amount) !== hundredths(row.amount);
    const own = joined.effectsOf.get(row.id) ?? [];
    if (!isPartial && own.length > 0) found.push(`${nameOf(row)}, though its effect shows`);
  }
  return found;
}

function isMovedOn({ forgotten, effectsOf }, row) {
  return forgotten.instructions.some(
    (other) =>
      transactionKey(other) === transactionKey(row) &&
      other.operation !== row.operation &&
      (effectsOf.get(other.id) ?? []).length > 0,
  );
}

/** Of no transaction more is given back than was captured; nothing is captured that was not. */
export function refundsWithinCapture(joined) {
  const found = [];
  const amounts = new Map(joined.transactions.map((row) => [transactionKey(row), row]));
  const refunds = joined.effects.filter(({ operation }) => operation === 'refund');
  for (const [key, effects] of groupBy(refunds, transactionKey)) {
    const captured = hundredths(amounts.get(key)?.amount);
    const back = effects.reduce((sum, effect) => sum + movedOf(effect), 0n);
    if (captured !== null && back > captured) found.push(`${key}: more refunded than captured`);
  }
  return found;
}

/** Each request that had an effect was claimed before, and no claim caused two requests. */
export function claimedBefore(joined) {
  const found = [];
  for (const [body, effects] of bodies(joined)) {
    const requests = new Set(effects.map(({ request }) => request));
    const claims = (joined.attemptsOf.get(body) ?? []).filter(
      ({ outcome }) => outcome !== 'not_sent',
    );
    if (claims.length === 0) found.push(`no claim stands for the ${lineOf(effects[0])}`);
    else if (requests.size > claims.length) {
      found.push(`${claims.length} claims, ${requests.size} requests of body ${body}`);
    }
    const first = Math.min(...claims.map(({ claimed_at }) => Date.parse(claimed_at)));
    const early = effects.find(({ at }) => Date.parse(at) < first);
    if (early !== undefined) found.push(`${lineOf(early)} came before its claim`);
  }
  return found;
}

function bodies(joined) {
  const ours = joined.effects.filter((effect) => !isByHand(effect));
  return groupBy(ours, bodyOf);
}

/** At most one open instruction an order at any time; no capture after a cancel. */
export function oneAtATime(joined) {
  const found = [];
  const open = new Map();
  for (const event of [...joined.events].sort((one, other) => Number(one.seq - other.seq))) {
    const row = joined.byId.get(String(event.id));
    if (row === undefined) {
      found.push(`event ${event.seq} is of an instruction that is gone`);
      continue;
    }
    const key = orderKey(row);
    const ids = open.get(key) ?? new Set();
    if (OPEN.has(event.to)) ids.add(row.id);
    else ids.delete(row.id);
    open.set(key, ids);
    if (ids.size > 1) found.push(`${key} has ${ids.size} open instructions at event ${event.seq}`);
  }
  const cancelled = new Set();
  for (const effect of joined.effects) {
    const key = transactionKey(effect);
    if (effect.operation === 'cancel') cancelled.add(key);
    if (effect.operation === 'capture' && cancelled.has(key) && !isByHand(effect)) {
      found.push(`${lineOf(effect)} after its cancel`);
    }
  }
  return found;
}
