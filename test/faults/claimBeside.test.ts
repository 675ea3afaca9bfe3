// A claim that is under way while the night goes on. One that begins takes apart the batches that
// wait, while a worker claims one of them, or somebody else holds what is in it: neither may end the
// other. One that has sent waits for what was claimed before its account was stopped.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openClient } from '../../src/database/connection.js';
import type { Db } from '../../src/database/db.js';
import { openSends } from '../../src/send/batches/batchesStore.js';
import { BATCH_TRIES_MAX, openWith } from '../../src/send/enqueueWaiting.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { approveHeld } from '../support/approveHeld.js';
import { latch } from '../support/latch.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, instructionCounts, kinds } from '../support/night.js';

const WENT_ON = 'the run goes on from where it was';
const TAKES_APART = 'cut anew by the next run';
const POLL_MS = 20;
const POLLS_MAX = 1_500;

/** Two captures that a person approved in the evening, in a batch that waits. */
async function approvedInTheEvening() {
  const house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
    daysAgo: 2,
  });
  await house.run({ date: dateOf(2) });
  await approveHeld(house);
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.batches where state = 'queued'`,
  );
  expect(rows).toHaveLength(1);
  return { house, batchId: rows[0]?.batch_id ?? 0n };
}

/** Until somebody waits for a lock in a statement that has these words. */
async function waitsForALock(db: Db, words: string): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { rows } = await db.query(
      `select from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database()
         and strpos(query, $1) > 0`,
      [words],
    );
    if (rows.length > 0) return;
    await sleep(POLL_MS);
  }
  throw new Error('nobody waits for a lock');
}

/** A worker that stands still before the last statement of its claim. */
async function claiming(house: House, batchId: bigint) {
  const deps = await (await house.open()).sendDeps();
  await deps.journal.keep();
  const [paused, go] = [latch(), latch()];
  const durably: typeof deps.db.durably = (work) =>
    deps.db.durably((tx) => {
      const query: Db['query'] = async (text, values, name) => {
        if (name === 'claimBatch') {
          paused.open();
          await go.promise;
        }
        return tx.query(text, values, name);
      };
      return work({ ...tx, query });
    });
  const sending = sendBatch({ ...deps, db: { ...deps.db, durably } }, batchId);
  return { deps, sending, paused, go };
}

describe('a deadlock', () => {
  it('is not met by a claim that takes its batch apart', async () => {
    const { house, batchId } = await approvedInTheEvening();
    try {
      const { sending, paused, go } = await claiming(house, batchId);
      await paused.promise;
      const running = house.run({ date: dateOf(1) });
      await waitsForALock(house.db, TAKES_APART);
      go.open();
      await sending;
      expect((await running).summary.state).toBe('tied_out');
      expect(house.lines.join('\n')).not.toContain(WENT_ON);
      expect(await house.effects()).toHaveLength(2);
    } finally {
      await house.end();
    }
  }, 120_000);

  it('ends a statement of the night, and the night goes on', async () => {
    const { house, batchId } = await approvedInTheEvening();
    const other = await openClient(house.connection);
    try {
      await other.query('begin');
      await other.query(
        `select from tieout.instructions where batch_id = $1 order by instruction_id for update`,
        [batchId],
      );
      const running = house.run({ date: dateOf(1) });
      await waitsForALock(house.db, TAKES_APART);
      await other.query(`update tieout.batches set tries = tries where batch_id = $1`, [batchId]);
      await other.query('commit');
      expect((await running).summary.state).toBe('tied_out');
      expect(house.lines.join('\n')).toContain(WENT_ON);
      expect(await house.effects()).toHaveLength(2);
    } finally {
      await other.end();
      await house.end();
    }
  }, 120_000);
});

it('is waited for where its account was stopped meanwhile', async () => {
  const { house, batchId } = await approvedInTheEvening();
  try {
    const say = (sending: string) =>
      house.db.query(
        `update tieout.run_accounts set sending = $1,
           sending_reason = case $1 when 'stopped' then '2 batches in a row' end,
           canary_batch_id = case $1 when 'canary' then $2::bigint end
         where account_id = 'A1001'`,
        [sending, batchId],
      );
    await say('canary');
    await say('open');
    const { deps, sending, paused, go } = await claiming(house, batchId);
    await paused.promise;
    await say('stopped');
    const accountIds = ['A1001'];
    const queued = async () => (await instructionCounts(house.db))['capture queued'] ?? 0;
    const over = openWith(deps, { accountIds, left: [] }, (going) =>
      openSends(house.db, { accountIds, going, left: [] }, BATCH_TRIES_MAX),
    ).then(queued);
    await waitsForALock(house.db, 'tieout.claim');
    go.open();
    expect(await over).toBe(0);
    await sending;
    expect(await house.effects()).toHaveLength(2);
  } finally {
    await house.end();
  }
}, 120_000);
