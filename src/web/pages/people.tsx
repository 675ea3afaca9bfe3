// Who may use the console, and letting somebody in or out, by the same rows and the same record as
// `tieout users`. Nobody ever types somebody else's password: a new person gets a link.

import type { UserRow } from '../../access/usersStore.js';
import { addUser, listUsers, setUserState } from '../../access/usersStore.js';
import type { Grant } from '../../core/access.js';
import { grantsText, personState, ROLES, userNameProblem } from '../../core/access.js';
import { Form, State, Table } from '../layout/parts.js';
import { Ask } from '../layout/said.js';
import type { Answer, Visit } from '../visit.js';
import { refused } from '../visit.js';
import { rowIdOf } from '../visitor/fields.js';
import { makeLink } from '../visitor/links.js';

export function People({ users, visit }: { users: readonly UserRow[]; visit: Visit }) {
  const mayManage = visit.hasEverywhere('users');
  const heads = ['Name', 'State', 'Roles', 'Last seen', ...(mayManage ? ['Let in or out'] : [])];
  return (
    <>
      <Table caption="People" class="lists" columns={heads.map((head) => ({ head }))}>
        {users.map((user) => (
          <tr>
            <th scope="row">{user.name}</th>
            <td>
              <State state={personState(user)} />
            </td>
            <td>{grantsText(user.grants) || 'none'}</td>
            <td data-name="Last seen">{visit.words.at(user.lastSeen)}</td>
            {mayManage ? <Turn user={user} visit={visit} /> : null}
          </tr>
        ))}
      </Table>
      {mayManage ? <Invite visit={visit} /> : null}
      <p class="hint">
        To change what somebody may do, at once <Ask command="tieout users role NAME --role ROLE" />
        ; each account of a role <Ask command="tieout users list --json" />.
      </p>
    </>
  );
}

function Turn({ user, visit }: { user: UserRow; visit: Visit }) {
  if (user.userId === visit.person.userId) return <td class="hint">you</td>;
  const verb = user.state === 'active' ? 'disable' : 'enable';
  return (
    <td class="buttons">
      <Form action={`/settings/${verb}`} csrf={visit.csrf}>
        <input type="hidden" name="id" value={String(user.userId)} />
        <button type="submit" class={verb === 'disable' ? 'danger' : undefined}>
          {visit.person.isFresh ? '' : 'Enter password to '}
          {verb}
          <span class="unseen"> {user.name}</span>
        </button>
      </Form>
    </td>
  );
}

function Invite({ visit }: { visit: Visit }) {
  return (
    <Form action="/settings/invite" csrf={visit.csrf}>
      <fieldset class="decide">
        <legend>Invite somebody</legend>
        <label>
          Name
          <input name="name" size={20} maxLength={64} required value={visit.typed('name')} />
        </label>
        <label>
          Role
          <select name="role">
            {ROLES.map((role) => (
              <option value={role} selected={visit.typed('role') === role}>
                {role}
              </option>
            ))}
          </select>
        </label>
        <label>
          Account
          <select name="account">
            <option value="">all accounts</option>
            {visit.deps.accountIds.map((accountId) => (
              <option value={accountId} selected={visit.typed('account') === accountId}>
                {accountId}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" formNoValidate={!visit.person.isFresh}>
          {visit.person.isFresh ? 'Invite' : 'Enter password to invite'}
        </button>
      </fieldset>
    </Form>
  );
}

export async function invite(visit: Visit): Promise<Answer> {
  const { deps, form, person } = visit;
  const name = form.text('name', 64) ?? '';
  const problem = userNameProblem(name);
  if (problem !== null) return refused(`The name ${problem}.`);
  const role = form.oneOf('role', ROLES);
  const accountId = form.oneOf('account', deps.accountIds);
  if (role === null || (accountId === null && form.isGiven('account'))) {
    return refused('Choose a role, and an account or all of them.');
  }
  const grant: Grant = { role, accountId };
  const now = deps.now();
  const added = await addUser(deps.db, {
    ...{ name, passwordHash: null, grants: [grant] },
    ...{ by: person.name, now },
  });
  if (added.kind === 'taken') return refused(`There is somebody called ${name} already.`);
  await visit.record({ action: 'add person', subject: name, outcome: grantsText([grant]) });
  const path = await makeLink(deps, added.userId, now);
  const body = (
    <>
      <h1>Invited: {name}</h1>
      <p class="sentence" role="status">
        {name} chooses a password here, once, within a day. The link is shown only now:
      </p>
      <p class="value">
        <code>{path}</code>
      </p>
      <p>
        Put the address of this console before it. <a href="/settings">Back to settings</a>
      </p>
    </>
  );
  return { kind: 'page', title: 'Invited', section: 'Settings', body };
}

export function turn(state: UserRow['state']) {
  return async (visit: Visit): Promise<Answer> => {
    const { deps, form, person } = visit;
    const id = rowIdOf(form.text('id') ?? undefined);
    const user = (await listUsers(deps.db)).find(({ userId }) => userId === id);
    if (user === undefined) return refused('There is no such person.');
    if (user.userId === person.userId) {
      return refused('Nobody disables himself: another administrator does it.');
    }
    await setUserState(deps.db, user.userId, state);
    await visit.record({ action: 'set state', subject: user.name, outcome: state });
    return { kind: 'redirect', to: '/settings' };
  };
}
