// The three questions about a night that come after the money: did it end (I12), do its figures
// equal what really happened at the gateway (I13), and was everybody told of what needs somebody
// (I14)? Shares no code with tieout.

import { groupBy, hundredths, isByHand, moneyText, movedOf, orderKey } from './books.mjs';

const nameOf = (row) => `${row.operation} ${row.id} of ${orderKey(row)} (${row.state})`;

/** Summaries of the newest run that spoke of an account: by account, as { run, account }. */
function newestWords({ runs }) {
  const newest = new Map();
  for (const run of runs) {
    for (const account of run.summary?.accounts ?? []) {
      newest.set(account.accountId, { run, account });
    }
  }
  return newest;
}

/** No run without an end, no request without an outcome, nothing half-way of which nobody speaks. */
export function everythingEnded(joined) {
  const found = [];
  for (const run of joined.runs) {
    if (run.state === 'running' || run.is_worked_on === true) {
      found.push(`the run of ${run.business_date} did not end`);
    } else if (run.summary === null && !isLeftToALaterOne(run, joined)) {
      found.push(`the run of ${run.business_date} ended ${run.state}, without figures`);
    }
  }
  for (const { attempt_id, outcome } of joined.attempts) {
    if (outcome === null) found.push(`nobody says what became of attempt ${attempt_id}`);
  }
  const newest = newestWords(joined);
  for (const row of joined.instructions) {
    if (!['planned', 'queued'].includes(row.state)) continue;
    const said = newest.get(row.account_id)?.account.state;
    if (said !== 'incomplete') found.push(`${nameOf(row)} waits, and its account is ${said}`);
  }
  return found;
}

const LEFT = 'its process or the database went away before its end';

/** Says that it was cut off, and a later night has done its dates with its own. */
function isLeftToALaterOne({ state, failure, business_date }, { runs }) {
  if (state !== 'failed' || failure?.startsWith(LEFT) !== true) return false;
  return runs.some((run) => (run.summary?.covers ?? []).includes(business_date));
}

const COLUMNS = { capture: 'captured', cancel: 'cancelled', refund: 'refunded' };

const FROM_THE_BEGINNING = { from: { moment: Number.NEGATIVE_INFINITY, seq: 0 }, said: [] };

/**
 * The totals of a night are the effects that its own requests had, less those of which it says that
 * nobody knows them, and those of earlier requests that it found. What it did and knows counts in
 * that night, not in a later one.
 */
export function summaryEqualsEffects(joined) {
  const found = [];
  const endsOf = groupBy(joined.ends ?? [], ({ run_id }) => run_id);
  const trails = groupBy(joined.events, ({ id }) => id);
  const claimOf = claimsByEffect(joined);
  const summedOf = groupBy(joined.summings ?? [], ({ run_id }) => run_id);
  const rowsOf = groupBy(joined.instructions, ({ account_id }) => account_id);
  const before = new Map();
  for (const run of joined.runs) {
    const end = (endsOf.get(run.run_id) ?? []).at(-1);
    if (end === undefined || end.summary === null) continue;
    // What was settled while the figures were told is the next night's.
    const summed = (summedOf.get(run.run_id) ?? []).at(-1) ?? { moment: end.moment, seq: null };
    for (const account of end.summary.accounts) {
      const { from, said } = before.get(account.accountId) ?? FROM_THE_BEGINNING;
      // Left the configuration in the middle of it: what became of its money then is told by the
      // next night that works on it, and both together have to say all of it.
      if (run.worked_on?.includes(account.accountId) === false) {
        before.set(account.accountId, { from, said: [...said, ...account.totals] });
        continue;
      }
      before.set(account.accountId, { from: summed, said: [] });
      const night = { run, from, until: summed, said };
      const rows = rowsOf.get(account.accountId) ?? [];
      found.push(...wrongNight(joined, { night, account, rows, trails, claimOf }));
    }
  }
  return found;
}

/** When the request that caused an effect was claimed; the last one that may have. */
function claimsByEffect({ effects, attemptsOf }) {
  const claimOf = new Map();
  for (const effect of effects) {
    if (isByHand(effect)) continue;
    const attempts = attemptsOf.get(String(effect.request).split('.').at(-1)) ?? [];
    const claims = attempts
      .filter(({ outcome }) => outcome !== 'not_sent')
      .map((one) => one.claimed);
    if (claims.length > 0) claimOf.set(effect, Math.max(...claims));
  }
  return claimOf;
}

function wrongNight(joined, { night, account, rows, trails, claimOf }) {
  const { run, from, until } = night;
  const found = [];
  const sums = new Map();
  const add = (row, amount) => {
    const column = COLUMNS[row.operation];
    if (column === undefined) return;
    const key = `${column} ${row.currency}`;
    sums.set(key, (sums.get(key) ?? 0n) + amount);
  };
  for (const row of rows) {
    const then = stateAt(trails.get(row.id) ?? [], until);
    const before = stateAt(trails.get(row.id) ?? [], from);
    const own = joined.effectsOf.get(row.id) ?? [];
    const made = own.filter((effect) => isWithin(claimOf.get(effect), night));
    if (then === 'confirmed' && before !== 'confirmed') {
      const real = own.length > 0 ? own.reduce((sum, one) => sum + movedOf(one), 0n) : movedOf(row);
      add(row, real);
    } else if (made.length > 0 && !saysSo(then, row, account)) {
      found.push(
        `${run.business_date} did ${nameOf(row)}, which was ${then}: it says nothing of it`,
      );
    }
  }
  for (const currency of new Set([...night.said, ...account.totals].map((one) => one.currency))) {
    for (const column of Object.values(COLUMNS)) {
      const key = `${column} ${currency}`;
      const said = [...night.said, ...account.totals]
        .filter((one) => one.currency === currency)
        .reduce((sum, one) => sum + (hundredths(one[column] ?? '0.00') ?? -1n), 0n);
      const real = sums.get(key) ?? 0n;
      sums.delete(key);
      if (said === real) continue;
      const words = `says ${key} ${moneyText(said)}, really ${moneyText(real)}`;
      found.push(`${run.business_date} ${account.accountId} ${words}`);
    }
  }
  for (const [key, real] of sums) {
    if (real === 0n) continue;
    found.push(`${run.business_date} ${account.accountId} leaves out ${key} ${moneyText(real)}`);
  }
  return found;
}

function isWithin(moment, { from, until }) {
  return moment > from.moment && moment <= until.moment;
}

/** null: it did not exist yet. */
function stateAt(trail, { moment, seq }) {
  const isThen = (event) => (seq === null ? event.moment <= moment : event.seq <= seq);
  return trail.findLast(isThen)?.to ?? null;
}

/** What happened and is not counted is unknown, in a night that says so, or was refused to us. */
function saysSo(then, row, account) {
  if (then === 'confirmed') return true;
  if (then === 'unknown') return (account.instructions[row.operation]?.unknown ?? 0) > 0;
  // No snapshot shows a payout: what waits for its answer's yes stands as accepted.
  if (then === 'accepted' && row.operation === 'payout') {
    return (account.instructions.payout?.accepted ?? 0) > 0;
  }
  return account.state === 'incomplete' || then === 'rejected';
}

/** Who has to act can see it: as a break, on hold, in the figures, in a notice of the newest night. */
export function everybodyTold(joined) {
  const newest = newestWords(joined);
  const open = groupBy(
    joined.breaks.filter(({ state }) => state === 'open'),
    ({ account_id }) => account_id,
  );
  // Whoever waived the break of an unknown one has seen it, and said why.
  const waived = new Set(
    joined.breaks
      .filter(({ kind, state }) => kind === 'outcome_unknown' && state === 'waived')
      .map(orderKey),
  );
  const unknown = groupBy(
    joined.instructions.filter((row) => row.state === 'unknown' && !waived.has(orderKey(row))),
    ({ account_id }) => account_id,
  );
  const found = [];
  for (const [account, { run, account: said }] of newest) {
    if (said.state !== 'tied_out') continue;
    const why = [
      ...(open.get(account) ?? []).map((one) => `${one.kind} of ${orderKey(one)} is open`),
      ...(unknown.get(account) ?? []).map((row) => `${nameOf(row)} waits for somebody`),
    ];
    if (why.length > 0) found.push(`${run.business_date} ${account} tied out, though ${why[0]}`);
  }
  return [...found, ...refundsNobodySees(joined), ...accountsNobodyNames(joined, newest)];
}

/** Refunds by us that no row of the ledger asks for any more, and requests of which nobody speaks. */
function refundsNobodySees({ instructions, requests, orders, breaks }) {
  const found = [];
  const told = new Set(breaks.filter(({ state }) => state !== 'resolved').map(orderKey));
  const waits = new Set(
    instructions.filter(({ state }) => ['held', 'unknown'].includes(state)).map(orderKey),
  );
  const asked = groupBy(requests, orderKey);
  const known = new Set(orders.map(orderKey));
  // Called off, and all of it was given back: that is what the ledger wants of it.
  const goneAsWanted = new Set(
    orders.filter(({ expected }) => expected === 'cancelled').map(orderKey),
  );
  const done = instructions.filter(
    (row) => row.operation === 'refund' && row.state === 'confirmed',
  );
  for (const [key, rows] of groupBy(done, orderKey)) {
    const back = rows.reduce((sum, row) => sum + movedOf(row), 0n);
    const wanted = (asked.get(key) ?? []).reduce(
      (sum, row) => sum + (hundredths(row.refund_amount) ?? 0n),
      0n,
    );
    if (goneAsWanted.has(key) && back === hundredths(rows[0].amount)) continue;
    if (back > wanted && !told.has(key) && !waits.has(key)) {
      const words = `${moneyText(back)} was given back, ${moneyText(wanted)} is asked for`;
      found.push(`${key}: ${words}, and nobody is told`);
    }
  }
  for (const [key, rows] of asked) {
    if (known.has(key) || told.has(key)) continue;
    found.push(`refund ${rows[0].refund_id}: the ledger lacks ${key}, and nobody is told`);
  }
  return found;
}

/** An account with something unfinished is spoken of by the newest run, whoever configures what. */
function accountsNobodyNames({ instructions, runs }, newest) {
  const last = runs.findLast(({ summary }) => summary !== null);
  if (last === undefined) return [];
  const text = JSON.stringify(last.summary);
  const found = [];
  for (const account of new Set(instructions.map(({ account_id }) => account_id))) {
    if (newest.get(account)?.run === last || text.includes(JSON.stringify(account))) continue;
    const left = instructions.find(
      (row) => row.account_id === account && ['unknown', 'queued', 'planned'].includes(row.state),
    );
    if (left !== undefined)
      found.push(`${nameOf(left)}: the newest run says nothing of ${account}`);
  }
  return found;
}
