// Who can look after breaks: the people of the console, and whoever does already.

import { listUsers } from '../../../access/usersStore.js';
import { breakChoices } from '../../../breaks/breaksStore.js';
import type { Visit } from '../../visit.js';

export async function ownersOf({ deps, accounts }: Visit): Promise<string[]> {
  const [users, { owners }] = await Promise.all([
    listUsers(deps.db),
    breakChoices(deps.db, accounts),
  ]);
  const active = users.filter((user) => user.state === 'active' && user.grants.length > 0);
  return [...new Set([...active.map(({ name }) => name), ...owners])].sort();
}

/** "-" is nobody. */
export function OwnerChoice(props: {
  name: string;
  owners: readonly string[];
  chosen: string | null;
}) {
  return (
    <label>
      Owner
      <select name={props.name}>
        <option value="">choose</option>
        <option value="-" selected={props.chosen === '-'}>
          nobody
        </option>
        {props.owners.map((owner) => (
          <option value={owner} selected={props.chosen === owner}>
            {owner}
          </option>
        ))}
      </select>
    </label>
  );
}
