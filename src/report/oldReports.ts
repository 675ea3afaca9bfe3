// Reports older than reports.keepDays lose their file; the record of them stays, since its digest
// is part of the chain. It must never delete a file that tieout did not make: only one that lies in
// the folder of reports and still has the recorded digest.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, realpath, unlink } from 'node:fs/promises';
import { sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DAY_MS } from '../core/time.js';
import type { SendDeps } from '../send/deps.js';
import type { OldReport, Removal } from './keptReportsStore.js';
import { oldReports, recordRemoval } from './keptReportsStore.js';

/** The rest waits for the next run. */
const REMOVED_MAX = 1_000;

export async function removeOldReports(
  deps: Pick<SendDeps, 'db' | 'config' | 'now' | 'log'>,
): Promise<number> {
  const { keepDays, dir } = deps.config.reports;
  const before = new Date(deps.now().getTime() - keepDays * DAY_MS);
  let removed = 0;
  for (const report of await oldReports(deps.db, before, REMOVED_MAX)) {
    const finding = await removeFile(dir, report);
    await recordRemoval(deps.db, report.reportId, finding, deps.now());
    if (finding === 'deleted') removed += 1;
    if (finding === 'not_ours') deps.log(`kept ${report.path}: it is not the file that was made`);
  }
  if (removed > 0) deps.log(`deleted ${removed} reports older than ${keepDays} days`);
  return removed;
}

async function removeFile(dir: string, { path, sha256 }: OldReport): Promise<Removal> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return 'was_gone';
  const [folder, real] = await Promise.all([realpath(dir), realpath(path)]);
  const isInside = real.startsWith(folder + sep);
  if (!found.isFile() || !isInside || (await fileDigest(real)) !== sha256) return 'not_ours';
  await unlink(real);
  return 'deleted';
}

/** The digest of a file, read as a stream. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
