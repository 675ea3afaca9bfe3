// A cardholder takes a payment back while a refund of it waits: before the plan, after it, after an
// approval. The money goes back once at most, and by a person who has seen the dispute. Whole
// nights with the files that a merchant imports; each test ends with what really moved.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { DecisionVerdict } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';
import { importDisputes } from '../../src/ledger/imports/importDisputes.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { openXlsx } from '../reports/openXlsx.js';
import { decideHeld } from '../support/decideHeld.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(refund: 'auto' | 'approve'): Promise<House> {
  const inLedger = kinds({ partial_refund_due: 1 });
  const settings = { operations: { refund } };
  const house = await buildHouse({ orders: 900, inLedger, daysAgo: 4, settings });
  cleanups.push(() => house.end());
  return house;
}

test('a refund that would go by itself waits, is named everywhere, and goes when a person has seen why', async () => {
  const house = await houseOf('auto');
  await dispute(house, 'opened');
  const { reports } = (await night(house, 4)).summary;
  expect(await held(house)).toEqual(['disputed']);
  const app = await house.open();
  const sheet = await sheetOf({ db: house.db, refundReasonTag: true }, await refundId(house));
  expect(sheet?.seen.disputes).toMatchObject([{ disputeId: 'D-1', stage: 'opened' }]);
  const [row] = house.seeded;
  const history = await orderHistory(
    app.db,
    row?.ledger?.account_id ?? '',
    row?.ledger?.order_no ?? '',
    app.config,
  );
  // Read from the page as the night kept it.
  expect(history?.shown?.entries).toMatchObject([
    { transaction: expect.stringMatching(/^T/), is3ds: '0', subscription: null },
  ]);
  expect(history?.disputes).toMatchObject([{ disputeId: 'D-1', stage: 'opened', problem: null }]);
  const path = reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  const waiting = (await openXlsx(path)).getWorksheet('Waiting for you');
  const words = JSON.stringify(waiting?.getSheetValues());
  expect(words).toContain('dispute D-1: opened, ');
  expect(await house.effects()).toEqual([]);
  expect((await approve(house)).map(({ kind }) => kind)).toEqual(['done']);
  expect(await send(house)).toMatchObject([{ state: 'confirmed' }]);
  await night(house, 3);
  expect(await house.effects()).toHaveLength(1);
});

test('an approval from before the dispute was known is void at the claim; seen again, it goes once', async () => {
  const house = await houseOf('approve');
  await night(house, 4);
  await approve(house);
  await dispute(house, 'opened');
  expect(await send(house)).toMatchObject([{ state: 'held', reason: 'disputed' }]);
  expect(await send(house)).toEqual([]);
  await approve(house);
  // the stage that was seen is not the one of now
  await dispute(house, 'lost', '2026-11-03T00:00:00Z');
  expect(await send(house)).toMatchObject([{ state: 'held', reason: 'disputed' }]);
  expect(await house.effects()).toEqual([]);
  await approve(house);
  expect(await send(house)).toMatchObject([{ state: 'confirmed' }]);
  await night(house, 3);
  expect(await house.effects()).toHaveLength(1);
});

test('it waits from night to night, and goes by itself once the dispute is won', async () => {
  const house = await houseOf('auto');
  await dispute(house, 'opened');
  await night(house, 4);
  await dispute(house, 'lost', '2026-11-03T00:00:00Z');
  await night(house, 3);
  expect(await held(house)).toEqual(['disputed']);
  await dispute(house, 'won', '2026-11-04T00:00:00Z');
  await night(house, 2);
  expect(await instructionCounts(house.db)).toEqual({ 'refund confirmed': 1 });
  expect(await house.effects()).toHaveLength(1);
});

test('what began to wait for another reason is not approved blindly', async () => {
  const house = await houseOf('approve');
  await night(house, 4);
  await dispute(house, 'opened');
  const who = { name: 'anna', isClaim: false };
  const [blind] = await decideHeld(await house.open(), who, 'approve', false);
  expect(blind).toContain('disputed, which was not known when this began to wait');
  expect(await held(house)).toEqual(['approval']);
  await decideHeld(await house.open(), who, 'approve', true);
  expect(await send(house)).toMatchObject([{ state: 'confirmed' }]);
  expect(await house.effects()).toHaveLength(1);
});

/** The dispute of the one order, as a file brings it. */
async function dispute(house: House, stage: string, at = '2026-11-02T00:00:00Z'): Promise<void> {
  const { rows } = await house.db.query<Record<string, string>>(
    'select account_id, order_no, currency, amount::text as amount from ledger.orders',
  );
  const [order] = rows;
  const file = join(house.folder, 'disputes.csv');
  writeFileSync(
    file,
    `account_id,dispute_id,order_no,currency,amount,stage,at\n${order?.account_id},D-1,` +
      `${order?.order_no},${order?.currency},${order?.amount},${stage},${at}\n`,
  );
  const { config, db } = await house.open();
  const deps = { db, profile: config.gateway.profile, accounts: config.accounts };
  expect(await importDisputes(deps, [file], { check: false })).toMatchObject({ skipped: 0 });
}

function night(house: House, daysAgo: number) {
  return house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

async function held(house: House): Promise<(string | null)[]> {
  const { rows } = await house.db.query<{ hold_reason: string | null }>(
    `select hold_reason from tieout.instructions where state = 'held'`,
  );
  return rows.map((row) => row.hold_reason);
}

async function refundId(house: House): Promise<bigint> {
  const { rows } = await house.db.query<{ id: bigint }>(
    `select max(instruction_id) as id from tieout.instructions where operation = 'refund'`,
  );
  return rows[0]?.id ?? 0n;
}

async function approve(house: House): Promise<DecisionVerdict[]> {
  const deps = await (await house.open()).sendDeps();
  const ids = [await refundId(house)];
  const decision = { kind: 'approve', reason: null } as const;
  return decideInstructions(deps, { ids, decision, who: { name: 'anna', isClaim: false } });
}

async function send(house: House) {
  const app = await house.open();
  const accountIds = house.accounts.map((account) => account.accountId);
  return sendApproved(await app.sendDeps(), accountIds, await app.workforce());
}
