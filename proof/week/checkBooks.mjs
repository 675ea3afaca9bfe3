// The books after many nights, looked at from outside: nothing twice, nothing lost, one run a date,
// ties that chain from night to night, and every night works out the same again. Answers what is
// wrong, in words.

import pg from 'pg';
import { findViolations } from '../auditor/findViolations.mjs';
import { readDatabase, readGateway } from '../auditor/readBooks.mjs';
import { dateAfter } from './nights.mjs';
import { installation } from './world.mjs';

export async function checkBooks({ world, firstDay, lastDay }) {
  const client = new pg.Client(world.place.connection);
  await client.connect();
  try {
    const ours = await readDatabase(client);
    const theirs = await readGateway(world.sandbox.baseUrl, null);
    const { violations } = findViolations({ ...ours, ...theirs });
    return [
      ...violations.map(({ invariant, words }) => `${invariant}: ${words}`),
      ...datesWrong(ours.runs, firstDay, lastDay),
      ...tiesWrong(ours.runs),
      ...(await leftUndone(client)),
      ...(await historyWrong(world, ours.runs)),
    ];
  } finally {
    await client.end();
  }
}

/** Each date is covered once by a run that finished, and no run stands for two nights. */
function datesWrong(runs, firstDay, lastDay) {
  const wrong = [];
  const covered = new Map();
  for (const { business_date: date, state, summary } of runs) {
    if (!['tied_out', 'broken'].includes(state)) wrong.push(`the run of ${date} ended ${state}`);
    for (const one of summary.covers) covered.set(one, (covered.get(one) ?? 0) + 1);
  }
  for (let date = firstDay; date <= lastDay; date = dateAfter(date, 1)) {
    const times = covered.get(date) ?? 0;
    if (times !== 1) wrong.push(`${date} is covered ${times} times`);
    covered.delete(date);
  }
  return [...wrong, ...[...covered.keys()].map((date) => `${date} is covered before its time`)];
}

function tiesWrong(runs) {
  const after = new Map();
  const wrong = [];
  for (const { business_date: date, summary } of runs) {
    for (const { accountId, tie } of summary.accounts) {
      const before = after.get(accountId) ?? 0;
      if (tie.openBefore !== before) {
        wrong.push(`${date} ${accountId}: begins with ${tie.openBefore} breaks, not ${before}`);
      }
      after.set(accountId, tie.openAfter);
    }
  }
  return wrong;
}

const WAITING = `('held', 'withdrawn', 'rejected', 'unknown')`;

/** Wishes of the ledger that came true nowhere, and of which nobody is told. */
async function leftUndone(client) {
  const queries = {
    'instruction that never came to its end': `select instruction_id::text as name
      from tieout.instructions where state in ('planned', 'queued', 'sending', 'accepted')`,
    'refund that was promised': `select refund_id as name from ledger.refund_requests r
      where not exists (select from tieout.instructions i where i.account_id = r.account_id
          and i.refund_id = r.refund_id and i.state in ('confirmed', 'held', 'withdrawn'))
        and not exists (select from tieout.breaks b where b.account_id = r.account_id
          and b.order_no = r.order_no and b.state = 'open')
        -- done elsewhere: the whole amount is asked for, and the gateway shows it refunded
        and not exists (select from tieout.look_entries e where e.account_id = r.account_id
          and e.order_no = r.order_no and e.state = 'refunded')
        and not exists (select from tieout.instructions i where i.account_id = r.account_id
          and i.order_no = r.order_no and i.state in ${WAITING})`,
    'order that nobody looked at': `select o.order_no as name from ledger.orders o
      where not exists (select from tieout.asked_orders a where a.account_id = o.account_id
        and a.order_no = o.order_no)`,
  };
  const wrong = [];
  for (const [what, query] of Object.entries(queries)) {
    const { rows } = await client.query(query);
    wrong.push(...rows.map(({ name }) => `${what}: ${name}`));
  }
  return wrong;
}

async function historyWrong({ program, place, ...world }, runs) {
  const { app } = await installation(Object.assign(world, { program, place }));
  const { db, config, version } = app;
  const wrong = [];
  for (const { business_date: date } of runs) {
    const run = await program.runs.findRun(db, date);
    const verifying = { db, config, version, progress: () => {} };
    const { differences } = await program.verifyRun.verifyRun(verifying, run);
    for (const { orderNo, what, was, is } of differences) {
      wrong.push(`verify ${date}: ${orderNo ?? ''} ${what}: then ${was}, now ${is}`);
    }
  }
  const { broken, disagreements } = await program.verifyChain.checkChain(db, () => {});
  return [
    ...wrong,
    ...broken.map(({ accountId, linkNo, reason }) => `link ${linkNo} of ${accountId}: ${reason}`),
    ...disagreements.map(({ orderNo, what, state }) => `${what} of ${orderNo} is ${state}`),
  ];
}
