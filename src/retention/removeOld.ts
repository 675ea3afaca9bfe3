// What is older than the merchant wants it kept goes after a run: reports and what was brought on
// the console in any case, what was looked at where the run ended well. It never fails a run.

import { messageOf } from '../core/errors.js';
import type { RunSummary } from '../core/runs/summary.js';
import { removeOldReports } from '../report/oldReports.js';
import type { SendDeps } from '../send/deps.js';
import { youngUploads } from './oldUploads.js';
import { removeOldEvidence } from './retention.js';

export async function removeOld(
  deps: Pick<SendDeps, 'db' | 'config' | 'now' | 'log'>,
  { state }: Pick<RunSummary, 'state'>,
): Promise<void> {
  await removeOldReports(deps).catch((error: unknown) => {
    deps.log(`old reports could not be deleted: ${messageOf(error)}`, { level: 'warn' });
  });
  await youngUploads(deps.config.dataDir, deps.now()).catch((error: unknown) => {
    deps.log(`old uploads could not be deleted: ${messageOf(error)}`, { level: 'warn' });
  });
  if (state !== 'tied_out' && state !== 'broken') return;
  await removeOldEvidence(deps).catch((error: unknown) => {
    deps.log(`old snapshots could not be removed: ${messageOf(error)}`, { level: 'warn' });
  });
}
