// What waits for several reasons is asked about each of them, once, and then goes, once: an approval
// is for the reason that it was given for. Real nights, people, claims and a gateway that counts.
// Neighbours: lapsedApproval.test.ts; instructions/reasonsBehind.test.ts asks the facts alone.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { sayPutBack } from '../../src/send/journal/putBacksStore.js';
import { byHand } from '../support/byHand.js';
import { decideHeld } from '../support/decideHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

/** Nights one after the other. */
vi.setConfig({ testTimeout: 240_000 });

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const [ONE = '', TWO = ''] = ['1', '2'].map((n) => `00000000-0000-4000-8000-00000000000${n}`);

/** The night of that date, in the early morning after it. */
const night = (house: House, daysAgo: number) =>
  house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));

async function waiting(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select state || coalesce(' ' || hold_reason, '') as what from tieout.instructions
     where state in ('planned', 'held', 'queued') order by instruction_id`,
  );
  return rows.map(({ what }) => what);
}

/** Approves what is held, each by its own sheet, and sends; answers what waits then. */
async function approved(house: House, name: string): Promise<string[]> {
  const said = await decideHeld(await house.open(), { name, isClaim: true }, 'approve', true);
  expect(said).toEqual([expect.stringMatching(/^sent by/)]);
  return sent(house);
}

async function sent(house: House): Promise<string[]> {
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
  return waiting(house);
}

/** The database came back, as its host has found. */
const putBack = (house: House) => house.db.transaction((tx) => sayPutBack(tx, 'for a test'));

async function thenHeldFor(house: House): Promise<string | null | undefined> {
  const { rows } = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where state = 'held'`,
  );
  return (await sheetOf({ db: house.db, refundReasonTag: true }, rows[0]?.id ?? 0n))?.thenHeldFor;
}

/** One captured order, of which 3.00 and then 5.00 went back, and 2.00 more by a person's hand. */
async function refundsAndOneByHand(): Promise<House> {
  const settings = {
    operations: { capture: 'auto', cancel: 'auto', refund: 'auto', review: 'auto' },
  };
  const inLedger = kinds({ partial_refund_due: 1 });
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 6, settings });
  cleanups.push(() => house.end());
  await house.db.query(
    `with gone as (delete from ledger.refund_requests returning *)
     insert into ledger.refund_requests
     select account_id, 'part-' || n, order_no, n, reason, requested_by,
       requested_at + n * interval '1 second' from gone cross join unnest('{3,5}'::int[]) n`,
  );
  for (const daysAgo of [6, 5]) await night(house, daysAgo);
  const { rows } = await house.db.query<Record<string, string>>(
    `select account_id, order_no, transaction_id, currency, amount::text as amount,
       'by hand' as refund_reason from tieout.instructions limit 1`,
  );
  const { account_id = '', ...entry } = rows[0] ?? {};
  const refund_orders = [{ ...entry, refund_amount: '2.00' }];
  expect(await byHand(house, account_id, 'refund', { refund_orders })).toBe('accepted');
  expect(await refunded(house)).toEqual(['3.00', '5.00', '2.00']);
  return house;
}

const refunded = async (house: House) =>
  (await house.effects()).map(({ refund_amount }) => refund_amount);

/** The request of 5.00 once more, with a space behind its number. */
const askedTwice = (house: House) =>
  house.db.query(
    `insert into ledger.refund_requests
     select account_id, refund_id || ' ', order_no, refund_amount, reason, requested_by, now()
     from ledger.refund_requests where refund_id = 'part-5'`,
  );

describe.each([false, true])('with a night between two approvals: %s', (isNightBetween) => {
  const between = (house: House, daysAgo: number) =>
    isNightBetween ? night(house, daysAgo) : undefined;

  test('a refund that somebody also made by hand, and whose request came twice', async () => {
    const house = await refundsAndOneByHand();
    await askedTwice(house);
    await night(house, 4);
    expect(await waiting(house)).toEqual(['held by_hand']);
    expect(await thenHeldFor(house)).toBe('twin_request');
    expect(await approved(house, 'anna')).toEqual(['held twin_request']);
    expect(await thenHeldFor(house)).toBeNull();
    await between(house, 3);
    expect(await waiting(house)).toEqual(['held twin_request']);
    expect(await approved(house, 'bert')).toEqual([]);
    await night(house, 2);
    expect(await refunded(house)).toEqual(['3.00', '5.00', '2.00', '5.00']);
  });

  test('a refund that waits as one from before a put-back, too', async () => {
    const house = await refundsAndOneByHand();
    await askedTwice(house);
    await putBack(house);
    await night(house, 4);
    for (const reason of ['restored', 'by_hand', 'twin_request']) {
      expect(await waiting(house)).toEqual([`held ${reason}`]);
      expect(await refunded(house)).toHaveLength(3);
      await approved(house, 'anna');
      await between(house, 3);
    }
    expect(await waiting(house)).toEqual([]);
    await night(house, 2);
    expect(await refunded(house)).toEqual(['3.00', '5.00', '2.00', '5.00']);
  });

  test('a payout that is a possible double and one from before a put-back', async () => {
    const settings = { operations: { payout: 'auto' } };
    const house = await buildHouse({ orders: 60, inLedger: kinds({}), settings, daysAgo: 2 });
    cleanups.push(() => house.end());
    const profile = join(house.folder, 'gateway-profile.yaml');
    writeFileSync(profile, PROFILE_TEMPLATE.replace('unit: null', 'unit: major'));
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
    const ask = (id: string) =>
      house.db.query(
        `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
         values ($1, 'A1001', '{"payment_currency": "EUR", "payment_amount": "7"}', now())`,
        [id],
      );
    const paid = async () => (await house.effects()).map(({ order_no }) => order_no);
    await ask(ONE);
    await house.run({ date: dateOf(2) });
    await house.db.query('delete from ledger.payout_requests');
    await ask(TWO);
    await house.run({ date: dateOf(1) });
    expect(await waiting(house)).toEqual(['held twin_request']);
    await putBack(house);
    expect(await waiting(house)).toEqual(['held restored']);
    expect(await thenHeldFor(house)).toBe('twin_request');
    expect(await approved(house, 'anna')).toEqual(['held twin_request']);
    if (isNightBetween) await house.run({ date: dateOf(1) });
    expect(await waiting(house)).toEqual(['held twin_request']);
    expect(await paid()).toEqual([ONE]);
    expect(await approved(house, 'bert')).toEqual([]);
    expect(await paid()).toEqual([ONE, TWO]);
    await house.run({ date: dateOf(1) });
    expect(await paid()).toEqual([ONE, TWO]);
  });
});
