// Who may do what in the console, as data: the roles, and for each thing that can be done the roles
// that may. Roles are granted for one account or for all. Pure; the console asks it at every
// request and the tests walk it as a matrix. Four eyes are not kept here but in the database.

import { inSentence } from './accounts/alike.js';

export const ROLES = ['viewer', 'finance', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const EVERYBODY: readonly Role[] = ROLES;

/** What can be done, and by whom. */
const RIGHTS = {
  look: EVERYBODY,
  download: ['finance', 'operator', 'approver', 'admin'],
  workBreaks: ['finance', 'operator'],
  /** to waive and reopen, and to ask for a waiver that needs a second person */
  waive: ['finance'],
  /** to be that second person */
  agreeToWaiver: ['finance', 'approver'],
  approve: ['approver'],
  /** to bring a workbook with decisions; each of them needs its own right */
  bringDecisions: ['finance', 'operator', 'approver'],
  resolve: ['operator'],
  brake: ['operator', 'admin'],
  jobs: ['operator'],
  closeDays: ['finance'],
  importSettlement: ['finance'],
  audit: ['finance', 'approver', 'operator', 'admin'],
  settings: ['operator', 'admin'],
  /** to let people in and out */
  users: ['admin'],
} as const satisfies Record<string, readonly Role[]>;
export type Right = keyof typeof RIGHTS;

/** What counts for runs and their money: done only by a configuration of their environment. */
export const DECIDES: ReadonlySet<Right> = new Set([
  'workBreaks',
  'waive',
  'agreeToWaiver',
  'approve',
  'bringDecisions',
  'resolve',
  'brake',
  'closeDays',
  'jobs',
]);

export interface Grant {
  role: Role;
  /** null: all accounts, also those that come later */
  accountId: string | null;
}

/** Those of these accounts for which somebody with these grants has the right. */
export function accountsFor(
  right: Right,
  grants: readonly Grant[],
  accountIds: readonly string[],
): string[] {
  const roles: readonly Role[] = RIGHTS[right];
  if (hasEverywhere(right, grants)) return [...accountIds];
  const fitting = grants.filter(({ role }) => roles.includes(role));
  return accountIds.filter((id) => fitting.some(({ accountId }) => accountId === id));
}

/**
 * Some things are not of one account: they need the right for all of them, also those that left
 * the configuration or come later. Each of them by its name is not all.
 */
export function hasEverywhere(right: Right, grants: readonly Grant[]): boolean {
  const roles: readonly Role[] = RIGHTS[right];
  return grants.some(({ role, accountId }) => accountId === null && roles.includes(role));
}

/** "finance of S1, S2, S3 and 594 more; operator", where operator is for all accounts. */
export function grantsText(grants: readonly Grant[]): string {
  const texts = [...new Set(grants.map(({ role }) => role))].map((role) => {
    const of = grants.filter((one) => one.role === role).map(({ accountId }) => accountId);
    return of.includes(null) ? role : `${role} of ${inSentence(of.flatMap((id) => id ?? []))}`;
  });
  return texts.join('; ');
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u;

/** Those whose letters are taken for one another. */
const ALPHABETS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
];

/** A name that reads the same everywhere: no blanks, no control characters. */
export function userNameProblem(name: string): string | null {
  if (name !== name.normalize('NFKC')) return 'holds characters that look like others';
  if (ALPHABETS.filter((letters) => letters.test(name)).length > 1) {
    return 'mixes letters of several alphabets, some of which look alike';
  }
  return NAME.test(name) ? null : 'needs 1 to 64 letters, digits or any of . _ @ -';
}

/** Who has chosen no password yet is invited, unless somebody has locked them out meanwhile. */
export function personState(person: { hasPassword: boolean; state: string }): string {
  return person.hasPassword || person.state === 'disabled' ? person.state : 'invited';
}

const PASSWORD_MIN = 12;
const PASSWORD_MAX = 200;

/** What anybody would try first here; docs/CONSOLE.md lists them. */
const CONTEXT_WORDS =
  /tieout|password|passwort|gateway|merchant|ledger|settlement|finance|approver|operator|admin/g;
const BESIDE_WORDS_MIN = 8;

/** Whether it is soon guessed is asked in access/chosenPassword.ts. */
export function passwordProblem(password: string, name: string): string | null {
  if (password.length < PASSWORD_MIN) return `needs at least ${PASSWORD_MIN} characters`;
  if (password.length > PASSWORD_MAX) return `has more than ${PASSWORD_MAX} characters`;
  if (password.toLowerCase().includes(name.toLowerCase())) return 'must not contain the name';
  const beside = password.toLowerCase().replaceAll(CONTEXT_WORDS, '');
  if (beside.length < BESIDE_WORDS_MIN) return 'is little more than words that one would try here';
  return new Set(password).size < 5 ? 'repeats the same few characters' : null;
}
