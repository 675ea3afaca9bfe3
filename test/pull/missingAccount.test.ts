// A worker that was not started anew since an account was added: what is of that account it leaves to
// others, without a try, and says so.

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
      `update tieout.chunks set state = 'queued', tries = 0, token = null, leased_until = null
       where account_id = 'A1001' returning chunk_id`,
    );
    const failed: unknown[] = [];
    const told = (error: unknown) => failed.push(error);
    for (let n = 0; n < TRIES; n += 1) {
      await pullChunk(older, rows[0]?.chunk_id ?? 0n).catch(told);
      await sendBatch(older, batchIds[0] ?? 0n).catch(told);
    }
    const left = await house.db.query(
      `select c.state as chunk, c.tries as looks, b.state as batch, b.tries, b.reason
       from tieout.chunks c, tieout.batches b where c.chunk_id = $1 and b.batch_id = $2`,
      [rows[0]?.chunk_id, batchIds[0]],
    );
    const reason = expect.stringContaining(
      'account A1001 is not in the configuration of this process',
    );
    expect(failed).toEqual([]);
    expect(left.rows).toEqual([{ chunk: 'queued', looks: 0, batch: 'queued', tries: 0, reason }]);
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
  } finally {
    await house.end();
  }
});
