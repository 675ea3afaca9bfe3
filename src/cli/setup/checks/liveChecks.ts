// What `tieout doctor` says of a live installation: each risk that nobody may take unasked, those
// that an exception names with its reason, and what had better be otherwise.

import type { Config } from '../../../config/config.js';
import { liveRisks, liveWarnings } from '../../../config/live.js';
import type { Check } from './check.js';

/** What the program may do at the server. */
interface SignedInAs {
  isSuperuser: boolean;
  /** the tables are its own */
  isOwner: boolean;
}

const NOT_ASKED: SignedInAs = { isSuperuser: false, isOwner: false };

/** Empty where the environment is not live. */
export function liveChecks(config: Config, role: SignedInAs = NOT_ASKED): Check[] {
  const name = 'live';
  const risks = liveRisks(config, role.isSuperuser).map(
    ({ name: risk, key, words, excepted }): Check => {
      return excepted === null
        ? { name, kind: 'problem', words: `${key} ${words} (or exceptions: { ${risk}: "REASON" })` }
        : { name, kind: 'warning', words: `${key} ${words}; excepted (${risk}): ${excepted}` };
    },
  );
  const told = liveWarnings(config, role.isOwner && !role.isSuperuser);
  const warnings = told.map((words): Check => ({ name, kind: 'warning', words }));
  return [...risks, ...warnings];
}
