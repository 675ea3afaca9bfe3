// The settings that a run used, read back from what was kept with it: as much of a configuration as
// comparing and adding up need. Everything else (addresses, secrets, folders) is today's and is not
// asked. Neighbour: view.ts wrote it down.

import type { Config } from '../config/config.js';
import { TieoutError } from '../core/errors.js';
import type { Hundredths } from '../core/money.js';
import { parseAmount } from '../core/money.js';
import type { Account } from '../gateway/account.js';
import type { Profile } from '../gateway/document/profile.js';
import { parseProfile } from '../gateway/document/profile.js';

interface RecordedSettings {
  environment: Config['environment'];
  reconcile: Omit<Config['reconcile'], 'tolerance'> & {
    tolerance: { below: string; above: string; partsPerMillion: string };
  };
  operations: Config['operations'];
  accounts: { merchantId: string; accountId: string; liveFrom: string | null }[];
}

/** Today's configuration with the kept settings in place of its own. */
export function settingsThen(
  today: Config,
  kept: Record<string, unknown>,
  profileText: string | null,
): Config {
  if (profileText === null) throw new TieoutError('the profile that the run used was not kept');
  const { environment, reconcile, operations, accounts } = kept as unknown as RecordedSettings;
  const { below, above, partsPerMillion } = reconcile.tolerance;
  return {
    ...today,
    environment,
    gateway: { ...today.gateway, profile: profileThen(profileText), profileText },
    accounts: accounts.map(accountThen),
    reconcile: {
      ...reconcile,
      tolerance: {
        below: amountThen(below),
        above: amountThen(above),
        partsPerMillion: BigInt(partsPerMillion),
      },
    },
    operations,
  };
}

function profileThen(text: string): Profile {
  return parseProfile(text, 'the profile that the run used', { isKept: true });
}

function accountThen(account: RecordedSettings['accounts'][number]): Account {
  const { merchantId, accountId, liveFrom } = account;
  const from = liveFrom === null ? null : new Date(liveFrom);
  return { merchantId, accountId, signingKey: '', liveFrom: from };
}

function amountThen(text: string): Hundredths {
  const amount = parseAmount(text);
  if (amount === null) throw new TieoutError(`the kept tolerance ${text} is no amount`);
  return amount;
}
