// What the forms with passwords share: how a password is taken out of one, and what is wrong with a
// name and password that somebody chooses.

import { chosenPasswordProblem } from '../../access/chosenPassword.js';
import { userNameProblem } from '../../core/access.js';
import type { Fields } from './fields.js';

export const TOO_MANY =
  'Too many tries. Wait a minute and try again; after many of them, a quarter of an hour.';

/** Not trimmed: blanks are part of a password. */
export function passwordOf(
  body: unknown,
  field: 'password' | 'again' | 'present' = 'password',
): string {
  const value = (body as Record<string, unknown> | null | undefined)?.[field];
  return typeof value === 'string' ? value : '';
}

export function hasOthers(form: Fields, allowed: readonly string[]): boolean {
  return form.names().some((name) => name !== '_csrf' && !allowed.includes(name));
}

/** Of a name that is chosen here, too. In words; null: they will do. */
export async function firstChoiceProblem(
  name: string,
  password: string,
  again: string,
): Promise<string | null> {
  const problem = userNameProblem(name);
  return problem === null ? choiceProblem(name, password, again) : `The name ${problem}.`;
}

/** Of somebody who has that name. In words; null: they will do. */
export async function choiceProblem(
  name: string,
  password: string,
  again: string,
): Promise<string | null> {
  const problem = await chosenPasswordProblem(password, name);
  if (problem !== null) return `The password ${problem}.`;
  return password === again ? null : 'The two passwords differ.';
}
