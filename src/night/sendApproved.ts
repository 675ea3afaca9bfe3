// `tieout send` without the command line: what people approved since the run goes out, each batch
// after a fresh snapshot, and is looked at again right afterwards. Verdicts, breaks and figures
// stay those of the run, and the next one counts what was settled here; its business day has it at
// once.

import { UsageError } from '../core/errors.js';
import { differsFrom } from '../instructions/changedSettings.js';
import type { SentInstruction } from '../instructions/instructionsStore.js';
import {
  approvedIn,
  approvedUnderWay,
  cutApproved,
  sentInstructions,
  settleBySnapshot,
} from '../instructions/instructionsStore.js';
import { bookConfirmed } from '../movements/bookMovements.js';
import { pullDirectly } from '../pull/pull.js';
import { askSecondSnapshot } from '../pull/pullAgain.js';
import type { ChunkDeps } from '../pull/pullChunk.js';
import { otherEnvironment } from '../runs/environment.js';
import { newestRunId } from '../runs/runsStore.js';
import type { WaitDeps } from '../runs/waitForRows.js';
import { waitForRows } from '../runs/waitForRows.js';
import { openAmong, retryApproved, waitingWith } from '../send/batches/batchesStore.js';
import { sendingStatuses } from '../send/batches/sendingStatusStore.js';
import type { SendDeps } from '../send/deps.js';
import type { EnqueueDeps } from '../send/enqueueWaiting.js';
import { BATCH_TRIES_MAX, enqueueBatches, openWith } from '../send/enqueueWaiting.js';
import { holdUps } from '../send/journal/senderFitness.js';
import { liftBreaker } from '../send/liftBreaker.js';
import type { RecoverDeps } from '../send/recoverAttempts.js';
import { recoverAttempts } from '../send/recoverAttempts.js';
import type { Workforce } from './run.js';

type ApprovedDeps = ChunkDeps &
  RecoverDeps &
  EnqueueDeps &
  WaitDeps &
  Pick<SendDeps, 'fitness' | 'journal'>;

/**
 * Answers what became of every instruction that waited with an approval, and of those that an
 * earlier call left on their way, or accepted and not looked at.
 */
export async function sendApproved(
  deps: ApprovedDeps,
  accountIds: readonly string[],
  workforce: Workforce,
): Promise<SentInstruction[]> {
  // A host that others wait for has said what it knows with this, whether or not it has to send.
  await deps.journal.keep();
  const underWay = await approvedUnderWay(deps.db, accountIds);
  let left = await recoverAttempts(deps, accountIds);
  const loose = await approvedIn(deps.db, accountIds, 'planned');
  if (loose.length > 0) await cutApproved(deps.db, loose, deps.now());
  await retryApproved(deps.db, accountIds);
  const approved = [...underWay, ...(await approvedIn(deps.db, accountIds, 'queued'))];
  if (approved.length === 0) return [];
  await assertEnvironment(deps, accountIds);
  const waiting = await sentInstructions(deps.db, approved);
  await assertSameMeaning(deps, waiting);
  assertNoneOff(deps, waiting);
  await workforce.start();
  try {
    const isHeldUp = holdUps(deps);
    const done = await waitForRows(deps, {
      step: 'send',
      // By instruction, since a canary leaves its batch to the others.
      open: async () => {
        if (await isHeldUp()) return 0;
        return openWith(deps, { accountIds, left }, (going) =>
          openAmong(deps.db, approved, { going, left }, BATCH_TRIES_MAX),
        );
      },
      enqueue: async () => {
        left = await recoverAttempts(deps, accountIds);
        await enqueueBatches(deps, await waitingWith(deps.db, approved, BATCH_TRIES_MAX));
      },
    });
    if (!done) deps.log('not every batch came to an end; those left wait for the next run');
    await pullAfterwards(deps, await sentInstructions(deps.db, approved), accountIds);
    await liftBreaker(deps, accountIds);
  } finally {
    await workforce.stop();
  }
  return sentInstructions(deps.db, approved);
}

/** Else it would wait for workers that send nothing. */
async function assertEnvironment(
  deps: Pick<SendDeps, 'config' | 'db'>,
  accountIds: readonly string[],
): Promise<void> {
  for (const { environment } of await sendingStatuses(deps.db, accountIds)) {
    const mismatch = otherEnvironment(deps.config, environment);
    if (mismatch !== null) throw new UsageError(`nothing is sent: ${mismatch}`);
  }
}

/** What was sent would be settled by what an answer means here, and not to whoever planned it. */
async function assertSameMeaning(
  deps: Pick<SendDeps, 'config' | 'db'>,
  approved: readonly SentInstruction[],
): Promise<void> {
  for (const accountId of new Set(approved.map((one) => one.accountId))) {
    const { looksOther } = await differsFrom(deps, deps.db, accountId);
    if (looksOther === null) continue;
    throw new UsageError(
      `nothing is sent: the settings here are not those by which account ${accountId} was ` +
        `planned last (${looksOther}). Give this host the settings of the last night, or leave ` +
        'it to the next one',
    );
  }
}

/** Its workers leave it to others, for which this would wait. */
function assertNoneOff(
  { config }: Pick<SendDeps, 'config'>,
  approved: readonly SentInstruction[],
): void {
  const off = approved.find(
    ({ operation, state }) => state === 'queued' && config.operations.mode[operation] === 'off',
  );
  if (off === undefined) return;
  throw new UsageError(
    `nothing is sent: operations.${off.operation} is off in the settings here, and instruction ` +
      `${off.instructionId} is approved. Give this host settings in which it is not off, reject ` +
      'it, or leave it to the next night',
  );
}

const WAS_SENT: ReadonlySet<string> = new Set(['accepted', 'rejected', 'unknown']);

/**
 * Accepted and shown becomes confirmed now, and stands in its business day; which run counts it,
 * the next one says.
 */
async function pullAfterwards(
  deps: ApprovedDeps,
  sent: readonly SentInstruction[],
  accountIds: readonly string[],
): Promise<void> {
  const ids = sent
    .filter(({ state, operation }) => WAS_SENT.has(state) && operation !== 'payout')
    .map((one) => one.instructionId);
  const runId = await newestRunId(deps.db);
  if (ids.length > 0 && runId !== null) {
    const pull = await askSecondSnapshot(deps, runId, 'fresh', ids);
    await pullDirectly(deps, pull);
    await settleBySnapshot(deps.db, null, pull.pullId, deps.now());
  }
  await bookConfirmed(deps, accountIds);
}
