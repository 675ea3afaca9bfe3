// Nights beside a person who refunds by hand parts of the same order: before the night's own refund
// of it, after it, and between an approval and its send. Each test ends with what moved.

import { afterEach, expect, test } from 'vitest';
import type { RunResult } from '../../../src/night/run.js';
import { sendApproved } from '../../../src/night/sendApproved.js';
import { approveHeld } from '../../support/approveHeld.js';
import { byHand } from '../../support/byHand.js';
import type { House } from '../../support/night.js';
import { buildHouse, dateOf, kinds } from '../../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** The night of that date, in the early morning after it. */
function night(house: House, daysAgo: number): Promise<RunResult> {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

/** One captured order of which parts of 1.00, 2.00 and so on are asked back; one goes a night. */
async function partsAsked(parts: number, refund: 'auto' | 'approve' = 'auto') {
  const settings = { operations: { capture: 'auto', cancel: 'auto', refund, review: 'auto' } };
  const inLedger = kinds({ partial_refund_due: 1 });
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 5, settings });
  cleanups.push(() => house.end());
  await house.db.query(
    `with gone as (delete from ledger.refund_requests returning *)
     insert into ledger.refund_requests
     select account_id, 'part-' || n, order_no, n, reason, requested_by,
       requested_at + n * interval '1 second' from gone cross join generate_series(1, $1) n`,
    [parts],
  );
  const byPerson = async (refund_amount: string) => {
    const { rows } = await house.db.query<Record<string, string>>(
      `select account_id, order_no, transaction_id, currency, amount::text as amount,
         'by hand' as refund_reason from tieout.instructions limit 1`,
    );
    const { account_id = '', ...entry } = rows[0] ?? {};
    return byHand(house, account_id, 'refund', { refund_orders: [{ ...entry, refund_amount }] });
  };
  return { house, byPerson };
}

async function waiting(house: House): Promise<string[]> {
  const { rows } = await house.db.query<{ what: string }>(
    `select state || coalesce(' ' || hold_reason, '') as what from tieout.instructions
     where state in ('held', 'queued') order by instruction_id`,
  );
  return rows.map(({ what }) => what);
}

async function refunded(house: House): Promise<(string | undefined)[]> {
  return (await house.effects()).map(({ refund_amount }) => refund_amount);
}

test('who approved a part in sight of one refund by hand had not seen the next one', async () => {
  const { house, byPerson } = await partsAsked(2);
  await night(house, 5);
  expect(await byPerson('2.00')).toBe('accepted');
  await night(house, 4);
  expect(await waiting(house)).toEqual(['held by_hand']);
  expect(await approveHeld(house)).toEqual(['done']);
  expect(await byPerson('2.00')).toBe('accepted');
  expect(await send(house)).toEqual(['held']);
  await night(house, 3);
  expect(await waiting(house)).toEqual(['held by_hand']);
  expect(await refunded(house)).toEqual(['1.00', '2.00', '2.00']);
});

test('what went back by hand beyond the ledger is told until the ledger asks for it', async () => {
  const { house, byPerson } = await partsAsked(1);
  await night(house, 5);
  expect(await byPerson('3.00')).toBe('accepted');
  for (const daysAgo of [4, 3]) {
    expect(await toldOf(night(house, daysAgo))).toEqual([
      expect.stringMatching(
        /asks for 1\.00 EUR back of order .*; 3\.00 EUR went back by hand .* and 1\.00 EUR by tieout/,
      ),
    ]);
  }
  await house.db.query(
    `insert into ledger.refund_requests
     select account_id, 'by-hand', order_no, 3.00, reason, requested_by, now()
     from ledger.refund_requests`,
  );
  expect(await toldOf(night(house, 2))).toEqual([]);
  expect(await waiting(house)).toEqual(['held by_hand']);
  expect(await refunded(house)).toEqual(['1.00', '3.00']);
});

async function toldOf(run: Promise<RunResult>): Promise<string[]> {
  const { notices = [] } = (await run).summary;
  return notices.filter(({ kind }) => kind === 'refunded_by_hand').map(({ text }) => text);
}

async function send(house: House): Promise<string[]> {
  const app = await house.open();
  const accountIds = house.accounts.map(({ accountId }) => accountId);
  const sent = await sendApproved(await app.sendDeps(), accountIds, await app.workforce());
  return sent.map(({ state }) => state);
}
