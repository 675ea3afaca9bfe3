// Nothing begins in a live installation that would do what nobody may do unasked (config/live.ts):
// asked before anything is opened, since a password would travel by then, and once more when the
// database has said what role it is.

import type { Config } from '../config/config.js';
import { liveRisks } from '../config/live.js';
import { ConfigurationError } from '../core/errors.js';
import { isSuperuser } from '../database/server/serverFacts.js';
import type { App } from './app.js';

/** Throws a ConfigurationError for the first risk that no exception names. */
export function refuseRisks(config: Config, mayAnything = false): void {
  const risk = liveRisks(config, mayAnything).find(({ excepted }) => excepted === null);
  if (risk === undefined) return;
  throw new ConfigurationError(
    config.file,
    risk.key,
    `${risk.words}. Where environment is live nothing begins so, unless the file says why: ` +
      `exceptions: { ${risk.name}: "REASON" } (\`tieout doctor\` names all of them)`,
  );
}

/** The same of the role that the database knows us as. */
export async function refuseSuperuser({ config, db }: App): Promise<void> {
  if (config.environment === 'live') refuseRisks(config, await isSuperuser(db));
}
