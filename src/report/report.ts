// Step 7, report: the next revision of each workbook is queued and written by a worker; the run
// ends with its summary on record. Figures come from the summary that total.ts checked.

import { TakenOverError } from '../core/errors.js';
import type { Notice } from '../core/runs/notices.js';
import { unexplainedNotice } from '../core/runs/statement.js';
import type { RunState, RunSummary } from '../core/runs/summary.js';
import { tellFinished } from '../outbox/writeAlerts.js';
import type { Run } from '../runs/deps.js';
import { TAKEN_OVER } from '../runs/lease.js';
import { finishRun, storeSummary } from '../runs/runsStore.js';
import type { WaitDeps } from '../runs/waitForRows.js';
import { waitForRows } from '../runs/waitForRows.js';
import type { SendDeps } from '../send/deps.js';
import {
  dropQueuedReports,
  failedReports,
  queuedReports,
  queueReports,
  writtenReports,
} from './reportsStore.js';
import { unexplainedOf } from './statementStore.js';

type ReportStepDeps = WaitDeps &
  Pick<SendDeps, 'config' | 'db' | 'log' | 'now' | 'queuePort' | 'runner'>;

const NIGHTLY = ['reconciliation', 'orders'] as const;

export async function report(
  deps: ReportStepDeps,
  run: Run,
  summary: RunSummary,
): Promise<RunSummary> {
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
  const unwritten = await failedReports(deps.db, run.runId);
  const notices = (await unexplainedOf(deps.db, run.runId)).map(unexplainedNotice);
  for (const { accountId, text } of notices) {
    deps.log(`${accountId}: ${text}`, { level: 'error', account: accountId });
  }
  const finished: RunSummary = {
    ...withUnexplained(summary, notices),
    reports: await writtenReports(deps.db, run.runId),
    ...(unwritten.length === 0 ? {} : { unwritten }),
  };
  for (const failed of unwritten) {
    deps.log(`the ${failed.kind} report could not be written: ${failed.reason}`, {
      level: 'error',
    });
  }
  if (!(await endRun(deps, run, finished))) {
    throw new TakenOverError(TAKEN_OVER);
  }
  return finished;
}

/** Money that no line explains is as much as a break: such a night did not tie. */
function withUnexplained(summary: RunSummary, notices: readonly Notice[]): RunSummary {
  if (notices.length === 0) return summary;
  const atLeastBroken = (state: RunState): RunState => (state === 'tied_out' ? 'broken' : state);
  const told = new Set(notices.map(({ accountId }) => accountId));
  return {
    ...summary,
    state: atLeastBroken(summary.state),
    accounts: summary.accounts.map((one) =>
      told.has(one.accountId) ? { ...one, state: atLeastBroken(one.state) } : one,
    ),
    notices: [...(summary.notices ?? []), ...notices],
  };
}

/** The end of the run and the word of it commit together; false: it is another process's run. */
async function endRun(
  deps: Pick<SendDeps, 'config' | 'db' | 'now' | 'runner'>,
  run: Run,
  finished: RunSummary,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const { id } = deps.runner;
    if (!(await finishRun(tx, run.runId, id, finished, deps.now()))) return false;
    await tellFinished(tx, deps.config, finished);
    return true;
  });
}
