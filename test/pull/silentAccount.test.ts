// The gateway takes the questions for one account and says nothing, while it answers for the others:
// that is no trouble of the worker that asks, and its pages are not handed from one to the next.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { beginRun } from '../../src/night/begin.js';
import { pull } from '../../src/pull/pull.js';
import { pullChunk } from '../../src/pull/pullChunk.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { Front } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { impatient } from '../faults/impatient.js';
import type { House } from '../support/night.js';

const SILENT = 'A1001';

let house: House;
let front: Front;
beforeAll(async () => {
  ({ house, front } = await houseBehind({ orders: 200, accounts: 3 }));
  impatient(house, { timeoutMs: 300 });
});
afterAll(() => house.end());

const onHost = async (host: string): Promise<SendDeps> => {
  const own = await (await house.open()).sendDeps();
  return { ...own, runner: { ...own.runner, host }, sleep: async () => {} };
};

it('fails with a worker that was answered before, and is handed to nobody', async () => {
  const first = await onHost('w1');
  const second = await onHost('w2');
  front.trouble = ({ operation, body }) => operation === 'retrievalTrans' && body.includes(SILENT);
  let rounds = 0;
  const hear = async (ids: readonly string[]): Promise<void> => {
    rounds += 1;
    // Handed round, it would never come to an end.
    if (rounds > 1) front.trouble = () => false;
    const [silent, ...others] = ids.map(BigInt) as [bigint, ...bigint[]];
    for (const [place, id] of others.entries()) await pullChunk(place === 0 ? first : second, id);
    // One that holds up all connections of its worker: the other one was answered since.
    const done = pullChunk(first, silent);
    for (const id of others) await pullChunk(second, id);
    await done;
  };
  const night = {
    ...first,
    queuePort: { enqueue: async (_: unknown, ids: readonly string[]) => hear(ids) },
  };
  const request = { date: null, accountIds: [], isDry: false, waitsForGateway: false };
  const beginning = await beginRun(night, request);
  if (beginning.kind !== 'mine') throw new Error(`the run is ${beginning.kind}`);
  const { pullId } = await pull(night, beginning.run);
  const { rows } = await house.db.query<{ account: string; states: string[] }>(
    `select account_id as account, array_agg(distinct state) as states
     from tieout.pages where pull_id = $1 group by account_id order by account_id`,
    [pullId],
  );
  expect(rows.map(({ states }) => states)).toEqual([['failed'], ['answered'], ['answered']]);
  expect(rounds).toBe(1);
  expect(house.lines.join('\n')).not.toContain('left to them');
});
