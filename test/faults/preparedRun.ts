// A night brought to the moment before anything is sent: looked, compared, planned, cut into
// batches, by the very steps of the program. For tests of the sending of one batch.

import { compare } from '../../src/compare/compare.js';
import { cutBatches } from '../../src/instructions/instructionsStore.js';
import { beginRun } from '../../src/night/begin.js';
import { plan } from '../../src/plan/plan.js';
import { pull } from '../../src/pull/pull.js';
import type { Run } from '../../src/runs/deps.js';
import type { SendDeps } from '../../src/send/deps.js';
import type { House } from '../support/night.js';

export interface Prepared {
  deps: SendDeps;
  night: Run;
  batchIds: bigint[];
}

/** As though the process that prepared the night had died: the next run takes it over. */
export async function forgetRunner(house: House): Promise<void> {
  await house.db.query(`update tieout.runs set runner_boot = 'another boot'`);
}

/** `isOpen`: as though the canary of each account had been answered, so that whole batches go. */
export async function prepareRun(house: House, { isOpen = true } = {}): Promise<Prepared> {
  const app = await house.open();
  const deps = await app.sendDeps();
  const request = { date: null, accountIds: [], isDry: false };
  const beginning = await beginRun(deps, request);
  if (beginning.kind !== 'mine') throw new Error(`the run is not ours but ${beginning.kind}`);
  const { run: night } = beginning;
  const workforce = await app.workforce();
  await workforce.start();
  try {
    const look = await pull(deps, night);
    await compare(deps, night, look);
    await plan(deps, night, look);
  } finally {
    await workforce.stop();
  }
  const accountIds = night.accounts.map((account) => account.accountId);
  await cutBatches(house.db, accountIds, deps.now());
  if (isOpen) await openAccounts(house);
  const { rows } = await house.db.query<{ batch_id: bigint }>(
    `select batch_id from tieout.batches where state = 'queued' order by batch_id`,
  );
  return { deps, night, batchIds: rows.map((row) => row.batch_id) };
}

async function openAccounts({ db }: House): Promise<void> {
  await db.query(
    `update tieout.run_accounts ra set sending = 'canary', canary_batch_id = (
       select min(batch_id) from tieout.batches b where b.account_id = ra.account_id)
     where exists (select from tieout.batches b where b.account_id = ra.account_id)`,
  );
  await db.query(
    `update tieout.run_accounts set sending = 'open', canary_batch_id = null
     where sending = 'canary'`,
  );
}
