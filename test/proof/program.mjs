// The built program under test, loaded from a folder: the checkout itself, or a copy of it in which
// a defect was planted. Everything of tieout that the campaign and the simulator use comes in here.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const CHECKOUT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

const MODULES = {
  attempts: 'src/store/attempts.js',
  begin: 'src/night/begin.js',
  brake: 'src/night/brake.js',
  client: 'src/gateway/client.js',
  compose: 'src/compose.js',
  config: 'src/config.js',
  db: 'src/store/db.js',
  decisions: 'src/night/decisions.js',
  embedded: 'src/store/embedded.js',
  errors: 'src/core/errors.js',
  gatewayCall: 'src/cli/gatewayCall.js',
  gatewayJournal: 'src/cli/gatewayJournal.js',
  journalGuard: 'src/night/journalGuard.js',
  migrate: 'src/store/migrate.js',
  night: 'src/night/night.js',
  permitJournal: 'src/store/permitJournal.js',
  profile: 'src/gateway/profile.js',
  pullChunk: 'src/night/pullChunk.js',
  query: 'src/gateway/query.js',
  queues: 'jobs/queues.js',
  run: 'src/night/run.js',
  sendBatch: 'src/night/sendBatch.js',
  sign: 'src/gateway/sign.js',
  worker: 'jobs/worker.js',
};

/** `root` holds dist/, migrations/ and the statements, as a checkout does. */
export async function loadProgram(root = CHECKOUT, modules = MODULES) {
  const entries = Object.entries(modules).map(async ([name, path]) => {
    return [name, await import(pathToFileURL(join(root, 'dist', path)).href)];
  });
  return Object.fromEntries(await Promise.all(entries));
}
