// `npm run bench -- --part sets`: the work on whole sets beside the same work done bare, on one
// database: storing pages beside only reading and encoding them, with JSON.parse or as the program
// does it, and with and without the raw bodies;
// comparing beside the bare merge join and beside scripts with a Map, one that gives the same and
// one that is as bare as the merge; planning; asking when the ledger lies in no order. Neighbours:
// house.mjs lays out ledger, database and gateway.

import { judgeOrders, updateBreaks } from '../dist/src/compare/verdictsStore.js';
import { openDatabase } from '../dist/src/database/db.js';
import { rolledBack } from '../dist/src/database/rolledBack.js';
import { createGatewayClient } from '../dist/src/gateway/client.js';
import { sandboxProfile } from '../dist/src/gateway/document/profile.js';
import { planInstructions, withdrawNeedless } from '../dist/src/plan/planStore.js';
import { analyseSnapshot } from '../dist/src/pull/snapshot/analyseSnapshot.js';
import {
  askLive,
  claimChunk,
  createChunks,
  createPull,
  pagesOfChunk,
} from '../dist/src/pull/snapshot/snapshotsStore.js';
import { BARE_TABLE, compareByMap, compareByMerge } from './bareCompare.mjs';
import { ingestLines, store, storedPage } from './ingest.mjs';
import { compareByScript, verdictsOf } from './scriptCompare.mjs';
import { measured, written, writtenAtOnce } from './setsTurns.mjs';
import { inTurns, line, ratiosOf } from './stats.mjs';
import { inTurn } from './wire.mjs';

const DAY_MS = 86_400_000;
/**
 * Bodies of so many chunks, of a night of 100,000 orders, are held in memory to be stored again and
 * again. The last of them is stored with nothing beside it, as the last one of a night is.
 */
const INGEST_CHUNKS = 10;

export async function benchSets(place, rounds) {
  return withSnapshot(place, rounds, async (bench, pull, bodies) => [
    await diskLine(bench.db),
    ...(await ingestLines(bench, bodies)),
    ...(await compareLines(bench, pull)),
    ...(await planLine(bench, pull)),
    await randomLine(bench, pull),
  ]);
}

/** A run whose look is stored; `bodies` are the first chunks of it as they came. */
export async function withSnapshot(place, rounds, work) {
  const db = openDatabase(place.connection);
  const gateway = createGatewayClient({ profile: sandboxProfile(), baseUrl: place.baseUrl });
  try {
    const bench = { db, gateway, place, rounds, runId: await newRun(db, place) };
    const pull = await askAll(bench);
    return await work(bench, pull, await pullAll(bench, pull));
  } finally {
    await Promise.allSettled([gateway.close(), db.close()]);
  }
}

async function newRun(db, { accounts }) {
  const { rows } = await db.query(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, runner_id, created_at)
     values (current_date - 1, array[current_date - 1], current_date - 1, current_date, 'running',
       'test', '{}', '', '0', gen_random_uuid(), now()) returning run_id`,
  );
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state)
     select $1, account_id, current_date - 1, 'M1001', 'running' from unnest($2::text[]) as account_id`,
    [rows[0].run_id, accounts.map((account) => account.accountId)],
  );
  return rows[0].run_id;
}

function askAll({ db, place, runId }) {
  return db.transaction(async (tx) => {
    const pull = await createPull(tx, runId, 'night');
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const range = { endsAt: new Date(midnight), lookbackFrom: new Date(midnight - 35 * DAY_MS) };
    await askLive(tx, pull.pullId, rulesOf(place), range, { separator: ',', pageOrders: 100 });
    await createChunks(tx, pull.pullId);
    return pull;
  });
}

function rulesOf({ accounts }) {
  return accounts.map((one) => ({ account_id: one.accountId, live_from: new Date(0) }));
}

/** Pulls everything once; answers the bodies of the first chunks. */
async function pullAll(bench, pull) {
  const held = [];
  for (const chunkId of await chunksOf(bench.db, pull)) {
    const bodies = await chunkOf(bench, chunkId);
    if (held.length < INGEST_CHUNKS) held.push(bodies);
    await store(bench.db, bodies, storedPage);
  }
  await analyseSnapshot(bench.db, pull.pullId);
  return held;
}

async function chunksOf(db, { pullId }) {
  const { rows } = await db.query(
    'select chunk_id from tieout.chunks where pull_id = $1 order by chunk_id',
    [pullId],
  );
  return rows.map((row) => row.chunk_id);
}

async function chunkOf({ db, gateway, place }, chunkId) {
  const token = crypto.randomUUID();
  const chunk = await claimChunk(db, chunkId, token);
  const account = place.accounts.find((one) => one.accountId === chunk.accountId);
  const pages = [];
  await inTurn(await pagesOfChunk(db, chunk), async (asked) => {
    const { kind, body } = await gateway.queryPage(account, {
      kind: 'orders',
      orderNos: asked.orderNos,
    });
    if (kind !== 'page') throw new Error('a page failed');
    pages.push({ asked, body });
  });
  return { chunk, token, account, pages };
}

/** Of the one pull there is by now. */
async function diskLine(db) {
  const { rows } = await db.query(
    `select (select sum(pg_total_relation_size(relid)) from pg_partition_tree('tieout.pages'))::float8
       / count(*) as bytes
     from tieout.look_entries`,
  );
  return line('raw pages on disk, bytes an order', [rows[0].bytes], { atMost: 260 }, 0);
}

async function compareLines(bench, pull) {
  await bench.db.query(BARE_TABLE);
  // A first round in which both sides find their pages in memory, and is not counted.
  const found = await inTurns(bench.rounds + 1, {
    merge: () => writtenAtOnce(bench.db, (tx) => compareByMerge(tx, pull)),
    map: () => writtenAtOnce(bench.db, (tx) => compareByMap(tx, pull)),
    script: () => writtenAtOnce(bench.db, (tx) => compareAlike(bench, tx, pull)),
    tieout: () => written(bench.db, (db) => compareAll(bench, db, pull)),
  });
  await assertAlike(bench, pull);
  const [merge, map, script, tieout] = Object.values(found).map((one) => one.slice(1));
  return [
    ...bothWays('compare, verdicts and breaks: of the bare merge join', tieout, merge, {
      atMost: 1.5,
    }),
    ...bothWays('compare: times faster than a script with a Map', script, tieout, { atLeast: 6 }),
    ...bothWays('compare: times faster than a bare script with a Map', map, tieout),
  ];
}

/** Neither side may be fast by leaving something out. */
async function assertAlike(bench, pull) {
  const now = new Date();
  const found = [];
  for (const work of [compareAlike, compareAll]) {
    await written(bench.db, async (db) => {
      await work(bench, db, pull, now);
      found.push(await verdictsOf(db, bench.runId));
    });
  }
  if (found[0] !== found[1]) throw new Error(`the script found otherwise: ${found.join('; ')}`);
}

/**
 * The same rows put where the plan puts them, with the same indexes, guards and trail; but nothing
 * is weighed: no policy, no limit, no approval, no fraud check, nothing that is open already.
 */
const PLAIN_PLAN = `
  insert into tieout.instructions (run_id, account_id, order_no, operation, transaction_id, currency,
    amount, refund_id, refund_amount, refund_reason, review_decision, from_state, done_states, state,
    created_at, asked_by)
  select v.run_id, v.account_id, v.order_no, v.need, v.transaction_id, v.ledger_currency,
    v.need_amount, v.refund_id, v.refund_amount, r.reason, v.review_decision, v.gateway_state,
    array['captured'], 'planned', now(), array_remove(array[r.requested_by], null)
  from tieout.verdicts v
  join tieout.asked_orders o using (pull_id, account_id, order_no)
  left join ledger.refund_requests r using (account_id, refund_id)
  where v.run_id = $1 and v.need is not null
  order by v.account_id, v.need, coalesce(r.requested_at, o.placed_at), v.order_no`;

async function planLine(bench, pull) {
  const { runId } = bench;
  const policies = ['capture', 'cancel', 'refund', 'review'].map((operation) => {
    return { operation, policy: 'auto', above: null, maxCount: null, maxAmount: null };
  });
  const compared = (work) => async () => {
    let took = null;
    await undone(bench.db, async (tx) => {
      await compareAll(bench, tx, pull);
      took = await measured(tx, () => work(tx));
    });
    return took;
  };
  const { plain, tieout } = await inTurns(bench.rounds, {
    plain: compared((tx) => tx.query(PLAIN_PLAN.replaceAll('$1', String(runId)))),
    tieout: compared(async (tx) => {
      await withdrawNeedless(tx, runId, pull.pullId, new Date(), policies);
      await planInstructions(tx, runId, new Date(), policies, false);
    }),
  });
  return bothWays('plan, of its rows selected and inserted bare', tieout, plain, { atMost: 1.5 });
}

/** The script's same, under the same rules. */
function compareAlike({ runId }, tx, pull, now = new Date()) {
  return compareByScript(
    tx,
    { runId, pullId: pull.pullId },
    {
      ...{ asOf: now, dateEnd: midnightOf(now), graceMs: DAY_MS, staleMs: 6 * DAY_MS },
      tolerance: { below: 0n, above: 0n, partsPerMillion: 0n },
      ...{ partialCapture: false, liveFrom: new Date(0), off: new Set() },
    },
  );
}

function midnightOf(now) {
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
}

export async function compareAll({ place, runId }, tx, pull, now = new Date()) {
  const scope = { runId, pullId: pull.pullId };
  await judgeOrders(tx, scope, {
    asOf: now,
    dateEnd: midnightOf(now),
    graceHours: 24,
    staleDays: 6,
    tolerance: { below: 0n, above: 0n, partsPerMillion: 0n },
    partialCapture: false,
    off: [],
    accounts: rulesOf(place),
  });
  await updateBreaks(tx, scope, now);
}

/** By the clock, and by the processor time of both ends, which other work disturbs less. */
function bothWays(name, left, right, goal) {
  return [
    line(name, ratiosOf(left, right, 'wall'), goal),
    line(`${name}, by processor time`, ratiosOf(left, right, 'busy'), goal),
  ];
}

/** Time of work in a transaction that is rolled back. */
function undone(db, work) {
  return rolledBack(db, (tx) => measured(tx, () => work(tx)));
}

/** Asking and comparing with the ledger in random order, beside the same in the order of its ids. */
async function randomLine(bench, pull) {
  const both = (prepare) => async () => {
    await bench.db.query(prepare);
    return undone(bench.db, async (tx) => {
      await askAll({ ...bench, db: { transaction: (work) => work(tx) } });
      await compareAll(bench, tx, pull);
    });
  };
  const rewrite = (order) =>
    `create table ledger.copy as select * from ledger.orders order by ${order};
     truncate ledger.orders; insert into ledger.orders select * from ledger.copy;
     drop table ledger.copy; vacuum analyze ledger.orders`.split(';');
  const sorted = [];
  const random = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [order, list] of [
      ['account_id, order_no', sorted],
      ['random()', random],
    ]) {
      const statements = rewrite(order);
      for (const one of statements.slice(0, -1)) await bench.db.query(one);
      list.push(await both(statements.at(-1))());
    }
  }
  return line('asking and comparing with ids in random order', ratiosOf(random, sorted, 'wall'), {
    atMost: 1.5,
  });
}
