// What is asked when the nights of a wave are over: the auditor's questions, with what a database
// that was put back has forgotten, and how often each rare state was reached.

import pg from 'pg';
import { readAsked, readDisputed } from '../asked.mjs';
import { findViolations } from '../auditor/findViolations.mjs';
import { readDatabase } from '../auditor/readBooks.mjs';
import { CODES_SWAPPED } from '../table.mjs';
import { countGaps } from './feed.mjs';
import { forgottenBy } from './putBack.mjs';

const ABOUT_EFFECTS = new Set(['I1', 'I4', 'I7', 'I8', 'I9', 'I10']);

export async function audit(wave) {
  const client = new pg.Client(wave.connection);
  await client.connect();
  const ours = await readDatabase(client);
  await client.end();
  const books = { ...ours, ...wave.gateway.books(), asked: await readAsked(wave.db) };
  books.disputed = await readDisputed(wave.db);
  books.forgotten = forgottenBy(wave, books);
  countStates(wave, books);
  await countGaps(wave);
  const { violations, money } = findViolations(books);
  // Where codes were told to mean something else, what was read by them is what a person said: only
  // that no money moves twice, or unordered, is asked then.
  if (!wave.maySwap) return { violations, money, books };
  const asked = violations.filter(({ invariant }) => ABOUT_EFFECTS.has(invariant));
  return { violations: asked, money: apart(money), books };
}

/** What a wrong meaning confirmed moved nowhere: such a wave's money is summed by itself. */
function apart(money) {
  return new Map([...money].map(([currency, sums]) => [`${currency}, ${CODES_SWAPPED}`, sums]));
}

function countStates(wave, { instructions, events, effects, bookLooks }) {
  const { tally } = wave;
  const counted = { instructions, effects, 'orders held against the book': bookLooks };
  for (const [name, rows] of Object.entries(counted)) tally.add(name, rows.length);
  for (const { from, to, reason } of events) {
    if (from === 'unknown') tally.count(`unknown to ${to}`);
    if (to !== 'held' || reason !== 'disputed') continue;
    tally.count(`a dispute held what was ${from ?? 'new'}`);
  }
  for (const row of instructions) {
    tally.count(`ended ${row.state}`);
    const isPartial = row.operation === 'refund' && row.refund_amount !== row.amount;
    if (row.state === 'unknown' && isPartial) tally.count('a partial refund waits for a person');
  }
}
