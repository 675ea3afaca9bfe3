// The auditor as a program: compares the database of tieout with the journal of a sandbox gateway
// and prints every invariant that is broken. Exit 0: none is. Use:
//   npm run audit -- --database postgres://... --gateway http://127.0.0.1:PORT [--journal FILE]

import { parseArgs } from 'node:util';
import pg from 'pg';
import { moneyText } from './books.mjs';
import { findViolations } from './findViolations.mjs';
import { readDatabase, readGateway } from './readBooks.mjs';

const SHOWN_MAX = 50;

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    gateway: { type: 'string' },
    journal: { type: 'string' },
  },
});
if (values.database === undefined || values.gateway === undefined) {
  console.error('audit: --database and --gateway are needed');
  process.exit(2);
}
const client = new pg.Client({ connectionString: values.database });
await client.connect();
const ours = await readDatabase(client);
await client.end();
const theirs = await readGateway(values.gateway, values.journal ?? null);
const { violations, money } = findViolations({ ...ours, ...theirs });
console.log(
  `${ours.instructions.length} instructions, ${ours.attempts.length} attempts, ` +
    `${theirs.effects.length} effects, ${ours.links.length} links of the chain: ` +
    `${violations.length} violations`,
);
for (const { invariant, words } of violations.slice(0, SHOWN_MAX)) {
  console.log(`${invariant}: ${words}`);
}
for (const [currency, { confirmed, moved, unknown, difference }] of money) {
  const parts = Object.entries({ confirmed, moved, unknown, difference });
  console.log(`${currency}: ${parts.map(([name, sum]) => `${name} ${moneyText(sum)}`).join(', ')}`);
}
process.exit(violations.length === 0 ? 0 : 1);
