// Is this process of the environment of the run, and does it take answers to mean the same? Workers
// share the database, and one may have been given it by mistake, or an older file. Asked before a
// snapshot, before a send, inside its claim, and before what a person decides.

import { profileDigest } from '../config/view.js';
import type { Db } from '../database/db.js';
import type { RunDeps } from './deps.js';
import type { ChunkReading } from './runsStore.js';
import { newestEnvironment } from './runsStore.js';

type Here = Pick<RunDeps['config'], 'environment'>;

/** Its gateway is not the one that the run asks: what it answers there says nothing of ours. */
export function otherEnvironment({ environment }: Here, ofRun: string | null): string | null {
  if (ofRun === null || ofRun === environment) return null;
  return `environment is ${environment} in this process, and ${ofRun} in the run`;
}

/**
 * Why the pages of an account are left to other workers; null: they are not. What a process takes
 * the gateway's codes to mean is kept with the answers, and believed by everybody.
 */
export function otherReading(
  config: Pick<RunDeps['config'], 'environment' | 'gateway' | 'accounts'>,
  { environment, accountId, profileSha256, merchantId }: ChunkReading,
): string | null {
  const mismatch = otherEnvironment(config, environment);
  if (mismatch !== null) return mismatch;
  if (profileSha256 !== null && profileSha256 !== profileDigest(config)) {
    return 'the gateway profile of this process is another one than that of the run';
  }
  const own = config.accounts.find((account) => account.accountId === accountId);
  if (own === undefined) return noAccountHere(accountId);
  if (merchantId === null || merchantId === own.merchantId) return null;
  return `account ${accountId} is of merchant ${own.merchantId} here, ${merchantId} in the run`;
}

/** It was added since this process began, or stands in the file of another host alone. */
export function noAccountHere(accountId: string): string {
  return `account ${accountId} is not in the configuration of this process`;
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
