// Who can look after breaks: the people of the console who may work on them; and whoever has some
// already, marked where that person can do nothing about them.

import { listUsers } from '../../../access/usersStore.js';
import { breakChoices } from '../../../breaks/breaksStore.js';
import { accountsFor } from '../../../core/access.js';
import { firstNamed } from '../../../core/accounts/alike.js';
import type { BreakAction } from '../../../core/breaks/breakDecision.js';
import type { Visit } from '../../visit.js';
import { queryOf } from './breakQuery.js';

export type Owners = readonly Owner[];

interface Owner {
  name: string;
  /** what is to be known of this choice; empty: may work on breaks of all these accounts */
  mark: string;
}

/** Of the account of a break, or of the list that was asked for. */
export async function ownersOf(visit: Visit, ofBreak?: string): Promise<Owners> {
  const { deps, accounts, query } = visit;
  const account = ofBreak ?? query.oneOf('account', accounts);
  const accountIds = account === null ? accounts : [account];
  const [users, { owners }] = await Promise.all([
    listUsers(deps.db),
    breakChoices(deps.db, accounts),
  ]);
  const able = users.flatMap(({ name, state, grants }): Owner[] => {
    const some = state === 'active' ? accountsFor('workBreaks', grants, accountIds) : [];
    if (some.length === 0) return [];
    return [{ name, mark: some.length === accountIds.length ? '' : `only ${firstNamed(some)}` }];
  });
  const others = owners
    .filter((owner) => !able.some(({ name }) => name === owner))
    .map((name) => ({ name, mark: 'may not work on them here' }));
  return [...able.sort(byName), ...others.sort(byName)];
}

/** Why breaks are not given to whom the action names; null: it is one to choose, or nobody. */
export async function ownerProblem(visit: Visit, action: BreakAction): Promise<string | null> {
  const name = action.kind === 'assign' ? action.owner : null;
  if (name === null || (await ownersOf(visit)).some((one) => one.name === name)) return null;
  return `Nobody called "${name}" works on breaks here: choose an owner of the list.`;
}

function byName(one: Owner, other: Owner): number {
  return one.name.localeCompare(other.name);
}

/** "-" is nobody. */
export function OwnerChoice(props: { name: string; owners: Owners; chosen: string | null }) {
  return (
    <label>
      Owner
      <select name={props.name}>
        <option value="">choose</option>
        <option value="-" selected={props.chosen === '-'}>
          nobody
        </option>
        {props.owners.map(({ name, mark }) => (
          <option value={name} selected={props.chosen === name}>
            {mark === '' ? name : `${name} (${mark})`}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Of all that match: who shall have them, before it is shown what would be done. */
export function ChooseOwner({ visit, owners }: { visit: Visit; owners: Owners }) {
  const kept = [...new URLSearchParams(queryOf(visit.query))];
  return (
    <form class="filters" method="get" action="/breaks/all/assign" aria-label="Owner">
      {kept.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <OwnerChoice name="whom" owners={owners} chosen={visit.query.text('whom', 64)} />
      <button type="submit">Show what would be done</button>
    </form>
  );
}
