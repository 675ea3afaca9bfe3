// The settings of the merchant as plan and claim ask them: today's, and those of a run as they were
// kept with it. Worked out once for a configuration, since every claim asks.

import type { Config } from '../config/config.js';
import type { DescribedConfig } from '../config/view.js';
import { configHash, describeConfig } from '../config/view.js';
import type { Policy } from '../core/instructions/policy.js';
import { policiesOf } from '../core/instructions/policy.js';
import type { Db } from '../database/db.js';
import type { RunDeps } from '../runs/deps.js';
import { recordedOperations } from '../runs/runsStore.js';

interface OwnPolicies {
  sha256: string;
  policies: readonly Policy[];
  /** All of them, as they are kept with a run. */
  settings: DescribedConfig;
}

const known = new WeakMap<Config, OwnPolicies>();

export function ownPolicies({ config }: Pick<RunDeps, 'config'>): OwnPolicies {
  const found = known.get(config);
  if (found) return found;
  const settings = describeConfig(config);
  const own = {
    sha256: configHash(config),
    policies: policiesOf(settings.operations),
    settings,
  };
  known.set(config, own);
  return own;
}

/** The policies of an account's newest run, mostly those of this very process. */
export async function policiesOfRun(
  deps: Pick<RunDeps, 'config'>,
  db: Db,
  run: { runId: bigint; settingsSha256: string | null },
): Promise<readonly Policy[]> {
  const own = ownPolicies(deps);
  if (run.settingsSha256 === own.sha256) return own.policies;
  const kept = await recordedOperations(db, run.runId);
  return kept === null ? own.policies : policiesOf(kept);
}
