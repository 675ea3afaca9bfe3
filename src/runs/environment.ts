// Is this process of the environment of the run? Workers share the database, and one may have been
// given it by mistake. Asked before a snapshot, before a send, inside its claim, and before what a
// person decides.

import type { Db } from '../database/db.js';
import type { RunDeps } from './deps.js';
import { newestEnvironment } from './runsStore.js';

type Here = Pick<RunDeps['config'], 'environment'>;

/** Its gateway is not the one that the run asks: what it answers there says nothing of ours. */
export function otherEnvironment({ environment }: Here, ofRun: string | null): string | null {
  if (ofRun === null || ofRun === environment) return null;
  return `environment is ${environment} in this process, and ${ofRun} in the run`;
}

/**
 * Why nothing is decided here, in words; null: it may be. Who decides by another configuration
 * believes to be elsewhere than where the decision counts.
 */
export async function whyDecidedElsewhere(db: Db, { environment }: Here): Promise<string | null> {
  const ofRun = await newestEnvironment(db);
  if (ofRun === null || ofRun === environment) return null;
  return (
    `environment is ${environment} in this configuration, and ${ofRun} in the newest run of this ` +
    `database: decide by the configuration of ${ofRun}; where it is ${environment} by now on ` +
    'purpose, a run comes first'
  );
}
