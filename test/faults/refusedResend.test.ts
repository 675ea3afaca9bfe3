// What is to be sent a second time, after two complete snapshots did not show it, may be refused by a
// person like anything that waits: it is unknown again then, and is not sent.

import { afterAll, expect, it } from 'vitest';
import { letBrakeGo, pullBrake } from '../../src/brake/brake.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf, trails } from '../support/night.js';
import type { Front } from './front.js';
import { drop, startFront } from './front.js';

const ACCOUNT = 'A1001';
const WHO = { name: 'anna', isClaim: true };
let house: House;
let front: Front;
afterAll(() => house.end());

it('a second send that a person refuses stays unknown and is not made', async () => {
  house = await buildHouse({
    orders: 300,
    daysAgo: 5,
    inLedger: kinds({ capture_due: 1 }, ACCOUNT),
    settings: { operations: { capture: 'auto', resendAfterHours: 0 } },
    through: async (sandboxUrl) => {
      front = await startFront(sandboxUrl);
      return front;
    },
  });
  front.trouble = async (call) => call.operation === 'capture' && drop(call);
  const night = (daysAgo: number) =>
    house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
  await night(5);
  await night(4);
  const order = { accountId: ACCOUNT, reason: 'wait', who: WHO };
  await pullBrake({ db: house.db }, order);
  await night(3);
  const { rows } = await house.db.query<{ instruction_id: bigint; order_no: string }>(
    `select instruction_id, order_no from tieout.instructions where state = 'queued'`,
  );
  expect(rows).toHaveLength(1);
  const ids = rows.map((row) => row.instruction_id);
  const decision = { kind: 'reject' as const, reason: 'the customer keeps it' };
  const deps = await (await house.open()).sendDeps();
  const [verdict] = await decideInstructions(deps, { ids, decision, who: WHO });
  expect(verdict?.kind).toBe('done');
  await letBrakeGo({ db: house.db }, order);
  await night(2);
  const [{ order_no: orderNo = '' } = {}] = rows;
  expect((await trails(house.db))[orderNo]?.[0]).toMatch(/ planned queued unknown$/);
  expect(await openBreaksOf(house.db)).toContain(`${orderNo} outcome_unknown`);
  expect(Object.fromEntries(front.asked).capture).toBe(1);
});
