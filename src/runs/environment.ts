// Is this process of the environment of the run? Workers share the database, and one may have been
// given it by mistake. Asked before a snapshot, before a send, and inside its claim.

import type { RunDeps } from './deps.js';

/** Its gateway is not the one that the run asks: what it answers there says nothing of ours. */
export function otherEnvironment(
  { environment }: RunDeps['config'],
  ofRun: string | null,
): string | null {
  if (ofRun === null || ofRun === environment) return null;
  return `environment is ${environment} in this process, and ${ofRun} in the run`;
}
