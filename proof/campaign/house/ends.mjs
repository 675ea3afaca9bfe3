// The demand: the newest night ends by itself, complete, within the time to resume it. What only a
// person can say (what became of a request that no snapshot shows) is all that it may leave.

import { setTimeout as sleep } from 'node:timers/promises';
import { readGateway } from '../../auditor/readBooks.mjs';

const POLL_MS = 400;
/** Silence, a take-over, some resumptions a minute apart, on a machine that is full of others. */
const ENDS_MS_MAX = 420_000;
const MINUTE_MS = 60_000;
/** An ended night that is to be resumed waits a minute: the clocks go on to it. */
const RESUME_AFTER_MS = 1_500;

/** So long a night has ended well before it is believed that nothing follows. */
const WELL_MS = 3_000;

const LEFT = 'its process or the database went away before its end';
const NEWEST = `select to_char(business_date, 'YYYY-MM-DD') as date, state, failure, summary,
    runner_id is not null as is_held
  from tieout.runs where not is_dry order by business_date desc limit 1`;
const OPEN = `select instruction_id::text as id, state, operation, order_no, transaction_id,
    account_id, amount::text, refund_amount::text
  from tieout.instructions where is_open and state <> 'held'`;
const FROZEN = `select 1 from tieout.standing_brakes where kind = 'freeze'`;
const CALLS = `select event, subject from tieout.outbox
  where event in ('run_is_silent', 'night_did_not_start')`;

/** What is wrong, in words; nothing where the night ended well. */
export async function nightEnds(house, happening) {
  const due = new Date(house.now().getTime() - 86_400_000).toISOString().slice(0, 10);
  let isQuiet = false;
  const calm = () => {
    isQuiet = true;
  };
  happening.then(calm, calm);
  const began = Date.now();
  let [endedSince, wellSince] = [null, null];
  for (let seen = null; ; ) {
    seen = await look(house).catch((error) => ({ why: `the database: ${error.message}` }));
    if (seen.why === undefined) seen.why = await whyNot(house, seen, due);
    // Of a database that was put back a person is told.
    if (seen.why !== null && house.putBacks > 0 && seen.isFrozen) seen.why = null;
    if (seen.why !== null) wellSince = null;
    else wellSince ??= Date.now();
    // A step that waits to be reached is reached no more.
    house.isEnded ||= wellSince !== null && Date.now() - wellSince > WELL_MS;
    if (seen.why === null && isQuiet && house.under.length === 0) return calls(house);
    if (seen.why === null && isQuiet) {
      for (const work of house.under.splice(0)) await work;
      continue;
    }
    if (Date.now() - began > ENDS_MS_MAX) return [`${house.name} the night of ${due}: ${seen.why}`];
    const isOver = ['incomplete', 'failed'].includes(seen.run?.state) && !seen.run.is_held;
    // One whose process or database went away is gone on with at once: no clock has to come to it.
    const isResumed = isOver && seen.run.failure?.startsWith(LEFT) !== true;
    if (!isResumed || !isQuiet) endedSince = null;
    else endedSince ??= Date.now();
    if (endedSince !== null && Date.now() - endedSince > RESUME_AFTER_MS) {
      await house.moveClocks(MINUTE_MS);
      endedSince = null;
    }
    await sleep(POLL_MS);
  }
}

async function look({ db }) {
  const [run] = (await db.query(NEWEST)).rows;
  const isFrozen = (await db.query(FROZEN)).rowCount > 0;
  return { run, isFrozen, open: (await db.query(OPEN)).rows };
}

async function whyNot(house, { run, open }, due) {
  if (run === undefined || run.date < due) return 'it did not begin';
  if (run.state === 'running' || run.is_held) return `it is ${run.state}, and somebody holds it`;
  if (run.state === 'failed') return `it failed: ${run.failure}`;
  // What was approved since the run is the next one's to settle.
  const isLater = ({ state }) => state === 'accepted' && house.asks;
  const half = open.filter((row) => row.state !== 'unknown' && !isLater(row));
  if (half.length > 0)
    return `${run.state}, and ${half[0].operation} ${half[0].id} is ${half[0].state}`;
  if (run.state !== 'incomplete') return null;
  const unseen = run.summary.accounts.filter(({ orders }) => orders.notCompared > 0);
  if (unseen.length > 0) return `${unseen[0].accountId} was not compared`;
  if (open.length === 0) return 'incomplete, and nothing is unknown';
  const shown = await shownEffects(house);
  const settled = open.find((row) => shown(row));
  if (settled !== undefined)
    return `${settled.operation} ${settled.id} is unknown, and it is shown`;
  return null;
}

/** Whether a snapshot proves an unknown one: not a part of a refund, nor a payout. */
async function shownEffects({ sandbox }) {
  const { effects } = await readGateway(sandbox.baseUrl, sandbox.journal);
  const done = new Set(
    effects.map(({ account_id, operation, transaction_id }) =>
      [account_id, operation, transaction_id].join(' '),
    ),
  );
  return ({ account_id, operation, transaction_id, amount, refund_amount }) => {
    if (operation === 'payout' || (operation === 'refund' && amount !== refund_amount))
      return false;
    return done.has([account_id, operation, transaction_id].join(' '));
  };
}

/** Who was called to a night that was to end by itself. */
async function calls({ db, name }) {
  const { rows } = await db.query(CALLS);
  return rows.map(({ event, subject }) => `${name} somebody was called: ${event} of ${subject}`);
}
