// Accounts that a command line names: a mistyped one is said, since a list of nothing reads as good
// news.

import { firstNamed } from '../core/accounts/alike.js';
import { UsageError } from '../core/errors.js';
import { leftDaysWords } from '../core/runs/businessDay.js';
import { withDays } from '../runs/leftAccountsStore.js';
import type { App } from './app.js';

type Named = readonly string[] | undefined;

/** Those that are named, else all; each has to be in the configuration. */
export function configuredAccounts({ config }: Pick<App, 'config'>, named: Named): string[] {
  const known = config.accounts.map(({ accountId }) => accountId);
  if (named === undefined || named.length === 0) return known;
  const wrong = named.find((accountId) => !known.includes(accountId));
  if (wrong !== undefined) throw noSuchAccount(wrong, known);
  return [...named];
}

/** As a filter also one that is configured no more, or never was: what there is of it is found. */
export async function checkNamed(
  { config }: Pick<App, 'config'>,
  named: Named,
  hasRows: (accountId: string) => Promise<boolean>,
): Promise<void> {
  const known = config.accounts.map(({ accountId }) => accountId);
  for (const accountId of named ?? []) {
    const isKnown = known.includes(accountId) || (await hasRows(accountId));
    if (!isKnown) throw noSuchAccount(accountId, known);
  }
}

/**
 * Those of the configuration, or those that are named; of one that left it what its nights wrote is
 * shown.
 */
export async function accountsOfDays(app: Pick<App, 'config' | 'db'>, named: Named) {
  await checkNamed(app, named, async (id) => (await withDays(app.db, [id])).length > 0);
  return named === undefined || named.length === 0 ? configuredAccounts(app, named) : [...named];
}

/** Those whose days are signed: the same, but for one that left. */
export async function accountsToSign(app: Pick<App, 'config' | 'db'>, named: Named) {
  const known = configuredAccounts(app, undefined);
  const accountIds = await accountsOfDays(app, named);
  const left = accountIds.find((accountId) => !known.includes(accountId));
  if (left !== undefined) throw new UsageError(leftDaysWords([left]));
  return accountIds;
}

function noSuchAccount(accountId: string, known: readonly string[]): UsageError {
  return new UsageError(
    `--account ${accountId}: no such account in the configuration (${firstNamed(known)})`,
  );
}
