// The senders of one schedule: what is enqueued becomes calls of sendBatch in its processes, and each POST is
// carried to the gateway in memory in steps between which anything may happen.

import { createHash, randomUUID } from 'node:crypto';
import { seamedDatabase } from '../seams.mjs';
import { happen, TROUBLES, TROUBLES_OF_PAYOUTS } from './troubles.mjs';

const TROUBLE_CHANCE = 0.3;

/** Hands a call to a process of the world, sometimes to two, sometimes to none. */
export function enqueueBatches(wave, world, batchId) {
  const { random } = world;
  const isAtWork = world.atWork.get(batchId) ?? 0;
  if (!world.isQuiet && random.chance(0.05)) return wave.tally.count('a queued id was lost');
  // The queue keeps a call for an id that is at work; a stalled job is run a second time.
  if (isAtWork > 0 && !random.chance(0.15)) return;
  if (isAtWork > 0) wave.tally.count('a job ran twice at once');
  const times = !world.isQuiet && random.chance(0.04) ? 2 : 1;
  for (let time = 0; time < times; time += 1) begin(wave, world, batchId, isAtWork > 0 || time > 0);
}

function begin(wave, world, batchId, isSecond) {
  const process = world.process();
  world.atWork.set(batchId, (world.atWork.get(batchId) ?? 0) + 1);
  const fibre = world.begin(process, async (own) => {
    try {
      await wave.program.sendBatch.sendBatch(depsFor(wave, world, own), batchId);
      if (isSecond && !own.hasPosted) wave.tally.count('a second sender was refused');
    } finally {
      world.atWork.set(batchId, world.atWork.get(batchId) - 1);
    }
  });
  fibre.batchId = batchId;
}

function depsFor(wave, world, fibre) {
  const { base, clock } = wave;
  const { process } = fibre;
  const step = (name, perform) => world.step(fibre, name, perform);
  const plain =
    (work) =>
    (name, ...given) =>
      step(name, (where, isBefore) => (isBefore ? undefined : work(...given, where)));
  const query = plain((account, selection) => wave.queries.queryPage(account, selection));
  return {
    ...base,
    db: seamedDatabase(base.db, step),
    runner: runnerOf(process),
    journal: wave.journalOf(process.host),
    now: wave.nowOf(process.host),
    newId: () => world.random.uuid(),
    sleep: async (ms) => {
      await step('sleep', async () => {});
      clock.note(ms);
    },
    // What waited for the canary is enqueued by whoever sent it.
    queuePort: { enqueue: (queue, ids) => wave.enqueue(queue, ids) },
    gateway: {
      ...base.gateway,
      query: (account, orderNos) => query('query', account, { kind: 'orders', orderNos }),
      queryPage: (account, selection) => query('query', account, selection),
      connectMoney: () => connect(wave, world, fibre, step),
    },
  };
}

export function runnerOf(process) {
  return {
    id: randomUUID(),
    host: process.host ?? 'sim',
    boot: 'boot',
    pid: 1,
    started: process.name,
  };
}

async function connect(wave, world, fibre, step) {
  const refused = !world.isQuiet && world.random.chance(0.03 * world.severity);
  await step('connecting', async (where) => {
    where.name = 'connecting';
  });
  if (refused) {
    wave.tally.count('no connection came about');
    return { kind: 'not_sent', reason: 'the gateway refused the connection' };
  }
  return {
    kind: 'connected',
    connection: { post: (request) => post(wave, world, fibre, step, request), close() {} },
  };
}

/** Claim behind, write ahead: the last question is asked in the tick in which the bytes go out. */
async function post(wave, world, fibre, step, request) {
  const { random } = world;
  const { tally } = wave;
  const posted = await step('write', (where, isBefore) => {
    where.name = 'the write';
    if (isBefore) return undefined;
    if (!request.mayWrite()) {
      tally.count('a sender past its budget wrote nothing');
      return { kind: 'not_sent', reason: 'the time budget was used up' };
    }
    fibre.hasPosted = true;
    tally.count('requests');
    const name = request.path.split('/').at(-1);
    const message = JSON.parse(request.body.toString('utf8'));
    const hash = createHash('sha256').update(request.body).digest('hex');
    const id = `${random.uuid()}.${hash}`;
    const isPayout = name === 'payout';
    const operate = (part) =>
      isPayout ? wave.gateway.pay(message, id) : wave.gateway.operate(name, message, id, part);
    const isTroubled = !world.isQuiet && random.chance(TROUBLE_CHANCE * world.severity);
    const troubles = isPayout ? TROUBLES_OF_PAYOUTS : TROUBLES;
    const trouble = isTroubled ? random.weighted(troubles) : 'none';
    if (isTroubled) tally.count(trouble);
    const later = (ms, work) => wave.later(ms, work, world.layout.accountId);
    const array = isPayout ? null : `${name}_orders`;
    return happen(trouble, { operate, array, later, random });
  });
  if (posted.kind === 'not_sent') return posted;
  // The answer is on its way: whoever waits for it may sleep or die before it arrives.
  await step('answer', async (where) => {
    where.name = 'the answer';
  });
  return posted;
}
