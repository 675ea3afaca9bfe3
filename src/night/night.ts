// The night from top to bottom: the one file to read first. Each step loads, decides and records
// over whole sets, may be run twice, and leaves everything it learnt in PostgreSQL; a night that
// stopped half-way goes on from there. What a step does side by side is its own affair.

import { seal, sealEnd } from '../audit/seal.js';
import { compare } from '../compare/compare.js';
import { confirm, judgeAnew, resumeStopped } from '../confirm/confirm.js';
import type { RunSummary } from '../core/runs/summary.js';
import { bookMovements } from '../movements/bookMovements.js';
import { plan } from '../plan/plan.js';
import { pull } from '../pull/pull.js';
import { report } from '../report/report.js';
import { removeOld } from '../retention/removeOld.js';
import type { Run } from '../runs/deps.js';
import { fenced } from '../runs/lease.js';
import type { SendDeps } from '../send/deps.js';
import { recover } from '../send/recoverAttempts.js';
import { send } from '../send/send.js';
import { matchSettlement } from '../settlement/settlement.js';
import { total } from '../total/total.js';

/** Runs every step of one business date; answers the summary of docs/CONTRACT.md section 7. */
export async function runNight(unfenced: SendDeps, unfencedRun: Run): Promise<RunSummary> {
  // Everything up to the end is refused once another process has taken the run over.
  const { deps, run } = fenced(unfenced, unfencedRun);
  await recover(deps, run);
  const snapshot = await pull(deps, run);
  // What is decided from here on can be checked against what was seen.
  await seal(deps, run);
  await compare(deps, run, snapshot);
  const leftOut = await plan(deps, run, snapshot);
  await send(deps, run);
  const second = await confirm(deps, run, snapshot);
  const newest = await resumeStopped(deps, run, snapshot, second);
  await judgeAnew(deps, run, snapshot, newest);
  await bookMovements(deps, run);
  await matchSettlement(deps, run);
  // Outcomes and movements are final, with their links, before they are counted.
  await seal(deps, run);
  const summary = await total(deps, run, leftOut);
  const finished = await report(deps, run, summary);
  // How it ended is sealed too. The run is nobody's any more: the fence would refuse.
  await sealEnd(unfenced, unfencedRun);
  await removeOld(unfenced, finished);
  return finished;
}
