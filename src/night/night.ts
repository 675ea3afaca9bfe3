// The night from top to bottom: the one file to read first. Each step loads, decides and records
// over whole sets, may be run twice, and leaves everything it learnt in PostgreSQL; a night that
// stopped half-way goes on from there.

import { seal, sealEnd } from '../audit/seal.js';
import { compareAgain, compareNight, settleNight } from '../compare/compare.js';
import { confirm, judgeAnew } from '../confirm/confirm.js';
import { messageOf } from '../core/errors.js';
import { BEGIN_AGAIN_MAX } from '../core/instructions/sending.js';
import type { RunSummary } from '../core/runs/summary.js';
import { plan } from '../plan/plan.js';
import { pullNight } from '../pull/pull.js';
import type { PullRow } from '../pull/rows/pullsStore.js';
import { noteLookWords } from '../pull/statusCodes.js';
import { removeOldReports } from '../report/oldReports.js';
import { report } from '../report/report.js';
import { removeOldEvidence } from '../retention/retention.js';
import { concurrently } from '../runs/concurrently.js';
import type { Night } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import { fenced } from '../runs/holding.js';
import { beginAgain } from '../send/beginAgain.js';
import type { SendDeps } from '../send/deps.js';
import { recover } from '../send/recover.js';
import { send } from '../send/send.js';
import type { Looked } from '../total/total.js';
import { countLooks, total } from '../total/total.js';

/** Runs every step of one business date; answers the summary of docs/CONTRACT.md section 7. */
export async function runNight(open: SendDeps, mine: Night): Promise<RunSummary> {
  const { deps, night } = fenced(open, mine);
  await recover(deps, night);
  const pull = await pullNight(deps, night);
  // What was looked at changes no more, so that it can be sealed and counted meanwhile.
  const sealed = seal(deps, night);
  const looked = await concurrently(
    judgeAndSend(deps, night, pull, sealed),
    sealed.then(() => countLook(deps, night, pull)),
  );
  // Most of what sending left is on record by now: little is left to seal after it is confirmed.
  const second = await concurrently(seal(deps, night), confirmAll(deps, night, pull));
  const summary = await concurrently(seal(deps, night), addUp(deps, night, pull, second, looked));
  const finished = await report(deps, night, summary);
  open.allEnqueued?.();
  // The run has ended, and is nobody's any more.
  await sealEnd(open, mine);
  await letGo(open, finished);
  return finished;
}

/** What is older than the retention goes after a night that ended well, and never fails it. */
async function letGo(deps: SendDeps, { state }: RunSummary): Promise<void> {
  await removeOldReports(deps).catch((error: unknown) => {
    deps.log(`old reports could not be deleted: ${messageOf(error)}`, { level: 'warn' });
  });
  if (state !== 'tied_out' && state !== 'broken') return;
  await removeOldEvidence(deps).catch((error: unknown) => {
    deps.log(`old looks could not be removed: ${messageOf(error)}`, { level: 'warn' });
  });
}

/** Before anything is sent by it, a look is sealed. */
async function judgeAndSend(
  deps: SendDeps,
  night: Night,
  pull: PullRow,
  sealed: Promise<void>,
): Promise<void> {
  await judge(deps, night, pull);
  await sealed;
  await send(deps, night);
}

/**
 * Looks at what was sent. Where that lets an account go that its breaker had stopped, what waits of
 * it is sent and looked at in turn, so often and no more.
 */
async function confirmAll(deps: SendDeps, night: Night, first: PullRow): Promise<PullRow | null> {
  let second = await confirm(deps, night, first);
  for (let round = 0; round < BEGIN_AGAIN_MAX && second !== null; round += 1) {
    const again = await beginAgain(deps, accountIdsOf(night));
    if (again.length === 0) break;
    await compareAgain(deps, night, first, second);
    await send(deps, night);
    second = await confirm(deps, night, second);
  }
  return second;
}

async function countLook(deps: SendDeps, night: Night, pull: PullRow): Promise<Looked> {
  await noteLookWords(deps, night, pull);
  return countLooks(deps.db, night.runId);
}

async function addUp(
  deps: SendDeps,
  night: Night,
  first: PullRow,
  second: PullRow | null,
  looked: Looked,
): Promise<RunSummary> {
  await judgeAnew(deps, night, first, second);
  return total(deps, night, looked);
}

export async function judge(deps: SendDeps, night: Night, pull: PullRow): Promise<void> {
  await settleNight(deps, night, pull);
  if (!night.isDry) await beginAgain({ ...deps, db: night.db }, accountIdsOf(night));
  await compareNight(deps, night, pull);
  await plan(deps, night, pull);
}
