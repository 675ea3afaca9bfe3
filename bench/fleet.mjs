// `npm run bench -- --part fleet`: one snapshot of a night worked on by one, two, four and eight
// processes (`tieout run` and so many more `tieout work`), each with one connection to a gateway
// that takes 50 ms: how near the pages a second are to so many times those of one process while all
// are at work, how near to that the whole snapshot of eight is, with its end where some have nothing
// left to do, and how much of the gateway's rate limit eight of them use. Wants 250,000 orders, so
// that eight are busy long enough. Neighbours: house.mjs (server, sandbox), wire.mjs (its rules).

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './measure.mjs';
import { IS_SMALL, sized } from './sized.mjs';
import { line } from './stats.mjs';
import { addFault, faultsOf } from './wire.mjs';

const LATENCY_MS = 50;
const PROCESSES = sized([1, 2, 4, 8], [1, 2]);
const MOST = PROCESSES.at(-1);
/** Fewer than eight processes could ask and more than four. */
const LIMIT_A_SECOND = 120;
const LINEAR = { atLeast: 0.9 };
/** All processes have their first job by then. */
const WARM_MS = sized(2_000, 50);
const WINDOW_MS = sized(10_000, 200);
const POLL_MS = 100;
const WAIT_MS = 600_000;

const ASKED = `
  select coalesce(sum(last_page - first_page + 1), 0)::int as pages from tieout.chunks`;

export async function benchFleet(house, ledger, rounds) {
  const found = [];
  for (let round = 0; round < rounds; round += 1) {
    const rates = {};
    for (const count of PROCESSES) {
      rates[count] = await look(house, ledger, count, count < MOST ? inWindow : toEnd);
    }
    rates.limited = await look(house, ledger, MOST, inWindow, {
      requestsPerSecond: LIMIT_A_SECOND,
    });
    process.stderr.write(`round ${round + 1} of ${rounds}: ${JSON.stringify(rates)}\n`);
    found.push(rates);
  }
  const share = (count, figure) =>
    found.map((rates) => rates[count][figure] / rates[1].rate / count);
  const one = found.map((rates) => rates[1].rate);
  const limited = found.map((rates) => rates.limited.rate / LIMIT_A_SECOND);
  return [
    line('one process, one connection, 50 ms: pages a second', one, {}, 1),
    ...PROCESSES.slice(1).map((count) =>
      line(`${count} processes: of ${count} times one`, share(count, 'rate'), LINEAR),
    ),
    line(`${MOST} processes, the whole look: of ${MOST} times one`, share(MOST, 'whole')),
    line(`${MOST} processes: of a limit of ${LIMIT_A_SECOND} a second`, limited, LINEAR),
  ];
}

/** What `watch` finds while so many processes work on a night; they are ended after it. */
async function look(house, ledger, processes, watch, limits = {}) {
  const place = await house.openPlace(ledger);
  const started = [];
  try {
    const file = house.writeConfig(place, {
      limits: { concurrency: 1, ...limits },
      policy: 'approve',
    });
    await addFault(place.baseUrl, {
      operation: 'retrievalTrans',
      action: { kind: 'slow', ms: LATENCY_MS },
    });
    const begin = (args) => started.push(begun([house.program, ...args, '--config', file]));
    for (let count = 1; count < processes; count += 1) begin(['work']);
    await Promise.all(started.map((one) => one.says('works until')));
    begin(['run', '--json']);
    return await watch(house, place, started);
  } finally {
    await Promise.all(started.map((one) => one.end()));
    await house.closePlace(place);
  }
}

/** Pages a second while everybody is at work. */
async function inWindow(house, place, started) {
  const watch = watchOf(place, started);
  await watch.until((answered) => answered > 0);
  await sleep(WARM_MS);
  const [from, before] = [performance.now(), await watch.answered()];
  await sleep(WINDOW_MS);
  const [to, after] = [performance.now(), await watch.answered()];
  const [{ pages }] = await house.askPlace(place, ASKED);
  if (after >= pages && !IS_SMALL) throw new Error(`${pages} pages are too few: take more orders`);
  return { rate: ((after - before) * 1000) / (to - from) };
}

/** The same, and the pages a second of the whole snapshot, from its first to its last. */
async function toEnd(house, place, started) {
  const watch = watchOf(place, started);
  await watch.until((answered) => answered > 0);
  const began = performance.now();
  const { rate } = await inWindow(house, place, started);
  const [{ pages }] = await house.askPlace(place, ASKED);
  await watch.until((answered) => answered >= pages);
  return { rate, whole: (pages * 1000) / (performance.now() - began) };
}

/** What the sandbox has been asked so far. */
function watchOf({ baseUrl }, started) {
  const answered = async () => (await faultsOf(baseUrl))[0].done;
  return {
    answered,
    until: async (isSo) => {
      const deadline = performance.now() + WAIT_MS;
      while (!isSo(await answered())) {
        const dead = started.find((one) => one.hasEnded());
        if (dead) throw new Error(`a process ended: ${dead.log()}`);
        if (performance.now() > deadline) throw new Error('the look takes too long');
        await sleep(POLL_MS);
      }
    },
  };
}

/** A process of the program, with what it says. */
function begun(args) {
  const child = start(args, ['ignore', 'ignore', 'pipe']);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    hasEnded,
    log: () => log,
    says: async (words) => {
      while (!log.includes(words)) {
        if (hasEnded()) throw new Error(`a process ended: ${log}`);
        await sleep(POLL_MS);
      }
    },
    end: async () => {
      if (hasEnded()) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
