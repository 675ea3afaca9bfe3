// A night that begins takes apart the batches that wait, while a worker claims one of them, or
// somebody else holds what is in it: neither may end the other.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openClient } from '../../src/database/connection.js';
import type { Db } from '../../src/database/db.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { approveHeld } from '../support/approveHeld.js';
import { latch } from '../support/latch.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const WENT_ON = 'the run goes on from where it was';
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

/** The night, in the statement that takes apart what waits. */
async function waitsForALock(db: Db): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const { rows } = await db.query(
      `select from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database()
         and query like '%cut anew by the next run%'`,
    );
    if (rows.length > 0) return;
    await sleep(POLL_MS);
  }
  throw new Error('nobody waits for a lock');
}

it('is not met by a claim that takes its batch apart', async () => {
  const { house, batchId } = await approvedInTheEvening();
  try {
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
    await paused.promise;
    const running = house.run({ date: dateOf(1) });
    await waitsForALock(house.db);
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
    await waitsForALock(house.db);
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
