// The two sets of books that the auditor compares, brought into one shape: what the database of
// tieout says and what the gateway's own journal says. It reads, adds up and joins; it judges
// nothing. Shares no code with tieout, on purpose: an error of ours must not be made twice.

/** Operations that move money or a decision at most once for a transaction. */
export const ONCE = new Set(['capture', 'cancel', 'review']);

/** An order may have at most one instruction in these states at any time. */
export const OPEN = new Set(['planned', 'held', 'queued', 'sending', 'accepted', 'unknown']);

/** `12.34` as hundredths; null for anything else. */
export function hundredths(text) {
  const match = /^(\d+)\.(\d\d)$/.exec(text ?? '');
  return match === null ? null : BigInt(match[1]) * 100n + BigInt(match[2]);
}

export function moneyText(amount) {
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The same of an amount that may have no decimals, as payouts do. */
function hundredthsOrWhole(text) {
  return /^\d+$/.test(text ?? '') ? BigInt(text) * 100n : hundredths(text);
}

/** What a line moves: the part that goes back for a refund, the whole amount else. */
export function movedOf({ operation, amount, refund_amount }) {
  return hundredthsOrWhole(operation === 'refund' ? refund_amount : amount) ?? 0n;
}

/**
 * A person, not the night: at the gateway's portal, or with a call that tieout made for them and
 * wrote down (`isCall`).
 */
export function isByHand({ request, isCall }) {
  return isCall === true || String(request).startsWith('portal.');
}

/** The hash of the request body that caused an effect, as the journal names it. */
function bodyOf({ request }) {
  return String(request).split('.').at(-1) ?? '';
}

export function transactionKey({ account_id, transaction_id }) {
  return `${account_id} ${transaction_id}`;
}

export function orderKey({ account_id, order_no }) {
  return `${account_id} ${order_no}`;
}

export function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/**
 * Which instruction caused which effect. There is no key to go by, so an effect is traced through
 * the hash of the request that caused it to the attempts of that body, and among their entries to
 * those that move the same money of the same transaction. `ownerOf`: effect -> instruction or null.
 * What a database forgot that was put back (`forgotten`) owns its effects, too, and nothing else is
 * asked of it.
 */
export function joinBooks(books) {
  const forgotten = books.forgotten ?? { instructions: [], attempts: [], calls: [] };
  const byId = new Map(
    [...books.instructions, ...forgotten.instructions].map((row) => [String(row.id), row]),
  );
  const attemptsOf = groupBy([...books.attempts, ...forgotten.attempts], (row) => row.body_sha256);
  const calls = groupBy(
    onceEach([...(books.calls ?? []), ...(forgotten.calls ?? [])]),
    ({ body_sha256 }) => body_sha256,
  );
  const called = requestsOfCalls(books.effects, calls, attemptsOf);
  const effects = books.effects.map((effect) =>
    called.has(effect.request) ? { ...effect, isCall: true } : effect,
  );
  const ownerOf = new Map();
  const effectsOf = new Map();
  for (const effect of effects) {
    if (isByHand(effect)) continue;
    const attempts = attemptsOf.get(bodyOf(effect)) ?? [];
    const candidates = inOrderOfLikelihood(attempts, effect)
      .flatMap((attempt) => attempt.entries.map((id) => byId.get(String(id))))
      .filter((row) => row !== undefined && isSameMovement(row, effect));
    // Of several that fit, the first that has none yet; a surplus effect stays with the first.
    const free = candidates.find((row) => !effectsOf.has(row.id));
    const owner = free ?? candidates[0] ?? null;
    ownerOf.set(effect, owner);
    if (owner === null) continue;
    const known = effectsOf.get(owner.id);
    if (known === undefined) effectsOf.set(owner.id, [effect]);
    else known.push(effect);
  }
  const byHand = groupBy(effects.filter(isByHand), transactionKey);
  const twins = twinsOf(books.instructions, forgotten.instructions, effectsOf);
  return { ...books, effects, forgotten, byId, attemptsOf, ownerOf, effectsOf, byHand, twins };
}

/** A call that the database has lost, and knows again by its permit, is the one of before. */
function onceEach(calls) {
  return [...new Map(calls.map((one, at) => [one.permit_id ?? at, one])).values()];
}

/**
 * Which requests were calls by hand. A call may have the very body of a batch: then whoever wrote it
 * down last before the effect made it, and nobody made two requests of one line that was written.
 */
function requestsOfCalls(effects, calls, attemptsOf) {
  const called = new Set();
  for (const [body, ofBody] of calls) {
    const sent = (attemptsOf.get(body) ?? []).filter(isSent);
    const written = [
      ...ofBody
        .filter(isSent)
        .map((one) => ({ isCall: true, at: one.called ?? secondsOf(one.called_at) })),
      ...sent.map((one) => ({ isCall: false, at: one.claimed ?? secondsOf(one.claimed_at) })),
    ].sort((one, other) => other.at - one.at);
    for (const { at, request } of firstOfEach(effects.filter((one) => bodyOf(one) === body))) {
      const before = written.findIndex((one) => one.at <= secondsOf(at));
      // More requests than were written down are the batch's to answer for.
      const [writer] = before < 0 ? [] : written.splice(before, 1);
      if (writer?.isCall === true) called.add(request);
    }
  }
  return called;
}

const isSent = ({ outcome }) => outcome !== 'not_sent';
const secondsOf = (text) => Date.parse(text) / 1_000;

function firstOfEach(effects) {
  return [...groupBy(effects, ({ request }) => request).values()].map(([first]) => first);
}

/**
 * By instruction, what it stands for of a database that was put back: what was for the same need, in
 * whatever state it is. Of a refund the gateway shows that the money went back, and not for which
 * request: a forgotten one may have borne another name, and then it stands for the first confirmed
 * one of the same money that has no effect, and for no second.
 */
function twinsOf(instructions, forgotten, effectsOf) {
  const byNeed = groupBy(instructions, needKey);
  const twins = new Map();
  const add = (row, lost) => twins.set(row.id, [...(twins.get(row.id) ?? []), lost]);
  for (const lost of forgotten) {
    const same = byNeed.get(needKey(lost)) ?? [];
    for (const row of same) add(row, lost);
    if (lost.operation !== 'refund' || same.some(isConfirmed)) continue;
    const heir = instructions.find(
      (row) =>
        isConfirmed(row) &&
        isSameMovement(row, lost) &&
        !effectsOf.has(row.id) &&
        !twins.has(row.id),
    );
    if (heir !== undefined) add(heir, lost);
  }
  return twins;
}

const isConfirmed = ({ state }) => state === 'confirmed';

/** What an instruction is for: the same need has the same key in whichever database. */
function needKey(row) {
  return [row.operation, orderKey(row), row.transaction_id, row.refund_id ?? ''].join(' ');
}

/** Attempts of one body: those that may have sent it and came before, newest first, then the rest. */
function inOrderOfLikelihood(attempts, { at }) {
  const moment = Date.parse(at);
  const doubt = ({ outcome, claimed_at }) =>
    (outcome === 'not_sent' ? 2 : 0) + (Date.parse(claimed_at) > moment ? 1 : 0);
  const newest = (one, other) => Date.parse(other.claimed_at) - Date.parse(one.claimed_at);
  return [...attempts].sort((one, other) => doubt(one) - doubt(other) || newest(one, other));
}

function isSameMovement(row, effect) {
  return (
    row.operation === effect.operation &&
    row.account_id === effect.account_id &&
    // A payout is named by its request, which stands for order and transaction with us.
    (row.operation === 'payout'
      ? row.order_no === effect.order_no
      : row.transaction_id === effect.transaction_id) &&
    movedOf(row) === movedOf(effect)
  );
}

/** Effects of this instruction, and those by hand on its transaction that look the same. */
export function shownFor(joined, row) {
  const twins = joined.twins.get(row.id) ?? [];
  const own = [row, ...twins].flatMap(({ id }) => joined.effectsOf.get(id) ?? []);
  // A payout of somebody else's has a transaction of its own: it is named by its request.
  const around =
    row.operation === 'payout'
      ? joined.effects.filter((effect) => isByHand(effect) && effect.operation === 'payout')
      : (joined.byHand.get(transactionKey(row)) ?? []);
  const byHand = around.filter((effect) => isSameMovement(row, effect));
  return { own, byHand };
}

export { bodyOf };
