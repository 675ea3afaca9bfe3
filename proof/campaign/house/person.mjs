// The person of an installation. They approve what waits for an approval, as is their work; and where
// the database was put back, and only there, they read the runbook and type what it says: a run, a
// decision about each instruction that is held, the brake. They know what the merchant portal shows.

import { setTimeout as sleep } from 'node:timers/promises';
import { hundredths } from '../../auditor/books.mjs';
import { readGateway } from '../../auditor/readBooks.mjs';
import { asked } from './server.mjs';

const HELD = `select instruction_id::text as id, account_id, operation, state, hold_reason, order_no,
    transaction_id, refund_amount::text from tieout.instructions where state = 'held' order by 1`;
const COUNTED = `select account_id, operation, order_no, transaction_id, refund_amount::text
  from tieout.instructions where state in ('confirmed', 'accepted', 'unknown')`;
const FROZEN = `select 1 from tieout.standing_brakes where kind = 'freeze'`;
const ROUNDS_MAX = 6;
/** Longer than a process that lives takes to hold its journal against the database. */
const FREEZE_MS = 12_000;

/** Approves what waits for it; answers how many. */
export async function approveSome(house) {
  const { crew, db, random, tally } = house;
  const { rows } = await asked(db, HELD);
  const ids = rows.filter(({ hold_reason }) => hold_reason === 'approval').map(({ id }) => id);
  if (ids.length === 0) return 0;
  const some = ids.filter(() => random.chance(0.8));
  if (some.length === 0) return 0;
  const { code } = await crew.type(['instructions', 'approve', ...some, '--as', 'anna']);
  tally.count(code === 0 ? 'a person approved' : 'a person was refused');
  return some.length;
}

/** *The database was put back*, step by step. */
export async function followRunbook(house) {
  const { crew, db, hosts, tally } = house;
  await sleep(FREEZE_MS);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const at of hosts.keys()) await crew.type(['send'], at);
    await crew.type(['run']);
    await decideHeld(house);
    const isFrozen = (await asked(db, FROZEN)).rowCount > 0;
    if (!isFrozen) return;
    tally.count('a person let a freeze go');
    await crew.type(['brake', 'off', '--reason', 'read what is held, as the runbook says']);
    await crew.type(['run']);
  }
}

/** One by one, by what the portal shows. */
async function decideHeld(house) {
  const { crew, db, tally } = house;
  const { rows } = await asked(db, HELD);
  for (const row of rows) {
    if (row.hold_reason === 'approval') continue;
    const { stdout } = await crew.type(['instructions', 'show', row.id]);
    if (await hasHappened(house, row)) {
      await crew.type([
        'instructions',
        'reject',
        row.id,
        '--as',
        'anna',
        '--reason',
        'it was sent',
      ]);
      tally.count('a person found it sent');
      continue;
    }
    const [, words] = /tieout (instructions approve [^\n]*)/.exec(stdout) ?? [];
    if (words === undefined) throw new Error(`nothing to type is shown of ${row.id}: ${stdout}`);
    const { code } = await crew.type([...words.trim().split(/\s+/), '--as', 'anna']);
    tally.count(code === 0 ? 'a person found it not sent' : 'a person was refused');
  }
}

const keyOf = (row) =>
  [
    ...[row.account_id, row.operation],
    row.operation === 'payout' ? row.order_no : row.transaction_id,
    row.operation === 'refund' ? hundredths(row.refund_amount) : '',
  ].join(' ');

/** What the portal shows of the same movement more often than others of ours account for it. */
async function hasHappened({ db, sandbox }, row) {
  const { effects } = await readGateway(sandbox.baseUrl, sandbox.journal);
  const counted = (await asked(db, COUNTED)).rows.filter((one) => keyOf(one) === keyOf(row));
  return effects.filter((one) => keyOf(one) === keyOf(row)).length > counted.length;
}
