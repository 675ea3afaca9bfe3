// A card number that slipped into people's words is taken out on record: nothing of it stays in any
// table, the chain stays checkable, and whoever does more than what is on record breaks it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statement } from '../../src/database/statements.js';
import { redactTexts } from '../../src/retention/redactStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { tieoutHere } from '../support/cliHere.js';
import { columnsHolding } from '../support/heldWords.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const KEY = Buffer.alloc(32, 7).toString('base64');

let house: House;

beforeAll(async () => {
  const settings = { operations: { refund: 'approve' }, decisions: { key: KEY } };
  house = await buildHouse({ orders: 120, settings });
  // As a version stored it that did not know the spelling.
  await brake(true, `asked by ${CARD}`);
  await house.run();
  await brake(false, 'over');
});
afterAll(() => house.end());

const CARD = '4111 1111 1111 1111';
const brake = (isOn: boolean, reason: string) =>
  house.db.query(
    `insert into tieout.brakes (kind, is_on, reason, by, is_claim)
     values ('brake', $1, $2, 'anna', true)`,
    [isOn, reason],
  );
const inFolder = (...words: string[]) => tieoutHere(words, { cwd: house.folder });
/** Tables that hold it, in whatever column. */
const holding = async (): Promise<string[]> => {
  const columns = await columnsHolding(house.db, CARD);
  return [...new Set(columns.map((column) => column.split('.', 2).join('.')))];
};

test('is taken out on record, and the chain stays checkable', async () => {
  await house.db.query(
    `with b as (update tieout.breaks set note = 'card ${CARD}, called'
       where break_id = (select min(break_id) from tieout.breaks) returning *)
     insert into tieout.break_events (break_id, at, event, from_state, by, reason, currency, amount,
       expected, actual)
     select break_id, now(), 'noted', state, 'anna', note, currency, amount, expected, actual
     from b`,
  );
  await house.db.query(
    `update ledger.refund_requests set reason = 'to ${CARD}; Mrs Wolkenstein'
     where refund_id = (select min(refund_id) from ledger.refund_requests)`,
  );
  await house.db.query(
    `insert into tieout.console_events (who, action, outcome, address)
     values ('${CARD}', 'sign in', 'refused', '127.0.0.1')`,
  );
  // Somebody decides, and what is seen has the words of the shop's own table.
  const { rows: held } = await house.db.query<{ id: string }>(
    `select i.instruction_id as id from tieout.instructions i
     join ledger.refund_requests r using (account_id, refund_id)
     where i.state = 'held' and i.operation = 'refund' order by 1 limit 1`,
  );
  await house.db.query(
    `update ledger.refund_requests set reason = 'to ${CARD}; Mrs Wolkenstein'
     where refund_id = (select refund_id from tieout.instructions where instruction_id = $1)`,
    [held[0]?.id],
  );
  const rejecting = ['--reason', `not to ${CARD.replaceAll(' ', '')}`, '--as', 'carla'];
  const decided = await inFolder('instructions', 'reject', held[0]?.id ?? '', ...rejecting);
  expect(decided.code, decided.stderr).toBe(0);
  await house.db.query(`update ledger.refund_requests set reason = null where reason like 'to %'
    and refund_id <> (select min(refund_id) from ledger.refund_requests)`);
  // The night under the brake told its reason as it is shown, without the number.
  const places = ['break_events', 'breaks', 'console_events', 'decisions'].map(
    (name) => `tieout.${name}`,
  );
  const all = ['ledger.refund_requests', 'tieout.brakes', ...places].sort();
  expect(await holding()).toEqual(all);

  const looked = await inFolder('redact', '--check');
  expect([looked.code, looked.stdout]).toEqual([0, expect.stringContaining('card 4111 11')]);
  expect(looked.stdout).not.toContain(CARD);
  expect(await holding()).toEqual(all);
  expect((await inFolder('redact')).code).toBe(2);

  const before = await house.db.query('select * from tieout.chain_links order by link_id');
  writeFileSync(join(house.folder, 'words.txt'), 'Wolkenstein\n');
  const words = ['--words', join(house.folder, 'words.txt'), '--reason', `saw ${CARD}`];
  // Without the key what is signed would lose its signature, and count for made up.
  const settings = JSON.parse(readFileSync(house.file, 'utf8')) as Record<string, unknown>;
  const keyless = join(house.folder, 'keyless.yaml');
  writeFileSync(keyless, JSON.stringify({ ...settings, decisions: {} }));
  const refused = await inFolder('redact', ...words, '--as', 'berta', '--config', keyless);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('decisions.key')]);
  expect(await holding()).toEqual(all);
  const redact = ['redact', ...words, '--as', 'berta', '--json'];
  const done = await tieoutHere(redact, { cwd: house.folder });
  expect(done.code, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ redacted: true, inTheShopsView: 0 });
  expect(done.stdout + done.stderr).not.toContain(CARD);
  expect(await holding()).toEqual([]);
  const { rows: asked } = await house.db.query(
    `select reason from ledger.refund_requests where reason like '%Mrs%'`,
  );
  expect(asked).toEqual([{ reason: 'to 4111 11** **** 1111; Mrs ***********' }]);

  const verified = await inFolder('verify');
  expect([verified.code, verified.stdout]).toEqual([
    // Two of them this test wrote into the tables itself.
    ...[1, expect.stringMatching(/Out of 6 text\(s\) words were taken on .*berta/)],
  ]);
  expect(verified.stdout).toContain('3 link(s) of the chain');
  expect(verified.stdout).toMatch(/^Link \d+ of account A100\d \(decision, sealed with .*alone$/m);
  // What was signed is signed as it stands now, and what was not is not.
  const { rows: signed } = await house.db.query<{ what: string }>(
    'select what from tieout.signatures order by signature_id',
  );
  expect(signed.map(({ what }) => what)).toEqual(['decision', 'decision', 'redaction']);
  expect(verified.stdout).toContain('Not decided through tieout (2)');
  expect(verified.stdout).not.toContain('Not signed: decision');
  const after = await house.db.query('select * from tieout.chain_links order by link_id');
  expect(after.rows.slice(0, before.rows.length)).toEqual(before.rows);
  const again = await inFolder('redact', '--check');
  expect(again.stdout).toContain('Nothing that has to go');
});

test('whoever changes more than that, or takes the record away, breaks the chain', async () => {
  for (const sql of [
    `update tieout.brakes set reason = reason || '!' where reason like 'asked by %'`,
    `update tieout.redacted_links set after_sha256 = repeat('0', 64)`,
    'delete from tieout.redacted_links',
    `update tieout.redacted_texts set field = 'other'`,
    `update tieout.redactions set reason = 'other'`,
  ]) {
    await tampered(async (query) => {
      await query(sql);
      const found = await checkChain({ query } as never, () => {});
      expect([sql, found.broken.length > 0]).toEqual([sql, true]);
    });
  }
  await expect(house.db.query('delete from tieout.redacted_links')).rejects.toThrow('is history');
  await expect(house.db.query(`update tieout.redactions set by = 'x'`)).rejects.toThrow(
    'is history',
  );
});

test('a record that the owner makes up makes no other fact right', async () => {
  const madeUp = `with made as (
      insert into tieout.redactions (by, is_claim, reason) values ('anna', true, 'a card')
      returning redaction_id),
    said as (insert into tieout.redacted_texts
      select redaction_id, 'brakes', '{"seq": 1}', 'reason', 6 from made)
    insert into tieout.redacted_links
    select redaction_id, l.link_id, l.account_id, l.what, l.facts, l.facts_sha256, f.facts_sha256
    from made, tieout.chain_links l
    cross join lateral tieout.link_facts(l.link_id, l.what, l.account_id) f
    where f.facts_sha256 <> l.facts_sha256 and tieout.redacted_sha256(l) <> f.facts_sha256;
    select tieout.seal('', current_date, false)`;
  for (const [what, sql] of [
    ['look', `update tieout.pages set answered_at = answered_at + interval '1 second'`],
    ['end', `update tieout.run_ends set summary = '{}'`],
    ['decision', `update tieout.decisions set decided_by = 'berta'`],
  ]) {
    await tampered(async (query) => {
      await query(sql ?? '');
      await query(madeUp);
      const { broken } = await checkChain({ query } as never, () => {});
      expect([what, broken.map((one) => one.what)]).toEqual([what, expect.arrayContaining([what])]);
    });
  }
});

test('and nothing is taken out of what is not what was sealed', async () => {
  await tampered(async (query) => {
    await query(`update tieout.brakes set reason = 'to ${CARD}' where reason like 'asked by %'`);
    const { rows } = await query(statement('retention/peoplesWords'), [13]);
    const [text] = (rows as { text: string; relation: string }[]).filter((row) => {
      return row.relation === 'brakes' && row.text.includes(CARD);
    });
    const db = { transaction: (work: (tx: object) => Promise<void>) => work({ query }) };
    const order = [{ ...text, cleaned: 'to nobody', signs: 6 }];
    await expect(
      redactTexts(db as never, order as never, {
        ...{ who: { name: 'x', isClaim: true }, keys: null, reason: 'so' },
      }),
    ).rejects.toThrow('is not what was sealed');
  });
});

type Query = (text: string, values?: readonly unknown[]) => Promise<{ rows: object[] }>;

/** Does it in a transaction without triggers, which is rolled back. */
async function tampered(work: (query: Query) => Promise<void>): Promise<void> {
  const undo = new Error('undone');
  await house.db
    .transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await work((text, values) => tx.query(text, values));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}
