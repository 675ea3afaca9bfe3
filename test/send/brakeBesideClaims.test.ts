// Stopping all sending while a batch is being claimed: it stands at once, and whoever pulled it is
// told of what was claimed in sight of none.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullBrake } from '../../src/brake/brake.js';
import { callGateway } from '../../src/cli/gateway/gatewayCall.js';
import { journalled } from '../../src/cli/gateway/gatewayJournal.js';
import { underWayWords } from '../../src/core/instructions/breaker.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { createPaymentClient } from '../../src/gateway/payments/paymentClient.js';
import {
  activeBrakes,
  sendsUnderWay,
  statusInClaim,
} from '../../src/send/batches/sendingStatusStore.js';
import { ACCOUNT, httpText, rawServer } from '../gateway/rawServer.js';
import { batchJson } from '../gateway/samples.js';
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
  expect(await pulled.pulling).toMatchObject({ kind: 'on', underWay: { batches: 0, byHand: 0 } });
  const next = await db.transaction((tx) => statusInClaim(tx, 'B1'));
  expect(next?.brakes).toHaveLength(1);
});

test('who stops sending is told of a call by hand that has no answer yet', async () => {
  const { db, drop } = await freshDatabase();
  const who = { name: 'kim', isClaim: true };
  const underWay: unknown[] = [];
  const pull = async (accountId: string) => {
    const pulled = await pullBrake({ db }, { accountId, reason: 'the acquirer called', who });
    underWay.push(pulled.kind === 'on' ? pulled.underWay : null);
  };
  const server = await rawServer({
    asked: (socket) => {
      void pull(ACCOUNT.accountId)
        .then(() => pull('another'))
        .then(() => socket.end(httpText(batchJson('capture'))));
    },
  });
  const gateway = createPaymentClient({ profile: sandboxProfile(), baseUrl: server.baseUrl });
  const clock = { now: () => new Date(), monotonic: () => performance.now() };
  const called = { operation: 'capture', by: who, fields: CAPTURE } as const;
  const { client, end } = journalled({ db, ...clock }, gateway, called);
  await end(await callGateway(client, ACCOUNT, 'capture', CAPTURE));
  const none = { batches: 0, byHand: 0 };
  expect(underWay).toEqual([{ batches: 0, byHand: 1 }, none]);
  expect(await sendsUnderWay(db, null)).toEqual(none);
  expect(underWayWords({ batches: 2, byHand: 1 })).toBe(
    'On the way, and will come to an end: 2 batches and 1 call by hand.',
  );
  expect(underWayWords(none)).toBeNull();
  await gateway.close();
  await server.close();
  await drop();
});

const CAPTURE = {
  capture_orders: [{ transaction_id: 'T1', order_no: 'SO-1', currency: 'EUR', amount: '10.00' }],
};
