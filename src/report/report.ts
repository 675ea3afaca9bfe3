// Step 7, report: the next revision of each workbook is queued and written by a worker; the run
// ends with its summary on record. Figures come from the summary that total.ts checked.

import { TakenOverError } from '../core/errors.js';
import { unexplainedNotices, withUnexplained } from '../core/runs/statement.js';
import type { RunSummary } from '../core/runs/summary.js';
import { tellFinished } from '../outbox/writeAlerts.js';
import type { Run } from '../runs/deps.js';
import { TAKEN_OVER } from '../runs/lease.js';
import { breakAccounts } from '../runs/runAccountsStore.js';
import { finishRun, storeSummary } from '../runs/runsStore.js';
import type { WaitDeps } from '../runs/waitForRows.js';
import { waitForRows } from '../runs/waitForRows.js';
import type { SendDeps } from '../send/deps.js';
import {
  dropQueuedReports,
  failedReports,
  giveUpReports,
  lostReports,
  queuedReports,
  queueReports,
  writtenReports,
} from './reportsStore.js';
import { leftOvers } from './statementStore.js';

type ReportStepDeps = WaitDeps &
  Pick<SendDeps, 'config' | 'db' | 'log' | 'now' | 'queuePort' | 'runner'>;

const NIGHTLY = ['reconciliation', 'orders'] as const;

export async function report(
  deps: ReportStepDeps,
  run: Run,
  summary: RunSummary,
): Promise<RunSummary> {
  await writeWorkbooks(deps, run, summary);
  const notices = unexplainedNotices(await leftOvers(deps.db, run.runId));
  for (const { accountId, text } of notices) {
    deps.log(`${accountId}: ${text}`, { level: 'error', account: accountId });
  }
  const told = withUnexplained(summary, notices);
  // Once more, since the manifest of a workbook holds the digest of the figures on record.
  if (notices.length > 0) await writeWorkbooks(deps, run, told);
  const unwritten = await failedReports(deps.db, run.runId);
  const finished: RunSummary = {
    ...told,
    reports: await writtenReports(deps.db, run.runId),
    ...(unwritten.length === 0 ? {} : { unwritten }),
  };
  for (const failed of unwritten) {
    deps.log(`the ${failed.kind} report could not be written: ${failed.reason}`, {
      level: 'error',
    });
  }
  const unexplained = notices.map(({ accountId }) => accountId);
  if (!(await endRun(deps, run, finished, unexplained))) {
    throw new TakenOverError(TAKEN_OVER);
  }
  return finished;
}

/** Workers write the next revision of each, by the summary that is on record. */
async function writeWorkbooks(deps: ReportStepDeps, run: Run, summary: RunSummary): Promise<void> {
  await storeSummary(deps.db, run.runId, summary);
  await dropQueuedReports(deps.db, run.runId);
  await queueReports(deps.db, run.runId, NIGHTLY, deps.now());
  await waitForRows(deps, {
    step: 'report',
    open: async () => (await queuedReports(deps.db, run.runId)).length,
    enqueue: async () => {
      const ids = await queuedReports(deps.db, run.runId);
      if (ids.length > 0) await deps.queuePort.enqueue('report', ids.map(String));
    },
  });
}

/** The end of the run and the word of it commit together; false: it is another process's run. */
async function endRun(
  deps: Pick<SendDeps, 'config' | 'db' | 'now' | 'runner'>,
  run: Run,
  finished: RunSummary,
  unexplained: readonly string[],
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const { id } = deps.runner;
    if (!(await finishRun(tx, run.runId, id, finished, deps.now()))) return false;
    await breakAccounts(tx, run.runId, unexplained);
    await tellFinished(tx, deps.config, finished);
    return true;
  });
}

/** What people asked for between the nights, and whose job is gone; workers ask now and then. */
export async function enqueueLostReports(
  deps: Pick<SendDeps, 'db' | 'log' | 'queuePort'>,
): Promise<void> {
  for (const id of await giveUpReports(deps.db)) {
    const words = `report ${id} was not written within a day, and is given up: ask for it again`;
    deps.log(words, { level: 'warn' });
  }
  const lost = await lostReports(deps.db);
  if (lost.length > 0) await deps.queuePort.enqueue('report', lost.map(String));
}
