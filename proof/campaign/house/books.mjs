// The books of one installation, as the auditor wants them: the gateway's time on both sides, and
// what a database forgot that was put back.

import pg from 'pg';
import { readAsked } from '../../asked.mjs';
import { findViolations } from '../../auditor/findViolations.mjs';
import { readDatabase, readGateway } from '../../auditor/readBooks.mjs';
import { forgottenBy } from '../../simulator/putBack.mjs';
import { countBooks } from '../count.mjs';
import { patiently } from './server.mjs';

async function readOurs({ server }) {
  const client = new pg.Client(server.connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return await readDatabase(client);
  } finally {
    await client.end();
  }
}

/** Instructions and attempts that stand in no database any more own the effects that they had. */
export async function keepForgotten(house) {
  const { instructions, attempts, calls } = await patiently(() => readOurs(house));
  house.putBacks += 1;
  const named = (id) => `L${house.putBacks}.${id}`;
  const { forgotten } = house;
  forgotten.instructions.push(...instructions.map((row) => ({ ...row, id: named(row.id) })));
  forgotten.calls.push(...calls);
  forgotten.attempts.push(...attempts.map((row) => ({ ...row, entries: row.entries.map(named) })));
}

export async function auditHouse(house) {
  const { sandbox, accounts, tally, name } = house;
  const ours = await readOurs(house);
  const theirs = await readGateway(sandbox.baseUrl, sandbox.journal);
  const isOurs = ({ account_id }) => accounts.has(account_id);
  const books = {
    ...ours,
    effects: theirs.effects.filter(isOurs).map((effect) => shifted(house, effect)),
    transactions: theirs.transactions.filter(isOurs),
    asked: await readAsked(house.db),
  };
  if (house.putBacks > 0) books.forgotten = forgottenBy(house, ours);
  countBooks(tally, books);
  const { violations, money } = findViolations(books);
  return {
    money,
    violations: violations.map((one) => ({ ...one, words: `${name} ${one.words}` })),
  };
}

/** The gateway lives in real time; on the wall of the house it was later by so much. */
function shifted({ shifts }, effect) {
  const at = Date.parse(effect.at);
  const { shift } = shifts.findLast(({ from }) => from <= at) ?? shifts[0];
  return { ...effect, at: new Date(at + shift).toISOString() };
}
