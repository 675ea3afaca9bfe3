// What is enqueued: pages of a snapshot, which several workers of one kind fetch at a time,
// batches, which go to the senders of their schedules, and reports, of which few are written here.

import { randomUUID } from 'node:crypto';
import { fillPaper } from './morning.mjs';
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

/** Figures come from the summary, which the audit reads itself; few workbooks find a reader. */
async function leaveReports(wave, ids) {
  if (wave.draws.has('workbooks come back') && !wave.isQuiet) await writeWorkbook(wave, ids);
  await wave.db.query(
    `update tieout.reports set state = 'failed', reason = 'not written here'
     where report_id = any ($1::bigint[]) and state = 'queued'`,
    [ids],
  );
}

async function writeWorkbook(wave, ids) {
  const { db, program, base } = wave;
  const { rows } = await db.query(
    `select report_id from tieout.reports where report_id = any ($1::bigint[])
       and state = 'queued' and kind = 'reconciliation' order by report_id limit 1`,
    [ids],
  );
  for (const { report_id } of rows) {
    await program.writeReport.writeReport({ ...base, localTicks: async () => [] }, report_id);
    const { rows: written } = await db.query(
      'select path from tieout.reports where report_id = $1 and path is not null',
      [report_id],
    );
    for (const { path } of written) await fillPaper(wave, path);
  }
}
