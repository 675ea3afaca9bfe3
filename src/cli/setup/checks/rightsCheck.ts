// What `tieout doctor` says of the role that the program signs in as: has it what a night needs of
// the schema? Neighbour: database/server/grantRoles.ts, which gives it.

import { andMore } from '../../../core/text/amounts.js';
import { missingRights } from '../../../database/server/grantRoles.js';
import type { App } from '../../app.js';
import type { Check } from './check.js';

const NAMED_MAX = 5;

/** One line; nothing where no right is missing. */
export async function rightsCheck({ db }: App): Promise<Check[]> {
  const missing = await missingRights(db);
  const [first] = missing;
  if (first === undefined) return [];
  const named = missing
    .slice(0, NAMED_MAX)
    .map((one) => `${one.rights.join(', ')} on ${one.relation}`);
  const words =
    `the role ${first.role} lacks ${named.join('; ')}${andMore(missing.length - named.length)}: ` +
    `\`tieout migrate up --writer ${first.role}\`, as the owner of the tables, gives them back`;
  return [{ name: 'rights', kind: 'problem', words }];
}
