// `tieout users list|add|role|link|disable|enable`: who may use the console. Nobody ever types
// somebody else's password: a new person gets a link that works once.

import { Command, Option } from 'commander';
import { chosenPasswordProblem } from '../../access/chosenPassword.js';
import { hashPassword } from '../../access/password.js';
import { record } from '../../access/record.js';
import type { UserRow } from '../../access/usersStore.js';
import {
  addUser,
  findUserId,
  giveRole,
  hasAdministrator,
  listUsers,
  setUserState,
  takeRole,
} from '../../access/usersStore.js';
import type { Grant, Role } from '../../core/access.js';
import { grantsText, personState, ROLES, userNameProblem } from '../../core/access.js';
import { UsageError } from '../../core/errors.js';
import { withLeft } from '../../runs/leftAccountsStore.js';
import { makeLink } from '../../web/visitor/links.js';
import type { App } from '../app.js';
import { printJson, printLines, wantsJson, warnLines, withApp } from '../context.js';
import { machineUser } from '../machineUser.js';
import type { Part } from '../terminal.js';
import { columns, stateWord } from '../terminal.js';

interface RoleFlags {
  role?: Role[];
  account?: string[];
  remove?: boolean;
  passwordStdin?: boolean;
}

const PASSWORD_BYTES_MAX = 1_000;

export function usersCommand(): Command {
  const users = new Command('users');
  users
    .command('list', { isDefault: true })
    .description('everybody, with roles')
    .option('--json', 'print one JSON document')
    .action((_flags: object, command: Command) =>
      withApp(command, (app) => list(app, wantsJson(command)), { quiet: true }),
    );
  withRoles(users.command('add').argument('<name>'))
    .description('a new person; prints a link that works once, to choose a password')
    .option('--password-stdin', 'take the password from standard input instead, for scripts')
    .action((name: string, flags: RoleFlags, command: Command) =>
      withApp(command, (app) => add(app, name, flags), { quiet: true }),
    );
  withRoles(users.command('role').argument('<name>'))
    .description('gives roles, or takes them away; counts at once')
    .option('--remove', 'take the roles away')
    .action((name: string, flags: RoleFlags, command: Command) =>
      withApp(command, (app) => changeRoles(app, name, flags), { quiet: true }),
    );
  users
    .command('link')
    .argument('<name>')
    .description('a new link to choose a password; links before it work no more')
    .action((name: string, _flags: object, command: Command) =>
      withApp(command, (app) => link(app, name), { quiet: true }),
    );
  for (const [verb, state] of STATES) {
    users
      .command(verb)
      .argument('<name>')
      .description(state === 'disabled' ? 'locks somebody out, at once' : 'lets somebody in again')
      .action((name: string, _flags: object, command: Command) =>
        withApp(command, (app) => setState(app, name, state), { quiet: true }),
      );
  }
  return users;
}

const STATES = [
  ['disable', 'disabled'],
  ['enable', 'active'],
] as const;

function withRoles(command: Command): Command {
  return command
    .addOption(
      new Option('--role <role...>', 'what the person may do').choices(ROLES).makeOptionMandatory(),
    )
    .option('--account <id...>', 'for these accounts only (default: all of them)');
}

async function list(app: App, json: boolean): Promise<number> {
  const users = await listUsers(app.db);
  if (json) printJson(users);
  else if (users.length === 0) {
    printLines(['Nobody yet. `tieout web` prints a link for the first administrator.']);
  } else printLines(columns(users.map(cellsOf)));
  return 0;
}

function cellsOf(user: UserRow): Part[] {
  return [user.name, stateWord(personState(user)), grantsText(user.grants) || 'no role'];
}

async function add(app: App, name: string, flags: RoleFlags): Promise<number> {
  const problem = userNameProblem(name);
  if (problem !== null) throw new UsageError(`the name ${problem}`);
  const grants = await grantsOf(app, flags);
  const passwordHash = flags.passwordStdin === true ? await hashFromInput(name) : null;
  const by = machineUser();
  const added = await addUser(app.db, { name, passwordHash, grants, by, now: new Date() });
  if (added.kind === 'taken') throw new UsageError(`there is somebody called ${name} already`);
  await note(app, 'add person', name, grants.map(grantText).join(', '));
  tellWhatIsOfAll(app, flags);
  if (passwordHash !== null) printLines([`${name} may sign in`]);
  else await printLink(app, added.userId, name);
  return 0;
}

async function hashFromInput(name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > PASSWORD_BYTES_MAX) throw new UsageError('that is too long for a password');
    chunks.push(piece);
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  const problem = await chosenPasswordProblem(password, name);
  if (problem !== null) throw new UsageError(`the password ${problem}`);
  return hashPassword(password);
}

async function changeRoles(app: App, name: string, flags: RoleFlags): Promise<number> {
  const userId = await idOf(app, name);
  const grants = await grantsOf(app, flags);
  const texts = grants.map(grantText).join(', ');
  if (flags.remove === true) {
    const taken = await takeRoles(app, { userId, name }, grants);
    await note(app, 'take role', name, taken === 0 ? `nothing: no ${texts}` : texts);
  } else {
    await giveRoles(app, { userId, name }, grants);
    await note(app, 'give role', name, texts);
    tellWhatIsOfAll(app, flags);
  }
  await warnWithoutAdministrator(app);
  const user = await userOf(app, userId);
  if (user) printLines(columns([cellsOf(user)]));
  return 0;
}

async function giveRoles(app: App, user: Named, grants: readonly Grant[]): Promise<void> {
  const within = await heldForAll(app, user, grants);
  if (within !== undefined) {
    const { role, accountId } = within;
    warnLines([
      `${user.name} has the role ${role} for all accounts, ${accountId} among them. For that ` +
        'account alone: first take it for all (--remove, without --account)',
    ]);
  }
  for (const grant of grants) await giveRole(app.db, user.userId, grant);
}

/** How many were taken. */
async function takeRoles(app: App, user: Named, grants: readonly Grant[]): Promise<number> {
  const within = await heldForAll(app, user, grants);
  if (within !== undefined) {
    throw new UsageError(
      `${user.name} has the role ${within.role} for all accounts, and keeps ${within.accountId} ` +
        'by it. Take it for all (without --account), and give it for the accounts that stay',
    );
  }
  let taken = 0;
  for (const { role, accountId } of grants) {
    taken += await takeRole(app.db, user.userId, role, accountId);
  }
  if (taken === 0) warnLines([`${user.name} has no such role: nothing was taken away`]);
  return taken;
}

async function userOf({ db }: App, userId: bigint): Promise<UserRow | undefined> {
  return (await listUsers(db)).find((one) => one.userId === userId);
}

type Named = Pick<UserRow, 'userId' | 'name'>;

/** The first that is of one account by its name, of a role that the person has for all of them. */
async function heldForAll(
  app: App,
  { userId }: Named,
  grants: readonly Grant[],
): Promise<Grant | undefined> {
  const own = (await userOf(app, userId))?.grants ?? [];
  const ofAll = new Set(own.filter(({ accountId }) => accountId === null).map(({ role }) => role));
  return grants.find(({ role, accountId }) => accountId !== null && ofAll.has(role));
}

/** Of an account that left what is there can be given; and a role of whatever account taken. */
async function grantsOf(app: App, { role = [], account, remove }: RoleFlags): Promise<Grant[]> {
  const own = app.config.accounts.map(({ accountId }) => accountId);
  const known = new Set(await withLeft(app.db, own));
  const unknown = remove === true ? undefined : account?.find((id) => !known.has(id));
  if (unknown !== undefined) throw new UsageError(`there is no account ${unknown}`);
  const accounts = account ?? [null];
  return role.flatMap((one) => accounts.map((accountId) => ({ role: one, accountId })));
}

async function link(app: App, name: string): Promise<number> {
  const userId = await idOf(app, name);
  const user = await userOf(app, userId);
  if (user?.state === 'disabled') {
    throw new UsageError(
      `${name} is disabled, and no link lets them in: first tieout users enable ${name}`,
    );
  }
  await printLink(app, userId, name);
  await note(app, 'make link', name, 'done');
  return 0;
}

async function printLink(app: App, userId: bigint, name: string): Promise<void> {
  const { host, port, tls } = app.config.web;
  const scheme = tls === null ? 'http' : 'https';
  const path = await makeLink(app, userId, new Date());
  printLines([
    `${name} chooses a password here, once, within a day:`,
    `  ${scheme}://${host}:${port}${path}`,
    'Behind a proxy the address is the one people use; what follows it stays.',
  ]);
}

async function setState(app: App, name: string, state: UserRow['state']): Promise<number> {
  await setUserState(app.db, await idOf(app, name), state);
  await note(app, 'set state', name, state);
  await warnWithoutAdministrator(app);
  printLines([`${name} is ${state}`]);
  return 0;
}

async function warnWithoutAdministrator(app: App): Promise<void> {
  if (await hasAdministrator(app.db)) return;
  warnLines([
    'nobody may manage the console any more: the next start of it prints a new first link',
  ]);
}

/** Each account by its name may be meant as all of them, most of all where there is but one. */
function tellWhatIsOfAll(app: App, { account = [] }: RoleFlags): void {
  if (app.config.accounts.some(({ accountId }) => !account.includes(accountId))) return;
  warnLines([
    'each account by its name is not all accounts: jobs, activity, audit, settings, people and ' +
      'reports of a month need the role without --account',
  ]);
}

function grantText({ role, accountId }: Grant): string {
  return accountId === null ? role : `${role} of ${accountId}`;
}

/** Who may do what is itself on record; the name is the one this machine knows. */
async function note(app: App, action: string, name: string, outcome: string): Promise<void> {
  const who = `${machineUser()} (command line)`;
  await record(app, { who, action, subject: name, outcome, address: 'this machine' });
}

async function idOf(app: App, name: string): Promise<bigint> {
  const userId = await findUserId(app.db, name);
  if (userId === null) throw new UsageError(`there is nobody called ${name}`);
  return userId;
}
