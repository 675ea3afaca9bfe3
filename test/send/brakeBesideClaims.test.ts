// Stopping all sending while a batch is being claimed: it stands at once, and whoever pulled it is
// told of what was claimed in sight of none.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullBrake } from '../../src/brake/brake.js';
import { activeBrakes, statusInClaim } from '../../src/send/batches/sendingStatusStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

test('who stops sending waits for a claim that began before, and stops the next at once', async () => {
  const { db } = fresh;
  await storeRun(db, 'B1');
  const who = { name: 'kim', isClaim: true };
  let isTold = false;
  const pulled = await db.transaction(async (tx) => {
    expect((await statusInClaim(tx, 'B1'))?.brakes).toEqual([]);
    const pulling = pullBrake({ db }, { accountId: null, reason: 'the acquirer called', who });
    void pulling.then(() => {
      isTold = true;
    });
    while ((await activeBrakes(db)).length === 0) await sleep(10);
    await sleep(200);
    expect(isTold).toBe(false);
    return { pulling };
  });
  expect(await pulled.pulling).toMatchObject({ kind: 'on', underWay: 0 });
  const next = await db.transaction((tx) => statusInClaim(tx, 'B1'));
  expect(next?.brakes).toHaveLength(1);
});
