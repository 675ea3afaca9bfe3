// A worker that was not started anew since an account was added: what is of that account it leaves to
// others, without a try and without a word on it, says so once, and takes no more of it for a while.

import { expect, it } from 'vitest';
import { pullChunk } from '../../src/pull/pullChunk.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { prepareRun } from '../faults/preparedRun.js';
import { buildHouse, kinds } from '../support/night.js';

const TRIES = 5;

it('leaves pages and batches of an account that it does not know to others', async () => {
  const house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 2 }, 'A1001') });
  try {
    const { deps, batchIds } = await prepareRun(house);
    const { accounts } = deps.config;
    const older = { ...deps, config: { ...deps.config, accounts: accounts.slice(1) } };
    const { rows } = await house.db.query<{ chunk_id: bigint }>(
      `with told as (update tieout.batches set reason = 'the true cause')
       update tieout.chunks set state = 'queued', tries = 0, token = null, leased_until = null
       where account_id = 'A1001' returning chunk_id`,
    );
    const failed: unknown[] = [];
    const fails = (error: unknown) => failed.push(error);
    for (let n = 0; n < TRIES; n += 1) {
      await pullChunk(older, rows[0]?.chunk_id ?? 0n).catch(fails);
      await sendBatch(older, batchIds[0] ?? 0n).catch(fails);
    }
    const left = await house.db.query(
      `select c.state as chunk, c.tries as looks, b.state as batch, b.tries, b.reason
       from tieout.chunks c, tieout.batches b where c.chunk_id = $1 and b.batch_id = $2`,
      [rows[0]?.chunk_id, batchIds[0]],
    );
    expect(failed).toEqual([]);
    expect(left.rows).toEqual([
      { chunk: 'queued', looks: 0, batch: 'queued', tries: 0, reason: 'the true cause' },
    ]);
    const told = house.lines.filter((line) => line.includes('its batches are left to others'));
    expect(told).toEqual([
      expect.stringContaining('account A1001 is not in the configuration of this process'),
    ]);
    expect(deps.fitness.isInTheWay()).toBe(true);
    // Whoever knows the account sends it, and whoever sends itself takes no rest from it.
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
    expect(deps.fitness.isInTheWay()).toBe(false);
    deps.fitness.leave('A1001');
    expect(deps.fitness.isInTheWay()).toBe(false);
  } finally {
    await house.end();
  }
});
