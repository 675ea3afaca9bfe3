// An intruder with the rights of a program that writes in the tables and owns none of them: what
// is history can neither be changed nor emptied, what guards it neither removed nor passed by; and
// what he may write, a decision in another's name, is named by `tieout verify`.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const ROLE = `tieout_writer_${process.pid}`;

/** By a guard of ours, or by the server for want of a right; no error of the statement itself. */
const REFUSED = new RegExp(
  'recorded is history|^attempt |only grows|nobody approved|must be owner|' +
    'permission denied (to|for schema)',
);

let house: House;
let intruder: Database;

beforeAll(async () => {
  await ensureBuilt();
  const operations = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };
  house = await buildHouse({ orders: 120, settings: { operations } });
  await house.run();
  await house.db.query(
    `create role ${ROLE}; grant usage on schema tieout, ledger to ${ROLE};
     grant select, insert, update, delete, truncate on all tables in schema tieout to ${ROLE};
     grant select on all tables in schema ledger to ${ROLE};
     grant execute on all functions in schema tieout to ${ROLE};
     grant usage on all sequences in schema tieout to ${ROLE}`,
  );
  intruder = openDatabase(house.connection, { max: 1 });
});
afterAll(async () => {
  await intruder.close();
  await house.db.query(`drop owned by ${ROLE}; drop role ${ROLE}`);
  await house.end();
});

/** As that role alone, in one message: the pool gives every other one a fresh session. */
function asWriter(sql: string) {
  return intruder.query(`set role ${ROLE}; ${sql}`);
}

test.each([
  ['raises what was moved', 'update tieout.day_movements set amount = amount + 777'],
  ['forgets what was sent', 'delete from tieout.attempts'],
  ['changes an answer', "update tieout.answers set body = ''"],
  ['empties the chain', 'truncate tieout.chain_links cascade'],
  ['takes an end of it back', 'update tieout.chain_heads set link_no = link_no - 1'],
  ['frees what waits', "update tieout.instructions set state = 'queued' where state = 'held'"],
  ['lifts every brake', 'truncate tieout.brakes'],
  ['wipes the record of the console', 'truncate tieout.console_events'],
  ['passes the guards by', 'set session_replication_role = replica'],
  ['switches them off', 'alter table tieout.day_movements disable trigger all'],
  ['removes one', 'drop trigger guard_fact on tieout.day_movements'],
  [
    'digests otherwise',
    `create or replace function tieout.fact_digest(content bytea) returns text
       language sql immutable as 'select repeat(''0'', 64)'`,
  ],
  ['makes himself owner', `alter table tieout.decisions owner to ${ROLE}`],
])('he %s: refused', async (_what, sql) => {
  await expect(asWriter(sql)).rejects.toThrow(REFUSED);
});

test('none of it left a trace, and a decision in another name does', async () => {
  const verify = () => tieout(['verify'], { cwd: house.folder });
  const before = await verify();
  expect([before.code, before.stdout]).toEqual([0, expect.stringContaining('The chain is whole')]);
  const { rowCount } = await asWriter(
    `insert into tieout.decisions (instruction_id, account_id, decision, decided_by, is_claim, seen,
       seen_sha256, row_before, expires_at)
     select instruction_id, account_id, 'approve', 'anna', false, '{}', tieout.seen_sha256('{}'),
       '{}', now() + interval '1 day'
     from tieout.instructions where state = 'held' and hold_reason = 'approval' limit 1`,
  );
  expect(rowCount).toBe(1);
  const after = await verify();
  expect(after.stdout + after.stderr).toContain('moved by anna as after approve');
  expect(after.code).toBe(1);
});
