// What is enqueued: pages of a snapshot, which several workers of one kind fetch at a time,
// batches, which go to the senders of their schedules, and reports, which nobody writes here.

import { randomUUID } from 'node:crypto';
import { enqueueBatches, runnerOf } from './senders.mjs';

export async function enqueue(wave, queue, ids) {
  if (queue === 'report') return leaveReports(wave, ids);
  if (queue === 'pull') {
    const turn = [...ids];
    const work = async () => {
      for (let id = turn.shift(); id !== undefined; id = turn.shift()) {
        await pullOne(wave, BigInt(id));
      }
    };
    await Promise.all(Array.from({ length: 4 }, work));
    return;
  }
  const { rows } = await wave.db.query(
    'select batch_id, account_id from tieout.batches where batch_id = any ($1::bigint[])',
    [ids],
  );
  for (const { batch_id, account_id } of rows) {
    enqueueBatches(wave, wave.worlds.get(account_id), batch_id);
  }
}

/** A page of a night that another runner began, of an account that has left since: it stays. */
async function pullOne(wave, chunkId) {
  try {
    await wave.program.pullChunk.pullChunk(pullDeps(wave), chunkId);
  } catch (error) {
    if (!/not in the configuration/.test(error.message)) throw error;
    wave.tally.count('a worker did not know the account');
  }
}

function pullDeps(wave) {
  return {
    ...wave.base,
    // Workers are started with the night, by the same settings.
    config: wave.nightConfig ?? wave.config,
    // Many pull at once: what they draw must not depend on who comes first.
    newId: randomUUID,
    sleep: async () => {},
    runner: runnerOf({ name: 'puller' }),
  };
}

/** No workbook is written: figures come from the summary, which the audit reads itself. */
async function leaveReports(wave, ids) {
  await wave.db.query(
    `update tieout.reports set state = 'failed', reason = 'not written here'
     where report_id = any ($1::bigint[]) and state = 'queued'`,
    [ids],
  );
}
