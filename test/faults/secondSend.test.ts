// Nights after which nobody knows: what resendAfterHours sends again, once, after two complete
// looks, and what it never does. One house with every case in it; the gateway's journal is the
// judge.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batch } from '../sandbox/wireClient.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, openBreaksOf, trails } from '../support/night.js';
import type { Call, Front } from './front.js';
import { drop, startFront } from './front.js';

const NIGHTS = 5;
const LOST = 'planned queued sending unknown';
let house: House;
let front: Front;
/** By the night, from the first on. */
const asked: Record<string, number>[] = [];
let told: Record<string, string[]>;

beforeAll(async () => {
  const [first, second] = [
    kinds({ capture_due: 1, cancel_due: 1 }, 'A1001'),
    kinds({ capture_due: 1, partial_refund_due: 1 }, 'A1002'),
  ];
  house = await buildHouse({
    orders: 300,
    daysAgo: NIGHTS,
    inLedger: (order) => first(order) || second(order),
    settings: {
      operations: {
        ...{ capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' },
        resendAfterHours: 0,
      },
    },
    through: async (sandboxUrl) => {
      front = await startFront(sandboxUrl);
      return front;
    },
  });
  for (let night = 0; night < NIGHTS; night += 1) {
    const daysAgo = NIGHTS - night;
    front.trouble = (call) => call.operation !== 'retrievalTrans' && troubleIn(night, call);
    const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
    const { summary } = await house.run({ date: dateOf(daysAgo) }, at);
    await expectIdentities(house.db, summary);
    const { retrievalTrans: _, ...moves } = Object.fromEntries(front.asked);
    asked.push(moves);
  }
  told = await trails(house.db);
}, 120_000);
afterAll(() => house.end());

/** Every answer of the first night is lost; later only those of the second account are. */
async function troubleIn(night: number, call: Call): Promise<boolean> {
  if (night > 0) return call.body.includes('"A1002"') && drop(call);
  if (call.operation === 'refund') await call.pass();
  if (call.operation === 'cancel') await captureByHand(call);
  return drop(call);
}

/** Somebody captures in the portal what is just being cancelled. */
async function captureByHand({ body }: Call): Promise<void> {
  const sent = JSON.parse(body) as { account_id: string; cancel_orders: Record<string, string>[] };
  const account = house.accounts.find((one) => one.accountId === sent.account_id);
  if (!account) throw new Error('whose cancel is this?');
  await batch(house.sandboxUrl, account, 'capture', sent.cancel_orders);
}

function orderOf(kind: string, accountId: string): string {
  const found = house.seeded.find(
    (one) => one.kind === kind && one.ledger.account_id === accountId,
  );
  return found?.ledger.order_no ?? '';
}

describe('an unknown that two complete snapshots do not show', () => {
  it('is sent again in the second night after it, and not before', () => {
    expect(asked.map(({ capture }) => capture)).toEqual([2, 2, 4, 4, 4]);
    expect(told[orderOf('capture_due', 'A1001')]).toEqual([
      `capture: ${LOST} planned queued sending accepted confirmed`,
    ]);
  });

  it('is sent again once: the second time it waits for a person', async () => {
    const orderNo = orderOf('capture_due', 'A1002');
    expect(told[orderNo]).toEqual([`capture: ${LOST} planned queued sending unknown`]);
    expect(await openBreaksOf(house.db)).toContain(`${orderNo} outcome_unknown`);
    const { rows } = await house.db.query<{ count: bigint }>(
      `select count(*) as count from tieout.attempts t join tieout.instructions i
         on i.instruction_id::text in (select jsonb_array_elements_text(t.entries))
       where i.order_no = $1`,
      [orderNo],
    );
    expect(rows[0]?.count).toBe(2n);
  });
});

describe('an unknown that is never sent again', () => {
  it.each([
    ['a cancel that is seen captured', 'cancel_due', 'A1001', `cancel: ${LOST}`],
    ['a partial refund', 'partial_refund_due', 'A1002', `refund: ${LOST}`],
  ])('%s goes to a person', async (_, kind, accountId, trail) => {
    const orderNo = orderOf(kind, accountId);
    expect(told[orderNo]).toEqual([trail]);
    expect(await openBreaksOf(house.db)).toContain(`${orderNo} outcome_unknown`);
  });

  it('was asked of the gateway once, in all of these nights', () => {
    expect(asked.at(-1)).toMatchObject({ refund: 1, cancel: 1 });
  });
});

it('nothing moved twice, and nothing that nobody asked for', async () => {
  const moved = (await house.effects()).map(
    ({ operation, order_no }) => `${operation} ${order_no}`,
  );
  expect(moved.sort()).toEqual(
    [
      `capture ${orderOf('capture_due', 'A1001')}`,
      `capture ${orderOf('cancel_due', 'A1001')}`,
      `refund ${orderOf('partial_refund_due', 'A1002')}`,
    ].sort(),
  );
});
