// Whom the console believes: the port that says who somebody is, and the one way there is today,
// local users with a password. Another provider (OpenID Connect) fills the same port; roles,
// sessions and the record of what was done stay where they are. Owns the limits on guessing.

import { passwordFits } from '../../access/password.js';
import { forgiveTry, reserveTry } from '../../access/sessionsStore.js';
import { findCredential } from '../../access/usersStore.js';
import { cutText } from '../../core/text/heldText.js';
import type { Database } from '../../database/db.js';

export interface Claim {
  name: string;
  password: string;
  address: string;
  /** of who is signed in and gives the password again */
  session?: Buffer | null;
}

type Recognition =
  | { kind: 'known'; userId: bigint; name: string }
  /** wrong name, wrong password, disabled: which of them is not said */
  | { kind: 'refused' }
  | { kind: 'tooMany' };

export interface Identity {
  recognise(claim: Claim): Promise<Recognition>;
}

const MINUTE_MS = 60_000;
/**
 * A person who mistypes is far below, a machine that guesses is stopped. Strangers use up what is
 * theirs: a name from another address, and more so a session, has tries of its own.
 */
export const TRY_LIMITS = {
  windowMs: 15 * MINUTE_MS,
  ownMax: 10,
  ownAtOnce: 5,
  waitSeconds: 2,
  ofAddressMax: 30,
  ofNameMax: 100,
  knownMs: 30 * 24 * 60 * MINUTE_MS,
} as const;
const NAME_LENGTH_MAX = 64;
const PASSWORD_LENGTH_MAX = 200;

export function localIdentity(deps: { db: Database; now: () => Date }): Identity {
  return {
    async recognise({ name, password, address, session = null }) {
      const tried = cutText(name.normalize('NFKC'), NAME_LENGTH_MAX);
      const one = { name: tried, address, session, now: deps.now() };
      // Equal for names that exist and names that do not.
      const failureId = await reserveTry(deps.db, one, TRY_LIMITS);
      if (failureId === null) return { kind: 'tooMany' };
      const credential = await findCredential(deps.db, tried);
      // Nobody has a longer one; the work is the same all the same.
      const given = password.length > PASSWORD_LENGTH_MAX ? '' : password;
      const hash = credential?.passwordHash ?? null;
      const fits = await passwordFits(given, hash).catch(async (error: unknown) => {
        // Too busy to look: it says nothing about who tried.
        await forgiveTry(deps.db, failureId);
        throw error;
      });
      if (credential === null || !fits) return { kind: 'refused' };
      await forgiveTry(deps.db, failureId);
      return { kind: 'known', userId: credential.userId, name: credential.name };
    },
  };
}
