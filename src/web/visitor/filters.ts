// The filters of an address, as each page understands them. One that is given and does not fit
// matches nothing, and the page says so: whatever was meant by it, it was not everything. Nothing
// else decides what a filter that does not fit comes to.

import { firstNamed } from '../../core/accounts/alike.js';
import type { Visit } from '../visit.js';
import type { Fields } from './fields.js';

/** What each comes to, by its name in the address; null: not given, or nothing that fits. */
type Understood = Readonly<{ account: string | null } & Record<string, unknown>>;

interface Chosen {
  /** none where a filter does not fit */
  accountIds: readonly string[];
  /** what does not fit, in words */
  problem: string | null;
}

export function chosenBy(
  { query, accounts }: Pick<Visit, 'query' | 'accounts'>,
  understood: Understood,
): Chosen {
  const names = Object.keys(understood);
  const misfit = names.find((name) => understood[name] === null && query.isGiven(name));
  if (misfit !== undefined) return { accountIds: [], problem: misfitWords(query, misfit) };
  const { account } = understood;
  return { accountIds: account === null ? accounts : [account], problem: null };
}

/** Of what was given. */
const SAID_MAX = 64;

const AMOUNTS: Readonly<Record<string, string>> = { from: 'Amount from', to: 'Amount to' };

function misfitWords(query: Fields, name: string): string {
  const given = query.text(name)?.slice(0, SAID_MAX);
  const amount = AMOUNTS[name];
  if (given === undefined) {
    return `What was given for ${amount ?? name} cannot be read: ${NOTHING}.`;
  }
  return amount === undefined
    ? `"${given}" is no ${name} to choose here: ${NOTHING}.`
    : `${amount} "${given}" cannot be read as an amount, such as 1250.00: ${NOTHING}.`;
}

const NOTHING = 'nothing matches';

/** An account in words: one that no night looks at is marked. */
export function accountWords({ deps }: Pick<Visit, 'deps'>, accountId: string): string {
  return deps.accountIds.includes(accountId) ? accountId : `${accountId} (not configured)`;
}

/** Whether the pages that are of configured accounts alone are open to the reader. */
export function seesConfigured({ deps, accountsFor }: Visit): boolean {
  return accountsFor('look').some((accountId) => deps.accountIds.includes(accountId));
}

/** Of which accounts alone this is, where the lists show more and none was chosen; null: of all. */
export function partOf({ query, accounts, accountsFor }: Visit): readonly string[] | null {
  const isAll = accountsFor('look').every((account) => accounts.includes(account));
  return query.isGiven('account') || isAll ? null : accounts;
}

/** For what is decided about all that match. */
export function onlyMine(visit: Visit): string {
  const part = partOf(visit);
  if (part === null) return '';
  const own = `account${part.length === 1 ? '' : 's'} ${firstNamed(part)}`;
  return `, of ${own} alone: about others you may not decide this`;
}
