// A name that has to go (an erasure request): short as it is, it is taken out of every table, also
// where nobody typed it there, and nothing that is left tells it. Who asked for what waits stays
// until it is over, since it says who may not approve it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { tieoutHere } from '../support/cliHere.js';
import { columnsHolding } from '../support/heldWords.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const NAME = 'Meier';
/** What was sent stays as it was sent, what was answered to it, and what a payout pays. */
const SENT = [
  'ledger.payout_requests.payload',
  'tieout.answers.body',
  'tieout.attempts.request_gzip',
  'tieout.decisions.row_before',
  'tieout.instructions.payload',
];

let house: House;

const operations = { refund: 'approve', payout: 'approve' };
const PAYOUT = {
  payment_amount: '150',
  payment_currency: 'EUR',
  reference: 'commission',
  beneficiary: { company_name: `${NAME} GmbH`, bank_details: { iban: 'DE00123456780000000000' } },
};

beforeAll(async () => {
  house = await buildHouse({ orders: 120, settings: { operations } });
  await house.db.query(`update ledger.refund_requests
    set requested_by = 'h. ${NAME}', reason = 'for ${NAME}'`);
  await house.db.query(
    `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
     values ('00000000-0000-4000-8000-000000000001', 'A1001', $1, now() - interval '1 minute')`,
    [JSON.stringify(PAYOUT)],
  );
  await stop();
  await house.run();
  await go();
});
afterAll(() => house.end());

const stop = () => here('brake', 'on', '--reason', `${NAME} called`, '--as', 'anna');
const go = () => here('brake', 'off', '--reason', `${NAME} wrote`, '--as', 'anna');

async function here(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await tieoutHere(words, { cwd: house.folder });
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

const holding = () => columnsHolding(house.db, NAME);

async function heldIds(operation = 'refund'): Promise<string[]> {
  const { rows } = await house.db.query<{ id: string }>(
    `select instruction_id::text as id from tieout.instructions
     where state = 'held' and operation = $1 order by instruction_id`,
    [operation],
  );
  return rows.map(({ id }) => id);
}

test('a short name goes out of everything that is over, and the approval of what waits stands', async () => {
  const [sent = '', approved = '', rejected = ''] = await heldIds();
  await here('instructions', 'approve', sent, '--as', 'carla');
  await tieoutHere(['send'], { cwd: house.folder });
  await stop();
  const both = [approved, ...(await heldIds('payout'))];
  await here('instructions', 'approve', ...both, '--as', 'carla');
  await tieoutHere(['send'], { cwd: house.folder });
  await go();
  await here('instructions', 'reject', rejected, '--reason', NAME, '--as', 'carla');
  await house.db.query(
    `with u as (insert into tieout.users (name, state, created_by, created_at)
       values ('dora', 'active', 'anna', now()) returning user_id)
     insert into tieout.sessions (session_sha256, user_id, created_at, seen_at, confirmed_at,
       address, draft)
     select sha256('x'), user_id, now(), now(), now(), '127.0.0.1',
       '{"path": "/breaks/1", "typed": {"note": "${NAME}"}}' from u`,
  );
  const places = await holding();
  for (const place of ['batches.reason', 'runs.summary', 'run_ends.summary', 'sessions.draft']) {
    expect(places).toContain(`tieout.${place}`);
  }
  expect(await here('redact', '--check')).toContain('Nothing that has to go');
  writeFileSync(join(house.folder, 'words.txt'), `${NAME}\n`);
  const words = ['redact', '--words', join(house.folder, 'words.txt'), '--reason', 'Art. 17'];
  const said = await here(...words, '--as', 'berta');
  expect(said).toMatch(/\d+ name\(s\) of who asked for what waits .* stay/);
  expect(said).toContain('1 form(s) that were typed and not sent were emptied');
  expect(await holding()).toEqual(
    [
      ...SENT,
      'ledger.refund_requests.requested_by',

      'tieout.decisions.seen',
      'tieout.instructions.asked_by',
    ].sort(),
  );
  // Of what is over nothing is left, and no digest of it: all else of it is known.
  const { rows: over } = await house.db.query<{ seen: object; row_before: object; told: boolean }>(
    `select seen, row_before, seen_sha256 <> tieout.seen_sha256(seen) as told
     from tieout.decisions where decision = 'reject'`,
  );
  expect(over).toMatchObject([{ told: false }]);
  expect(JSON.stringify(over)).not.toContain(NAME);
  const { rows: lapsed } = await house.db.query<{ lapse: string | null }>(
    'select tieout.approval_lapse(i) as lapse from tieout.instructions i where instruction_id = any ($1)',
    [both],
  );
  expect(lapsed).toEqual([{ lapse: null }, { lapse: null }]);
  const refused = await tieoutHere(
    ['instructions', 'approve', (await heldIds())[0] ?? '', '--as', `h. ${NAME}`],
    { cwd: house.folder },
  );
  expect([refused.code, refused.stdout + refused.stderr]).toEqual([
    1,
    expect.stringContaining('asked for it'),
  ]);
});

test('once it is over the name is gone, and the chain stays whole', async () => {
  for (const id of await heldIds()) {
    await here('instructions', 'reject', id, '--reason', 'over', '--as', 'carla');
  }
  await here('send');
  const words = ['redact', '--words', join(house.folder, 'words.txt'), '--reason', 'Art. 17'];
  await here(...words, '--as', 'berta');
  // One that nobody planned may be planned yet.
  expect(await holding()).toEqual([...SENT, 'ledger.refund_requests.requested_by'].sort());
  const { rows: left } = await house.db.query(
    `select r.refund_id from ledger.refund_requests r
     join tieout.instructions i using (account_id, refund_id) where r.requested_by like $1`,
    [`%${NAME}%`],
  );
  expect(left).toEqual([]);
  const found = await checkChain(house.db, () => {});
  expect(found.broken).toEqual([]);
});
