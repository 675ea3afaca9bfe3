// One schedule: an account, the processes that work on it, and a seed that says who goes on when
// and what goes wrong. Every wait of tieout's code at a seam (database, gateway, queue) is handed
// to this scheduler, which lets one thing happen at a time. A process that dies is a promise that
// never comes back; one that sleeps is let go on when the clock says so.

import { setImmediate as breathe } from 'node:timers/promises';

const SECOND_MS = 1_000;
const SETTLE_BREATHS = 3;

/** How a step of a sender may end, beside going well; weights are per thousand at severity 1. */
const FATES = [
  [14, 'dies before'],
  [14, 'dies after'],
  [16, 'sleeps'],
  [6, 'fails before'],
  [6, 'answer lost'],
];
const SLEEPS_MS = [3, 25, 90, 2 * 3600].map((seconds) => seconds * SECOND_MS);

/** Machines that share the database; each has a journal of permits of its own. */
export const HOSTS = ['north', 'south'];

export function openWorld({ number, random, severity, tally, clock, UnreachableError }) {
  const pending = [];
  const processes = [];
  let made = 0;
  const world = {
    number,
    random,
    severity,
    tally,
    pending,
    /** Nothing goes wrong any more. */
    isQuiet: false,
    /** A process that may take work: a living one, or a new one. */
    process() {
      const living = processes.filter((one) => !one.isDead);
      if (living.length >= 2 || (living.length === 1 && random.chance(0.6))) {
        return random.pick(living);
      }
      made += 1;
      const name = `w${number}.${made}`;
      const born = { name, isDead: false, host: HOSTS[(number + made) % HOSTS.length] };
      processes.push(born);
      return born;
    },
    isDeadProcess: (name) => processes.find((one) => one.name === name)?.isDead !== false,
    hasWork: () => pending.some((one) => one.notBefore <= clock.elapsed()),
    nextWake: () => Math.min(...pending.map((one) => one.notBefore)),
    /** Lets up to `steps` things happen, in an order that the seed draws. */
    async advance(steps) {
      for (let step = 0; step < steps; step += 1) {
        const ready = pending.filter((one) => one.notBefore <= clock.elapsed());
        if (ready.length === 0) return;
        const one = random.pick(ready);
        pending.splice(pending.indexOf(one), 1);
        await one.run();
      }
    },
    /** A call of tieout's code in one process, such as the sending of a batch. */
    begin(process, work) {
      const fibre = { process, isDone: false, hasPosted: false, wake: null };
      world.fibres.add(fibre);
      const ended = work(fibre).then(
        () => 'ended',
        (error) => error,
      );
      ended.then((how) => {
        world.fibres.delete(fibre);
        fibre.isDone = true;
        fibre.how = how;
        fibre.wake?.();
      });
      return fibre;
    },
    fibres: new Set(),
    /** One step of a fibre: `perform` is done when the scheduler says so, or never. */
    step(fibre, name, perform) {
      return new Promise((resolve, reject) => {
        if (fibre.process.isDead) return;
        const entry = { fibre, notBefore: 0, hasSlept: false };
        entry.run = () => runStep(entry, { name, perform, resolve, reject });
        pending.push(entry);
        fibre.wake?.();
      });
    },
    killAll(where) {
      for (const one of processes) if (!one.isDead) world.kill(one, where);
    },
    kill(process, where) {
      process.isDead = true;
      tally.kill(where);
      for (const fibre of [...world.fibres]) {
        if (fibre.process === process) {
          fibre.isDone = true;
          world.fibres.delete(fibre);
        }
      }
      for (let at = pending.length - 1; at >= 0; at -= 1) {
        if (pending[at].fibre.process === process) pending.splice(at, 1);
      }
    },
  };

  async function runStep(entry, { name, perform, resolve, reject }) {
    const { fibre } = entry;
    const fate = fateOf(entry);
    if (fate === 'sleeps') {
      entry.notBefore = clock.elapsed() + random.pick(SLEEPS_MS);
      entry.hasSlept = true;
      pending.push(entry);
      tally.count('a process slept');
      return;
    }
    const where = { name };
    const result = await performed(perform, fate, where);
    if (fate === 'dies before' || fate === 'dies after') {
      world.kill(fibre.process, `${fate} ${where.name}`);
      return;
    }
    if (fate === 'fails before') reject(new UnreachableError('the server was not there'));
    else if (fate === 'answer lost' && where.isWrite) {
      if (where.name === 'claim') tally.count('the answer to the COMMIT of a claim was lost');
      reject(new UnreachableError('the answer to COMMIT was lost'));
    } else if ('error' in result) reject(result.error);
    else resolve(result.value);
    if (where.name === 'record of the outcome' && result.value?.rows?.[0]?.written === 0n) {
      tally.count('a late answer changed nothing');
    }
    await settled(world, fibre);
  }

  function fateOf({ fibre, hasSlept }) {
    if (world.isQuiet || hasSlept) return 'goes well';
    const scale = (severity * (fibre.hasPosted ? 2 : 1)) / 1_000;
    const faults = FATES.reduce((sum, [weight]) => sum + weight * scale, 0);
    return random.weighted([...FATES.map(([w, name]) => [w * scale, name]), [1 - faults, 'goes']]);
  }
  return world;
}

/** What a step did. Before: a write is rolled back, anything else is not even begun. */
async function performed(perform, fate, where) {
  const isBefore = fate === 'dies before' || fate === 'fails before';
  try {
    return { value: await perform(where, isBefore) };
  } catch (error) {
    return { error };
  }
}

/** Waits until the fibre asks for its next step or has ended. */
async function settled(world, fibre) {
  for (let breath = 0; breath < SETTLE_BREATHS; breath += 1) await breathe();
  const waits = () => world.pending.some((one) => one.fibre === fibre);
  while (!fibre.isDone && !waits()) {
    await new Promise((resolve) => {
      fibre.wake = resolve;
      if (fibre.isDone || waits()) resolve();
    });
    fibre.wake = null;
  }
}
