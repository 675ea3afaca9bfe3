// Whom the console believes: the port that says who somebody is, and the one way there is today,
// local users with a password. Another provider (OpenID Connect) fills the same port; roles,
// sessions and the record of what was done stay where they are. Owns the limits on guessing.

import { passwordFits } from '../../access/password.js';
import { forgiveTry, reserveTry } from '../../access/sessionsStore.js';
import { findCredential } from '../../access/usersStore.js';
import type { Database } from '../../database/db.js';

export interface Claim {
  name: string;
  password: string;
  address: string;
}

type Recognition =
  | { kind: 'known'; userId: bigint; name: string }
  /** wrong name, wrong password, disabled: which of them is not said */
  | { kind: 'refused' }
  | { kind: 'tooMany' };

export interface Identity {
  recognise(claim: Claim): Promise<Recognition>;
}

/** Within this time; a person who mistypes is far below, a machine that guesses is stopped. */
export const FAILURES_OF_NAME_MAX = 10;
const FAILURES_OF_ADDRESS_MAX = 30;
const FAILURE_WINDOW_MS = 15 * 60_000;
const NAME_LENGTH_MAX = 64;
const PASSWORD_LENGTH_MAX = 200;

export function localIdentity(deps: { db: Database; now: () => Date }): Identity {
  return {
    async recognise({ name, password, address }) {
      const tried = name.normalize('NFKC').slice(0, NAME_LENGTH_MAX);
      const now = deps.now();
      // Equal for names that exist and names that do not.
      const failureId = await reserveTry(deps.db, {
        name: tried,
        address,
        now,
        since: new Date(now.getTime() - FAILURE_WINDOW_MS),
        ofNameMax: FAILURES_OF_NAME_MAX,
        ofAddressMax: FAILURES_OF_ADDRESS_MAX,
      });
      if (failureId === null) return { kind: 'tooMany' };
      const credential = await findCredential(deps.db, tried);
      const given = password.slice(0, PASSWORD_LENGTH_MAX);
      const fits = await passwordFits(given, credential?.passwordHash ?? null);
      if (credential === null || !fits) return { kind: 'refused' };
      await forgiveTry(deps.db, failureId);
      return { kind: 'known', userId: credential.userId, name: credential.name };
    },
  };
}
