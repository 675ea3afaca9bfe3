// One account of very many, chosen for a page that takes `account` in its address.

import { byName } from '../../core/accounts/alike.js';
import type { Visit } from '../visit.js';
import { accountWords } from '../visitor/filters.js';

export function AccountFilter({ visit, action }: { visit: Visit; action: string }) {
  return (
    <form class="filters" action={action} method="get" aria-label="Filters">
      <label>
        Account
        <select name="account">
          <option value="">all</option>
          {visit.accounts.toSorted(byName).map((account) => (
            <option value={account} selected={visit.query.text('account') === account}>
              {accountWords(visit, account)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

/** Beside a filter that does not fit, on a page that is of configured accounts alone. */
export function WhereLeft() {
  return (
    <p class="hint">
      An account that is not in the configuration any more stands in the statements and{' '}
      <a href="/reports">workbooks</a> of the nights that had it; its open breaks stand under{' '}
      <a href="/breaks">Breaks</a>.
    </p>
  );
}
