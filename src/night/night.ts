// The night from top to bottom: the one file to read first. Each step loads, decides and records
// over whole sets, may be run twice, and leaves everything it learnt in PostgreSQL; a night that
// stopped half-way goes on from there. What a step does side by side is its own affair.

import { seal, sealEnd } from '../audit/seal.js';
import { compare } from '../compare/compare.js';
import { confirm } from '../confirm/confirm.js';
import type { RunSummary } from '../core/runs/summary.js';
import { plan } from '../plan/plan.js';
import { pull } from '../pull/pull.js';
import { report } from '../report/report.js';
import { removeOld } from '../retention/removeOld.js';
import type { Night } from '../runs/deps.js';
import { fenced } from '../runs/holding.js';
import type { SendDeps } from '../send/deps.js';
import { recover } from '../send/recover.js';
import { send } from '../send/send.js';
import { total } from '../total/total.js';

/** Runs every step of one business date; answers the summary of docs/CONTRACT.md section 7. */
export async function runNight(open: SendDeps, mine: Night): Promise<RunSummary> {
  const { deps, night } = fenced(open, mine);
  await recover(deps, night);
  const snapshot = await pull(deps, night);
  await seal(deps, night);
  await compare(deps, night, snapshot);
  await plan(deps, night, snapshot);
  await send(deps, night);
  await confirm(deps, night, snapshot);
  await seal(deps, night);
  const summary = await total(deps, night);
  const finished = await report(deps, night, summary);
  // The run has ended, and is nobody's any more.
  await sealEnd(open, mine);
  await removeOld(open, finished);
  return finished;
}
