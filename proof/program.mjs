// The built program under test, loaded from a folder: the checkout itself, or a copy of it in which
// a defect was planted. Everything of tieout that the campaign and the simulator use comes in here.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const CHECKOUT = new URL('..', import.meta.url).pathname.replace(/\/$/, '');

const MODULES = {
  archive: 'reports/xlsx/read/archive.js',
  attempts: 'src/send/batches/attemptsStore.js',
  backup: 'src/backup/backupStore.js',
  backupFiles: 'src/backup/backupFiles.js',
  begin: 'src/night/begin.js',
  brake: 'src/brake/brake.js',
  breaks: 'src/breaks/breaksStore.js',
  client: 'src/gateway/client.js',
  payments: 'src/gateway/payments/paymentClient.js',
  compose: 'src/app/compose.js',
  config: 'src/config/config.js',
  days: 'src/days/days.js',
  db: 'src/database/db.js',
  decide: 'src/decide/decideWorkbook.js',
  decideBreaks: 'src/breaks/decideBreaks.js',
  decisions: 'src/instructions/decisions.js',
  embedded: 'src/database/embedded/embedded.js',
  errors: 'src/core/errors.js',
  gatewayCall: 'src/cli/gateway/gatewayCall.js',
  gatewayJournal: 'src/cli/gateway/gatewayJournal.js',
  journalGuard: 'src/send/journal/journalGuard.js',
  migrate: 'src/database/migrate.js',
  night: 'src/night/night.js',
  permitJournal: 'src/send/journal/permitJournal.js',
  profile: 'src/gateway/document/profile.js',
  pullChunk: 'src/pull/pullChunk.js',
  query: 'src/gateway/query/query.js',
  queues: 'jobs/queues.js',
  reach: 'src/processes/ownReach.js',
  restore: 'src/backup/restoreStore.js',
  run: 'src/night/run.js',
  sendApproved: 'src/night/sendApproved.js',
  sendBatch: 'src/send/sendBatch.js',
  sequences: 'src/database/server/sequencesStore.js',
  sign: 'src/gateway/wire/sign.js',
  worker: 'jobs/worker.js',
  writeReport: 'src/report/writeReport.js',
  zip: 'reports/xlsx/format/zip.js',
};

/** `root` holds dist/, migrations/ and the statements, as a checkout does. */
export async function loadProgram(root = CHECKOUT, modules = MODULES) {
  const entries = Object.entries(modules).map(async ([name, path]) => {
    return [name, await import(pathToFileURL(join(root, 'dist', path)).href)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Of all that decides what a schedule does: the modules that are loaded, with all that they load, the
 * statements, the schedules' own code, what is chosen. A page of the console is no part of it.
 */
export function digestOf(root, chosen) {
  const hash = createHash('sha256').update(JSON.stringify(chosen));
  for (const file of loadedFrom(join(root, 'dist'))) {
    hash.update(file).update(readFileSync(join(root, 'dist', file)));
  }
  for (const [folder, end] of [
    [join(root, 'src'), '.sql'],
    [join(root, 'migrations'), '.sql'],
    [join(CHECKOUT, 'proof'), '.mjs'],
  ]) {
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(end));
    for (const name of names.sort()) hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

const IMPORTED = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Files of the folder that the modules load, directly or not, also where only some run loads them. */
export function loadedFrom(dist, modules = MODULES) {
  const files = new Set(Object.values(modules));
  for (const file of files) {
    for (const [, path] of readFileSync(join(dist, file), 'utf8').matchAll(IMPORTED)) {
      files.add(join(dirname(file), path));
    }
  }
  return [...files].sort();
}
