// `npm run bench -- --part queue`: what the queue costs a night, and whether one job stands for
// many pages of which only a failed one is asked again. After a whole night the same ids are enqueued
// once more, in the same calls, for workers that have nothing to do: in the night itself most of
// that time is hidden behind other work, so that the share is the most it can be. Neighbours:
// house.mjs (server, database, sandbox), wire.mjs (rules of the sandbox).

import { randomUUID } from 'node:crypto';
import { openQueues } from '../dist/jobs/queues.js';
import { startWorkers } from '../dist/jobs/worker.js';
import { QUEUES } from '../dist/src/core/queuePort.js';
import { line } from './stats.mjs';
import { addFault, faultsOf } from './wire.mjs';

const STOP_MS = 5_000;
/** Each so many queries are refused before they are looked at. */
const REFUSED_EVERY = 20;
const REFUSED = {
  operation: 'retrievalTrans',
  every: REFUSED_EVERY,
  action: { kind: 'status', status: 503, when: 'before' },
};

/** Every call of the night: what was enqueued together, in its order. */
const ENQUEUED = `
  select name, ids, place from (
    select 'pull' as name, array_agg(chunk_id::text order by chunk_id) as ids,
      case when min(k.kind) = 'night' then 1 else 3 end as place
    from tieout.chunks c join tieout.pulls k using (pull_id) group by pull_id
    union all
    select operation, array_agg(batch_id::text order by batch_id), 2
    from tieout.batches group by operation
    union all
    select 'report', array_agg(report_id::text order by report_id), 4 from tieout.reports
  ) as enqueued order by place`;

/** Jobs of the first snapshot, beside one for fifty pages of an account or less. */
const JOBS = `
  select sum(jobs)::float8 / sum(allowed)::float8 as share from (
    select count(*) as jobs, ceil(sum(last_page - first_page + 1) / 50.0) as allowed
    from tieout.chunks where pull_id = (select min(pull_id) from tieout.pulls)
    group by account_id) as accounts`;

const PAGES = 'select count(*)::int as pages from tieout.pages where not stands_for_walk';

export async function benchQueue(house, ledger, rounds) {
  const nights = [];
  for (let round = 0; round < rounds; round += 1) {
    nights.push({ ...(await quietNight(house, ledger)), ...(await refusedNight(house, ledger)) });
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const all = (figure) => nights.map((night) => night[figure]);
  return [
    line('queue: calls and jobs of a night, of its time', all('enqueued'), { atMost: 0.01 }, 4),
    line('queue: the same with opening and closing it', all('whole'), {}, 4),
    line('queue: from a step of calls to its last job, ms', all('stepMs'), {}, 1),
    line('queue: jobs of a night', all('jobs'), {}, 0),
    line('queue: jobs of a look, of one for fifty pages', all('share'), { atMost: 1 }),
    line('pages of which some fail: refused queries', all('refused'), {}, 0),
    line('pages asked beyond one each and one a refusal', all('beyond'), { atMost: 0 }, 0),
  ];
}

async function quietNight(house, ledger) {
  return inPlace(house, ledger, async (place, file) => {
    const run = await house.measure([house.program, 'run', '--json', '--config', file]);
    const calls = await house.askPlace(place, ENQUEUED);
    const [{ share }] = await house.askPlace(place, JOBS);
    const { enqueued, whole } = await enqueueAgain(place, calls);
    const stepMs = enqueued / new Set(calls.map(({ place }) => place)).size;
    const jobs = calls.reduce((sum, { ids }) => sum + ids.length, 0);
    return { enqueued: enqueued / run.wallMs, whole: whole / run.wallMs, jobs, share, stepMs };
  });
}

async function refusedNight(house, ledger) {
  return inPlace(house, ledger, async (place, file) => {
    await addFault(place.baseUrl, REFUSED);
    await house.measure([house.program, 'run', '--json', '--config', file]);
    const [{ seen, done }] = await faultsOf(place.baseUrl);
    const [{ pages }] = await house.askPlace(place, PAGES);
    return { refused: done, beyond: seen - done - pages };
  });
}

async function inPlace(house, ledger, work) {
  const place = await house.openPlace(ledger);
  try {
    return await work(place, house.writeConfig(place));
  } finally {
    await house.closePlace(place);
  }
}

/** What a step of the night enqueues together: the batches of all operations. */
function stepsOf(calls) {
  const places = [...new Set(calls.map(({ place }) => place))];
  return places.map((place) => calls.filter((enqueue) => enqueue.place === place));
}

/** Enqueues and waits until as many jobs have been taken, call after call, as the spine does. */
async function enqueueAgain({ connection }, calls) {
  const began = performance.now();
  const deps = { log: () => {}, now: () => new Date(), newId: randomUUID };
  const queues = await openQueues(deps, { kind: 'database', connection });
  const heard = { left: 0, all: () => {} };
  const handler = async () => {
    heard.left -= 1;
    if (heard.left === 0) heard.all();
  };
  const handlers = Object.fromEntries(QUEUES.map((name) => [name, handler]));
  const workers = await startWorkers({ queues, handlers, log: () => {} });
  let enqueued = 0;
  for (const step of stepsOf(calls)) {
    const from = performance.now();
    const left = step.reduce((sum, { ids }) => sum + ids.length, 0);
    const done = new Promise((all) => Object.assign(heard, { left, all }));
    for (const { name, ids } of step) await queues.enqueue(name, ids);
    await done;
    const took = performance.now() - from;
    const names = step.map(({ name }) => name).join(', ');
    process.stderr.write(`${names}: ${left} jobs in ${took.toFixed(0)} ms\n`);
    enqueued += took;
  }
  await workers.stop(STOP_MS);
  await queues.close();
  return { enqueued, whole: performance.now() - began };
}
