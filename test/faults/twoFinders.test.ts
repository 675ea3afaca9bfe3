// Two processes find the same dead sender at the same moment, and both want to say what became of
// its batch. The second one comes too late and must neither fail nor change anything. Found by the
// simulator (seed 3, schedules from 500): a payout made the night of everybody else fail.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import type { SendDeps } from '../../src/send/deps.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import type { House } from '../support/night.js';
import { buildHouse, instructionCounts, kinds, rewriteSettings } from '../support/night.js';
import { prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseWith(captures: number): Promise<House> {
  const inLedger = kinds({ capture_due: captures }, 'A1001');
  const house = await buildHouse({ orders: 900, inLedger });
  cleanups.push(() => house.end());
  const file = join(house.folder, 'gateway-profile.yaml');
  writeFileSync(file, JSON.stringify({ ...sandboxProfile(), payout: { unit: 'major' } }));
  rewriteSettings(house, {
    gateway: { baseUrl: house.gatewayUrl, profile: file },
    operations: { capture: 'auto', payout: 'auto' },
  });
  return house;
}

async function requestPayout(house: House): Promise<void> {
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ('00000000-0000-4000-8000-000000000001', 'A1001', $1, clock_timestamp())`,
    [JSON.stringify({ payment_amount: '120', payment_currency: 'EUR' })],
  );
}

/** Dies with the answer stored and not yet read. */
function dying(deps: SendDeps): SendDeps {
  const die = (): never => {
    throw new Error('died');
  };
  const gateway = { ...deps.gateway, readBatchAnswer: die, readPayoutAnswer: die };
  return { ...deps, gateway, runner: { ...deps.runner, boot: 'another boot' } };
}

/** Between its finding and its first question about a batch the other one is done with all. */
function overtaken(deps: SendDeps): SendDeps {
  let isDone = false;
  const query: SendDeps['db']['query'] = async (text, ...more) => {
    const found = await deps.db.query(text, ...more);
    if (!isDone && text.includes('from tieout.attempts t')) {
      isDone = true;
      await recoverAttempts(deps, ['A1001']);
    }
    return found as never;
  };
  return { ...deps, db: { ...deps.db, query } };
}

it.each([
  ['a capture', 'capture', 'accepted'],
  ['a payout', 'payout', 'confirmed'],
])('the second to find %s changes nothing', async (_, operation, state) => {
  const house = await houseWith(operation === 'capture' ? 1 : 0);
  if (operation === 'payout') await requestPayout(house);
  const { deps, batchIds } = await prepareRun(house);
  expect(batchIds.length).toBe(1);
  await expect(sendBatch(dying(deps), batchIds[0] ?? 0n)).rejects.toThrow('died');
  expect(await instructionCounts(house.db)).toEqual({ [`${operation} sending`]: 1 });
  await recoverAttempts(overtaken(deps), ['A1001']);
  expect(await instructionCounts(house.db)).toEqual({ [`${operation} ${state}`]: 1 });
  expect((await house.effects()).length).toBe(1);
});
