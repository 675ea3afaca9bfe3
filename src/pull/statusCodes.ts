// The gateway's status codes as steps of a run keep them: the codes of each snapshot, the codes of
// the answers. A code is never guessed at; it is kept so that a person can give it its meaning.

import { createHash } from 'node:crypto';
import { REFUND_ACCEPTED_CODE } from '../gateway/batches/answers.js';
import type { Run, RunDeps } from '../runs/deps.js';
import type { Snapshot } from './snapshot/snapshotsStore.js';
import { noteAnswerCodes, noteStatusCodes } from './snapshot/statusCodesStore.js';

type CodeDeps = Pick<RunDeps, 'config' | 'now'>;

/** Keeps the codes that a snapshot showed. A second snapshot adds what the first did not show. */
export async function noteSnapshotCodes(
  deps: CodeDeps,
  run: Run,
  snapshot: Snapshot,
): Promise<void> {
  const { recurring } = deps.config.gateway.profile.statuses;
  const profile = { sha256: profileDigest(deps), recurring };
  await noteStatusCodes(run.db, run.runId, snapshot, profile, deps.now());
}

/** Keeps the codes of the answers to what the run sent. */
export async function noteAnswers(deps: CodeDeps, run: Run): Promise<void> {
  await noteAnswerCodes(run.db, run.runId, profileDigest(deps), deps.now(), {
    status: deps.config.gateway.profile.results.accepted,
    refundMessage: [REFUND_ACCEPTED_CODE],
  });
}

function profileDigest(deps: CodeDeps): string {
  return createHash('sha256').update(deps.config.gateway.profileText).digest('hex');
}
