// Settings: what is in force, read only, secrets masked, changed in files; and who may use the
// console (people.tsx).

import { listUsers } from '../../access/usersStore.js';
import { describeConfig } from '../../config/view.js';
import { profileOrigins } from '../../gateway/document/profile.js';
import { Table } from '../layout/parts.js';
import { Ask } from '../layout/said.js';
import type { Answer, Visit } from '../visit.js';
import { People } from './people.js';

export async function settingsPage(visit: Visit): Promise<Answer> {
  const { config } = visit.deps;
  const users = await listUsers(visit.deps.db);
  const { file: _, ...shown } = describeConfig(config);
  const { profile, profileFile, profileText } = config.gateway;
  const origins = profileOrigins(profileFile === null ? null : profileText, profileFile ?? '');
  const body = (
    <>
      <h1>Settings</h1>
      <p>
        In force since this process started. They are changed in <code>tieout.yaml</code> and the
        gateway profile; to check them <Ask command="tieout doctor" />.
      </p>
      <h2>People</h2>
      <People users={users} visit={visit} />
      <h2>Configuration</h2>
      <Pairs caption="Configuration" pairs={leaves(shown)} />
      <h2>Gateway profile</h2>
      <Pairs
        caption="Gateway profile"
        pairs={origins.map(({ key, origin }) => [key, `${valueAt(profile, key)} (${origin})`])}
      />
    </>
  );
  return { kind: 'page', title: 'Settings', section: 'Settings', body };
}

function Pairs(props: { caption: string; pairs: readonly (readonly [string, string])[] }) {
  return (
    <Table caption={props.caption} class="lists" columns={[{ head: 'Key' }, { head: 'Value' }]}>
      {props.pairs.map(([key, value]) => (
        <tr>
          <th scope="row">
            <code>{key}</code>
          </th>
          <td class="value">{value}</td>
        </tr>
      ))}
    </Table>
  );
}

function valueAt(profile: unknown, key: string): string {
  const value = key
    .split('.')
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | null)?.[name], profile);
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Every value by its path, in the order of the configuration. */
function leaves(value: unknown, path = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, String(value ?? 'none')]];
  return Object.entries(value).flatMap(([key, part]) =>
    leaves(part, path === '' ? key : `${path}.${key}`),
  );
}
