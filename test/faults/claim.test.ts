// The database fails around the claim of a batch: whatever it is, nothing is sent that the database
// does not know, and nothing that it knows is forgotten. Each test ends with what went over the wire.

import { afterEach, describe, expect, it } from 'vitest';
import { UnreachableError } from '../../src/core/errors.js';
import type { Tx } from '../../src/database/db.js';
import type { SendDeps } from '../../src/send/deps.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import type { House } from '../support/night.js';
import { instructionCounts, kinds } from '../support/night.js';
import type { Front } from './front.js';
import { houseBehind } from './houseBehind.js';
import { forgetRunner, prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Ready {
  house: House;
  front: Front;
  deps: SendDeps;
  batchId: bigint;
}

async function oneCapture(): Promise<Ready> {
  const { house, front } = await houseBehind({
    orders: 900,
    inLedger: kinds({ capture_due: 1 }, 'A1001'),
  });
  cleanups.push(() => house.end());
  const { deps, batchIds } = await prepareRun(house);
  return { house, front, deps, batchId: batchIds[0] ?? 0n };
}

/** The claim's transaction with something in front of its COMMIT. */
function spoiltClaim(deps: SendDeps, spoil: (tx: Tx) => Promise<unknown>): SendDeps {
  return {
    ...deps,
    db: {
      ...deps.db,
      durably: (work) =>
        deps.db.durably(async (tx) => {
          const result = await work(tx);
          await spoil(tx);
          return result;
        }),
    },
  };
}

/** Runs the night again as a new process would, and expects one capture in the end. */
async function endsWell({ house, front }: Ready): Promise<void> {
  await forgetRunner(house);
  const { summary } = await house.run();
  expect(summary.state).toBe('tied_out');
  expect(front.asked.get('capture')).toBe(1);
  expect((await house.effects()).length).toBe(1);
}

const BEFORE_COMMIT: readonly [string, (tx: Tx) => Promise<unknown>][] = [
  [
    'fault D57: the connection is lost',
    (tx) => tx.query(`select pg_terminate_backend(pg_backend_pid())`),
  ],
  ['fault D63: it cannot be serialised', (tx) => raise(tx, '40001')],
  ['fault D63: it meets a deadlock', (tx) => raise(tx, '40P01')],
  ['fault D63: it waits too long for a lock', (tx) => raise(tx, '55P03')],
  ['fault D62: the disk is full', (tx) => raise(tx, '53100')],
];

function raise(tx: Tx, sqlstate: string): Promise<unknown> {
  return tx.query(`do $$ begin raise exception using errcode = '${sqlstate}'; end $$`);
}

describe('before the COMMIT of a claim', () => {
  it.each(BEFORE_COMMIT)('%s: nothing is sent, and later all is', async (_, spoil) => {
    const ready = await oneCapture();
    const { house, front, deps, batchId } = ready;
    await expect(sendBatch(spoiltClaim(deps, spoil), batchId)).rejects.toThrow();
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 1 });
    await endsWell(ready);
  });

  it('fault D62: the database can only be read: nothing is sent, and later all is', async () => {
    const ready = await oneCapture();
    const { house, front, deps, batchId } = ready;
    const readOnly = spoiltClaim(deps, async () => undefined);
    const durably = deps.db.durably.bind(deps.db);
    readOnly.db.durably = (work) =>
      durably(async (tx) => {
        await tx.query('set local transaction_read_only = on');
        return work(tx);
      });
    await expect(sendBatch(readOnly, batchId)).rejects.toThrow(/takes no writes: is it a replica/);
    expect(front.asked.has('capture')).toBe(false);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 1 });
    await endsWell(ready);
  });
});

describe('after the COMMIT of a claim', () => {
  it('fault D58: its answer is lost: this process writes nothing', async () => {
    const { house, front, deps, batchId } = await oneCapture();
    const lost: SendDeps = {
      ...deps,
      runner: { ...deps.runner, boot: 'another boot' },
      db: {
        ...deps.db,
        durably: async (work) => {
          await deps.db.durably(work);
          throw new UnreachableError('the answer to COMMIT was lost');
        },
      },
    };
    await sendBatch(lost, batchId).catch((error: unknown) => {
      expect(error).toBeInstanceOf(UnreachableError);
    });
    expect(front.asked.has('capture')).toBe(false);
    await recoverAttempts(deps, ['A1001']);
    const counts = await instructionCounts(house.db);
    expect([{ 'capture queued': 1 }, { 'capture unknown': 1 }]).toContainEqual(counts);
    expect(await house.effects()).toEqual([]);
  });
});

/** The first so many times that a statement is asked the database does not answer. */
function blinking(
  deps: SendDeps,
  statement: string,
  times: number,
  meanwhile = async (): Promise<void> => {},
): SendDeps {
  let left = times;
  const query: SendDeps['db']['query'] = async (text, ...more) => {
    if (!text.includes(statement) || left === 0) return deps.db.query(text, ...more);
    left -= 1;
    await meanwhile();
    throw new UnreachableError('the database is away');
  };
  return { ...deps, db: { ...deps.db, query }, sleep: () => Promise.resolve() };
}

const NOT_SENT = "set outcome = 'not_sent'";

const UNWRITTEN: readonly [string, (deps: SendDeps) => SendDeps][] = [
  [
    'its journal cannot be written',
    (deps) => {
      const append = () => Promise.reject(new Error('no space is left'));
      return { ...deps, journal: { ...deps.journal, append } };
    },
  ],
  [
    'its budget is used up',
    (deps) => {
      let asked = 0;
      const monotonic = (): number => {
        asked += 1;
        return asked * 2_000;
      };
      return { ...deps, monotonic };
    },
  ],
];

describe('a claim of which no byte left', () => {
  it.each(UNWRITTEN)('%s: it is not sent, also where the database blinks', async (_, spoil) => {
    const ready = await oneCapture();
    await sendBatch(blinking(spoil(ready.deps), NOT_SENT, 3), ready.batchId);
    expect(await outcomes(ready)).toEqual(['not_sent']);
    expect(await instructionCounts(ready.house.db)).toEqual({ 'capture queued': 1 });
    await endsWell(ready);
  });

  it.each(UNWRITTEN)('%s: what others made of it meanwhile stays', async (_, spoil) => {
    const ready = await oneCapture();
    const given = async () => {
      await recoverAttempts({ ...ready.deps, isAlive: () => false }, ['A1001']);
    };
    await sendBatch(blinking(spoil(ready.deps), NOT_SENT, 1, given), ready.batchId);
    expect(await outcomes(ready)).toEqual(['unanswered']);
    expect(await instructionCounts(ready.house.db)).toEqual({ 'capture unknown': 1 });
    expect(ready.front.asked.has('capture')).toBe(false);
  });

  it('is unknown where the database stays away', async () => {
    const ready = await oneCapture();
    const [, spoil] = UNWRITTEN[0] ?? ['', (deps: SendDeps) => deps];
    const away = blinking(spoil(ready.deps), NOT_SENT, Number.POSITIVE_INFINITY);
    await expect(sendBatch(away, ready.batchId)).rejects.toThrow('the database is away');
    expect(await outcomes(ready)).toEqual([null]);
    await recoverAttempts({ ...ready.deps, isAlive: () => false }, ['A1001']);
    expect(await instructionCounts(ready.house.db)).toEqual({ 'capture unknown': 1 });
  });
});

it('throws what failed first where the database takes no word of it', async () => {
  const { deps, batchId } = await oneCapture();
  const lines: string[] = [];
  const broken = spoiltClaim(deps, () => Promise.reject(new Error('what came first')));
  const away = blinking(broken, 'set tries = tries + 1', 1);
  const told = { ...away, log: (line: string) => void lines.push(line) };
  await expect(sendBatch(told, batchId)).rejects.toThrow('what came first');
  expect(lines.join()).toContain('why it waits could not be recorded: the database is away');
});

async function outcomes({ house }: Ready): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ outcome: string | null }>(
    'select outcome from tieout.attempts order by attempt_no',
  );
  return rows.map((row) => row.outcome);
}
