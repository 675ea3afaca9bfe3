// Where `decisions.key` is configured, what people decide bears a signature by a key that no
// database knows. An intruder who may write in the tables approves by the very statements that the
// program uses, and signs in with a session that he put there: nothing is sent by it, the console
// does not know him, and `tieout verify` names what he decided. Of an auditor the public half is
// enough.

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newToken, tokenDigest } from '../../src/access/password.js';
import { openSession } from '../../src/access/sessionsStore.js';
import { addUser } from '../../src/access/usersStore.js';
import { letBrakeGo, pullBrake } from '../../src/brake/brake.js';
import { loadConfig } from '../../src/config/config.js';
import { describeConfig } from '../../src/config/view.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { currentSession } from '../../src/web/visitor/session.js';
import { tieoutHere } from '../support/cliHere.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

const KEY = generateKeyPairSync('ed25519')
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .subarray(-32)
  .toString('base64');
const FORGER = { name: 'anna', isClaim: false };

let house: House;
beforeAll(async () => {
  const operations = { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' };
  const settings = { operations, decisions: { key: KEY } };
  let cancels = 0;
  house = await buildHouse({
    ...{ orders: 300, daysAgo: 2, settings },
    // nobody knows what became of a cancel, after the first
    fault: ({ operation }) => {
      if (operation === 'cancel') cancels += 1;
      return operation === 'cancel' && cancels === 2 ? { kind: 'drop', when: 'before' } : null;
    },
  });
  await house.run({ date: dateOf(2) });
});
afterAll(() => house.end());

const inFolder = (...words: string[]) => tieoutHere(words, { cwd: house.folder });

async function idsOf(where: string): Promise<bigint[]> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where ${where} order by 1`,
  );
  return rows.map((row) => row.instruction_id);
}

/** What the program does when somebody decides, without what lies outside of the database. */
async function forge(ids: readonly bigint[], decision: Decision): Promise<string[]> {
  const deps = await (await house.open()).sendDeps();
  const verdicts = await decideInstructions(deps, { ids, decision, who: FORGER });
  return verdicts.map(({ kind }) => kind);
}

async function capturesOf(id: bigint | undefined): Promise<number> {
  const { rows } = await house.db.query<{ transaction_id: string }>(
    'select transaction_id from tieout.instructions where instruction_id = $1',
    [id],
  );
  const effects = await house.effects();
  return effects.filter(
    (one) => one.operation === 'capture' && one.transaction_id === rows[0]?.transaction_id,
  ).length;
}

let genuine: bigint | undefined;
let forged: bigint | undefined;

test('what was approved through tieout is sent, what was written into the tables waits', async () => {
  [genuine, forged] = await idsOf(`state = 'held' and hold_reason = 'approval'`);
  const approved = await inFolder('instructions', 'approve', String(genuine), '--as', 'berta');
  expect(approved.code, approved.stderr).toBe(0);
  expect(await forge(forged === undefined ? [] : [forged], APPROVE)).toEqual(['done']);
  const sent = await tieoutHere(['send'], { cwd: house.folder });
  expect([await capturesOf(genuine), await capturesOf(forged)], sent.stdout).toEqual([1, 0]);
  const { rows } = await house.db.query(
    'select state, hold_reason from tieout.instructions where instruction_id = $1',
    [forged],
  );
  expect(rows).toEqual([{ state: 'held', hold_reason: 'not_signed' }]);
});

test('verify names it, as an auditor who has the public half alone', async () => {
  const printed = await inFolder('verify', '--decisions-key');
  const text = readFileSync(house.file, 'utf8');
  const settings = JSON.parse(text) as Record<string, unknown>;
  const publicKeys = [printed.stdout.trim()];
  writeFileSync(
    join(house.folder, 'auditor.yaml'),
    JSON.stringify({ ...settings, decisions: { publicKeys } }),
  );
  for (const file of ['tieout.yaml', 'auditor.yaml']) {
    const { code, stdout } = await inFolder('verify', '--config', file);
    expect([file, code]).toEqual([file, 1]);
    expect(stdout).toContain('Not decided through tieout (1)');
    expect(stdout).toMatch(/^Not signed: decision \d+ of account A100\d$/m);
  }
  const { rows } = await house.db.query<{ session: string }>(
    'select session from tieout.signatures',
  );
  expect(rows).toEqual([{ session: expect.stringMatching(/^command line of .+, user .+/) }]);
});

test('no signature is moved to another decision, nor made by another key', async () => {
  const copied = house.db.query(
    `insert into tieout.signatures (what, fact_id, session, signature)
     select what, (select max(decision_id) from tieout.decisions), session, signature
     from tieout.signatures`,
  );
  await copied;
  const other = generateKeyPairSync('ed25519').privateKey;
  const raw = other.export({ format: 'der', type: 'pkcs8' }).subarray(-32).toString('base64');
  const settings = JSON.parse(readFileSync(house.file, 'utf8')) as Record<string, unknown>;
  const file = join(house.folder, 'other.yaml');
  writeFileSync(file, JSON.stringify({ ...settings, decisions: { key: raw } }));
  expect((await inFolder('verify')).stdout).toContain('Not decided through tieout (1)');
  const byOther = await inFolder('verify', '--config', file);
  expect(byOther.stdout).toContain('Not decided through tieout (2)');
  await expect(house.db.query('delete from tieout.signatures')).rejects.toThrow('history');
  await expect(house.db.query('truncate tieout.signatures')).rejects.toThrow('history');
});

test('who really approves it then has it sent', async () => {
  const approved = await inFolder('instructions', 'approve', String(forged), '--as', 'berta');
  expect(approved.code, approved.stderr).toBe(0);
  await tieoutHere(['send'], { cwd: house.folder });
  expect(await capturesOf(forged)).toBe(1);
});

test('nor does a forged approval count that an approval of somebody stands behind', async () => {
  const [id = 0n] = await idsOf(`state = 'held' and hold_reason = 'approval'`);
  const wait = (reason: string, state: string) =>
    house.db.query(
      `update tieout.instructions set state = 'held', hold_reason = $2, batch_id = null,
         changed_by = 'tieout' where instruction_id = $1 and state = $3`,
      [id, reason, state],
    );
  await wait('by_hand', 'held');
  expect(await forge([id], APPROVE)).toEqual(['done']);
  await wait('approval', 'queued');
  const approve = () => inFolder('instructions', 'approve', String(id), '--as', 'berta');
  for (const [reason, captures] of [
    ['by_hand', 0],
    [null, 1],
  ]) {
    const { code, stderr } = await approve();
    expect(code, stderr).toBe(0);
    await tieoutHere(['send'], { cwd: house.folder });
    const { rows } = await house.db.query<{ hold_reason: string | null }>(
      'select hold_reason from tieout.instructions where instruction_id = $1',
      [id],
    );
    expect([rows[0]?.hold_reason, await capturesOf(id)]).toEqual([reason, captures]);
  }
});

test('a forged "it did not happen, plan it again" lets nothing go by itself', async () => {
  const [unknown = 0n] = await idsOf(`state = 'unknown' and operation = 'cancel'`);
  const found = { reason: 'not in the portal', reference: 'none' };
  expect(await forge([unknown], { kind: 'resolve', finding: 'not_happened', ...found })).toEqual([
    'done',
  ]);
  expect(await forge([unknown], { kind: 'replan', reason: null })).toEqual(['done']);
  await house.run({ date: dateOf(1) });
  const { rows } = await house.db.query(
    `select i.operation, i.state, i.hold_reason
     from tieout.instructions i join tieout.instructions before using (account_id, order_no)
     where before.instruction_id = $1 and i.instruction_id > $1`,
    [unknown],
  );
  expect(rows).toEqual([{ operation: 'cancel', state: 'held', hold_reason: 'not_signed' }]);
});

test('a session that was put into its table opens nothing', async () => {
  const now = new Date();
  const config = loadConfig({ file: house.file, env: {}, cwd: house.folder });
  const grants = [{ role: 'approver' as const, accountId: null }];
  const added = await addUser(house.db, { name: 'eve', passwordHash: null, grants, by: 'x', now });
  if (added.kind !== 'added') throw new Error(added.kind);
  const token = newToken();
  const row = { userId: added.userId, now, address: 'x' };
  await openSession(house.db, { ...row, sha256: tokenDigest(token) });
  const request = { protocol: 'http', cookies: { 'tieout-session': token } } as never;
  const deps = { db: house.db, config, now: () => now };
  expect(await currentSession(deps, request)).toBeNull();
  await openSession(house.db, { ...row, sha256: tokenDigest(token, KEY) });
  expect(await currentSession(deps, request)).toMatchObject({ name: 'eve' });
});

test('brakes are signed like all that people decide; the key is shown nowhere', async () => {
  await inFolder('brake', 'on', '--reason', 'a doubt', '--as', 'berta');
  const before = (await inFolder('verify')).stdout;
  await letBrakeGo({ db: house.db }, { accountId: null, reason: 'go', who: FORGER });
  const after = (await inFolder('verify')).stdout;
  expect(before).not.toContain('word that stops sending');
  expect(after).toContain('Not signed: word that stops sending');
  await pullBrake({ db: house.db }, { accountId: null, reason: 'again', who: FORGER });
  const config = loadConfig({ file: house.file, env: {}, cwd: house.folder });
  expect(JSON.stringify(describeConfig(config))).not.toContain(KEY);
  const { rows } = await house.db.query(
    `select 1 from tieout.run_settings where position($1 in settings::text) > 0`,
    [KEY],
  );
  expect(rows).toEqual([]);
});
