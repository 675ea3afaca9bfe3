// Answers of the gateway that no database holds as they are: a long message whose cut falls within a
// character, in the answer to money and in that to a look; and a stored answer that cannot be recorded
// at all. Each costs its own entries, never the others and never the night.

import { afterEach, describe, expect, it } from 'vitest';
import { DatabaseAwayError, TakenOverError } from '../../src/core/errors.js';
import { runSentence } from '../../src/core/runs/summary.js';
import type { SendDeps } from '../../src/send/deps.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { instructionCounts, kinds, sumOrders } from '../support/night.js';
import { noticesOf } from '../support/notices.js';
import type { Front } from './front.js';
import { answerJson, retell } from './front.js';
import { houseBehind } from './houseBehind.js';
import { forgetRunner, prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(
  ...inLedger: Parameters<typeof kinds>
): Promise<{ house: House; front: Front }> {
  const behind = await houseBehind({ orders: 900, inLedger: kinds(...inLedger) });
  cleanups.push(() => behind.house.end());
  return behind;
}

/** Every length falls within a character in the one, or in the other. */
const LONG = ['x', 'xx'].map((start) => start + '😀'.repeat(400));

describe('a message whose cut falls within a character', () => {
  it.each(LONG)('of a refusal: its order breaks, and the night is whole', async (message) => {
    const { house, front } = await houseOf({ capture_due: 1, cancel_due: 1 }, 'A1001');
    front.trouble = (call) => {
      if (call.operation !== 'capture') return false;
      const { merchant_id, account_id, capture_orders } = JSON.parse(call.body);
      const refused = { capture_status: '0', error_message: message };
      const entries = capture_orders.map((entry: object) => ({ ...entry, ...refused }));
      const told = { merchant_id, account_id, return_status: '1', capture_orders: entries };
      return answerJson(call, told);
    };
    const { summary } = await house.run();
    expect(summary.state).toBe('broken');
    expect(await instructionCounts(house.db)).toEqual({
      'cancel confirmed': 1,
      'capture rejected': 1,
    });
    await expectIdentities(house.db, summary);
  });

  it.each(LONG)('of a whole answer: its entries are unknown until the look', async (message) => {
    const { house, front } = await houseOf({ capture_due: 1 }, 'A1001');
    front.trouble = (call) =>
      call.operation === 'capture' &&
      retell(call, (told) => ({ ...told, return_status: '9', return_message: message }));
    const { summary } = await house.run();
    expect(await instructionCounts(house.db)).toEqual({ 'capture confirmed': 1 });
    expect(summary.state).toBe('tied_out');
  });

  it.each(LONG)('of a page: the run is incomplete, and says why', async (message) => {
    const { house, front } = await houseOf({ capture_due: 9 });
    front.trouble = (call) =>
      call.operation === 'retrievalTrans' &&
      call.body.includes('A1001') &&
      retell(call, (told) => ({ ...told, return_status: '0', return_message: message }));
    const { summary } = await house.run();
    expect(summary.state).toBe('incomplete');
    expect(sumOrders(summary, 'matched') + sumOrders(summary, 'notCompared')).toBe(9);
    const texts = noticesOf(summary).map(({ text }) => text);
    expect(texts.join()).toContain('the gateway answered return_status 0: x');
    await expectIdentities(house.db, summary);
  });
});

interface Left {
  house: House;
  deps: SendDeps;
  lines: string[];
}

/** A capture and a cancel, each answered, whose sender died before it recorded what they say. */
async function twoAnswered({ isOpen = true } = {}): Promise<Left> {
  const { house } = await houseOf({ capture_due: 1, cancel_due: 1 }, 'A1001');
  const { deps, batchIds } = await prepareRun(house, { isOpen });
  const dying = refusing(deps, () => new Error('the sender died'));
  for (const batchId of isOpen ? batchIds : batchIds.slice(-1)) {
    await expect(sendBatch(dying, batchId)).rejects.toThrow('the sender died');
  }
  await house.db.query(`begin; set local session_replication_role = replica;
    update tieout.attempts set boot_id = 'another boot'; commit`);
  await forgetRunner(house);
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  return { house, deps: { ...deps, log, isAlive: () => false }, lines };
}

/** Fails where what became of an attempt is recorded. */
function refusing(deps: SendDeps, error: () => Error): SendDeps {
  const query: SendDeps['db']['query'] = async (text, values, name) => {
    if (name === 'recordOutcomes') throw error();
    return deps.db.query(text, values, name);
  };
  return { ...deps, db: { ...deps.db, query } };
}

/** What the database takes of a capture from now on. */
function takes({ db }: House, states: string): Promise<unknown> {
  return db.query(`alter table tieout.instructions add constraint odd
    check (operation <> 'capture' or state in (${states})) not valid`);
}

describe('a stored answer that cannot be recorded', () => {
  it('is unknown by name, and the others are read', async () => {
    const { house, deps, lines } = await twoAnswered();
    await takes(house, `'sending', 'unknown'`);
    await recoverAttempts(deps, ['A1001']);
    const counts = { 'cancel accepted': 1, 'capture unknown': 1 };
    expect(await instructionCounts(house.db)).toEqual(counts);
    const { rows } = await house.db.query(
      `select t.outcome, i.reason from tieout.instructions i join tieout.attempts t using (batch_id)
       where i.state = 'unknown'`,
    );
    const reason = expect.stringMatching(/^what its answer says could not be recorded: .*"odd"/);
    expect(rows).toEqual([{ outcome: 'answered', reason }]);
    expect(lines.join('\n')).toMatch(/capture: 1 unknown: what its answer says could not/);
  });

  it('is unknown as well where it cannot be read any more', async () => {
    const { house, deps } = await twoAnswered();
    const { gateway } = deps.config;
    const profile = { ...gateway.profile, currencies: { EUR: 0, USD: 0, GBP: 0 } };
    const config = { ...deps.config, gateway: { ...gateway, profile } };
    await house.db.query(`begin; set local session_replication_role = replica;
      update tieout.instructions set amount = 10.5 where operation = 'capture';
      update tieout.instructions set amount = 10 where operation = 'cancel'; commit`);
    await recoverAttempts({ ...deps, config }, ['A1001']);
    const { rows } = await house.db.query<{ reason: string }>(
      `select reason from tieout.instructions where operation = 'capture'`,
    );
    expect(rows[0]?.reason).toMatch(/^its answer could not be read: order .* cannot be written/);
    expect((await instructionCounts(house.db))['capture unknown']).toBe(1);
  });

  it('stays as being sent, and is told, where not even that can be recorded', async () => {
    const { house, deps, lines } = await twoAnswered();
    await takes(house, `'sending'`);
    await recoverAttempts(deps, ['A1001']);
    const counts = { 'cancel accepted': 1, 'capture sending': 1 };
    expect(await instructionCounts(house.db)).toEqual(counts);
    await recoverAttempts(deps, ['A1001']);
    const told = lines.filter((line) => line.startsWith('batch '));
    expect(told).toEqual([
      ...Array(2).fill(expect.stringContaining('the stored answer is read now')),
      expect.stringMatching(/^batch \d+: what became of it could not be recorded: /),
    ]);
    const { summary } = await house.run();
    expect(runSentence(summary)).toMatch(/incomplete: 1 instruction being sent, with no end yet/);
    expect(await instructionCounts(house.db)).toEqual({
      'cancel confirmed': 1,
      'capture sending': 1,
    });
    await expectIdentities(house.db, summary);
  });

  it('is not waited for as a canary either: what is behind it waits for the next run', async () => {
    const { house } = await twoAnswered({ isOpen: false });
    await takes(house, `'sending'`);
    const { summary } = await house.run();
    expect(await instructionCounts(house.db)).toEqual({ 'cancel queued': 1, 'capture sending': 1 });
    expect(runSentence(summary)).toMatch(
      / not sent yet \(.*\) and 1 instruction being sent, with no end/,
    );
    await expectIdentities(house.db, summary);
  });

  it.each([
    ['the database is away', new DatabaseAwayError('away')],
    ['the run is taken over', new TakenOverError('taken over')],
    ['the statement fails for all', Object.assign(new Error('no such table'), { code: '42P01' })],
  ])('is neither where %s: it is read later', async (_, error) => {
    const { house, deps } = await twoAnswered();
    await expect(
      recoverAttempts(
        refusing(deps, () => error),
        ['A1001'],
      ),
    ).rejects.toThrow(error);
    expect(await instructionCounts(house.db)).toEqual({
      'cancel sending': 1,
      'capture sending': 1,
    });
    await recoverAttempts(deps, ['A1001']);
    expect(await instructionCounts(house.db)).toEqual({
      'cancel accepted': 1,
      'capture accepted': 1,
    });
  });
});
