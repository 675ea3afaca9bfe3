// What is behind a failed job, as PostgreSQL says: still to be done, done, or a person's to decide.
// `tieout jobs retry` asks this and never repeats a job as it was (a red job may have moved money).

import { mayAccountSend } from '../core/instructions/breaker.js';
import type { QueueName, Reevaluation } from '../core/queuePort.js';
import { chunkStatus } from '../pull/snapshot/snapshotsStore.js';
import { loadReport, queueReports } from '../report/reportsStore.js';
import { loadBatch } from '../send/batches/batchesStore.js';
import { sendingStatuses } from '../send/batches/sendingStatusStore.js';
import type { SendDeps } from '../send/deps.js';

type ReevaluateDeps = Pick<SendDeps, 'config' | 'db'>;

export async function reevaluate(
  deps: ReevaluateDeps,
  queue: QueueName,
  id: string,
): Promise<Reevaluation> {
  if (!/^\d{1,18}$/.test(id)) return { kind: 'done', words: `${id} names nothing of ours` };
  switch (queue) {
    case 'pull':
      return chunk(deps, BigInt(id));
    case 'report':
      return report(deps, BigInt(id));
    default:
      return batch(deps, BigInt(id));
  }
}

function over(words: string): Reevaluation {
  return { kind: 'done', words, isOver: true };
}

async function chunk(deps: Pick<SendDeps, 'db'>, chunkId: bigint): Promise<Reevaluation> {
  const found = await chunkStatus(deps.db, chunkId);
  if (!found) return over('the pages it named are gone');
  if (found.isDone) return over('its pages were asked since');
  if (found.isRunning) return { kind: 'enqueue', words: 'its pages are still to be asked' };
  if (found.isPulledAgain) return over('its orders were checked since');
  return {
    kind: 'done',
    words: `its run has ended; \`tieout run --date ${found.businessDate}\` looks again`,
  };
}

async function report(deps: Pick<SendDeps, 'db'>, reportId: bigint): Promise<Reevaluation> {
  const found = await loadReport(deps.db, reportId);
  if (!found) return over('the report it named is gone');
  if (found.state === 'written') return over('the report was written since');
  if (found.state === 'queued')
    return { kind: 'enqueue', words: 'the report is still to be written' };
  if (found.isReplaced) return over('its next revision was written since');
  return { kind: 'enqueue', words: 'it could not be written: a retry writes the next revision' };
}

/**
 * What a retry enqueues instead of the job as it was. A report that could not be written stays on
 * record as that; what is written is its next revision.
 */
export async function renewed(
  deps: Pick<SendDeps, 'db'>,
  queue: QueueName,
  id: string,
): Promise<string> {
  if (queue !== 'report') return id;
  return deps.db.transaction(async (tx) => {
    const found = await loadReport(tx, BigInt(id));
    if (found?.state !== 'failed') return id;
    const { runId, kind, period } = found;
    const [next] = await queueReports(tx, runId, [kind], new Date(), period);
    return next === undefined ? id : String(next);
  });
}

async function batch(deps: ReevaluateDeps, batchId: bigint): Promise<Reevaluation> {
  const found = await loadBatch(deps.db, batchId);
  if (!found) return over('the batch it named is gone');
  const what = `batch ${batchId} (${found.operation})`;
  switch (found.state) {
    case 'queued':
      return { kind: 'enqueue', words: await queuedWords(deps, what, found.accountId) };
    case 'sending':
      return {
        kind: 'hold',
        words: `${what} is being sent, or its sender died: the next run settles it by looking`,
      };
    case 'unanswered':
      return {
        kind: 'done',
        words: `${what} got no answer: its instructions are unknown and never sent by a retry`,
      };
    default:
      return over(`${what} is ${found.state}: nothing is left to send`);
  }
}

/** A call changes nothing while the account is stopped: whoever retries is told by what. */
async function queuedWords(
  { config, db }: ReevaluateDeps,
  what: string,
  accountId: string,
): Promise<string> {
  const [status] = await sendingStatuses(db, [accountId]);
  const answer = status === undefined ? null : mayAccountSend(status, config.accounts);
  return answer?.kind === 'stop'
    ? `${what} was not sent, and is not yet: ${answer.reason}`
    : `${what} was not sent; it is weighed again before it is`;
}
