// The ends of the chains signed beside the database: written by real nights, compared by
// the program, and what becomes of them where the disk refuses, a line is torn, somebody else signed, or
// the database is put back. Neighbour: verify/attacks.test.ts attacks the database.

import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase } from '../../src/database/db.js';
import type { Ended } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { addressOf, buildHouse } from '../support/night.js';

let house: House;
let folder: string;
let file: string;
const night = (): Promise<Ended> => tieoutHere(['run'], { cwd: house.folder });
const verify = (...args: string[]): Promise<Ended> =>
  tieoutHere(['verify', ...args], { cwd: house.folder });

beforeAll(async () => {
  const settings = { notify: { webhook: 'http://127.0.0.1:1/nobody', heads: true } };
  house = await buildHouse({ orders: 120, seed: 2, settings });
  folder = join(house.folder, 'var', 'audit');
  file = join(folder, 'heads.ndjson');
});
afterAll(() => house.end());

test('before the first night nothing was signed, and nothing is wrong', async () => {
  const ended = await verify();
  expect(ended.stdout).toMatch(/^No end of a chain was signed here yet/m);
  expect(ended.code, ended.stdout).toBe(0);
});

test('a night signs the end of each chain, with a key that its owner alone reads', async () => {
  expect((await night()).code).not.toBe(1);
  expect(statSync(join(folder, 'heads.key')).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const [line, ...more] = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(more).toEqual([]);
  const { ends } = JSON.parse(line ?? '') as { ends: unknown };
  const { rows } = await house.db.query(
    `select account_id as account, link_no::text as link, sha256 from tieout.chain_heads order by 1`,
  );
  expect(ends).toEqual(rows);
  const ended = await verify();
  expect(ended.stdout).toMatch(/^Of 1 signed ends of runs 1 stand; the newest is of /m);
  expect(ended.code).toBe(0);
});

test('the public half is told, the other one is not', async () => {
  const { stdout } = await verify('--public-key');
  expect(stdout).toMatch(/^-----BEGIN PUBLIC KEY-----\n[^-]+\n-----END PUBLIC KEY-----\n$/);
});

test('a line that was torn is told, and the next one stands by itself', async () => {
  appendFileSync(file, '{"kind":"ends","at":"2026-01-01T00:00');
  await night();
  const ended = await verify();
  expect(ended.stdout).toMatch(/^Of 2 signed ends of runs 2 stand/m);
  expect(ended.stdout).toMatch(/^1 line\(s\) were never written to their end/m);
  expect(ended.code).toBe(0);
});

test('a line that was altered is named', async () => {
  const text = readFileSync(file, 'utf8');
  const altered = join(house.folder, 'altered.ndjson');
  writeFileSync(altered, text.replace(/"link":"\d+"/, '"link":"1"'));
  const ended = await verify('--heads', altered);
  expect(ended.stdout).toMatch(/^Signed otherwise: line 1 was not signed with this key/m);
  expect(ended.code).toBe(1);
});

test('a copy is compared by the public key that came with it', async () => {
  const kept = join(house.folder, 'kept.ndjson');
  const key = join(house.folder, 'kept.pub');
  copyFileSync(file, kept);
  writeFileSync(key, (await verify('--public-key')).stdout);
  const ended = await verify('--heads', kept, '--public-key', key);
  expect(ended.stdout).toMatch(/^Of 2 signed ends of runs 2 stand/m);
  expect(ended.code, ended.stdout).toBe(0);
  const { publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(key, publicKey.export({ type: 'spki', format: 'pem' }));
  const other = await verify('--heads', kept, '--public-key', key);
  expect(other.stdout).toMatch(/line 1 was not signed with this key/);
  expect(other.code).toBe(1);
  expect((await verify('--heads', join(house.folder, 'no.ndjson'))).code).toBe(2);
  expect((await verify('--public-key', key)).code).toBe(2);
});

test('what the webhook is told is kept elsewhere and compared there', async () => {
  const { rows } = await house.db.query<{ line: string }>(
    `select body ->> 'line' as line from tieout.outbox where event = 'heads_signed' order by seq`,
  );
  const told = rows.map(({ line }) => line);
  const whole = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(told).toEqual(whole.filter((line) => line.includes('"signature"')));
  const kept = join(house.folder, 'told.ndjson');
  const key = join(house.folder, 'told.pub');
  writeFileSync(kept, `${told.join('\n')}\n`);
  writeFileSync(key, (await verify('--public-key')).stdout);
  const ended = await verify('--heads', kept, '--public-key', key);
  expect(ended.stdout).toMatch(/^Of 2 signed ends of runs 2 stand/m);
  expect(ended.code, ended.stdout).toBe(0);
});

test('where the disk refuses the night goes on, and somebody is told', async () => {
  const away = join(house.folder, 'away');
  renameSync(folder, away);
  writeFileSync(folder, 'no folder');
  try {
    const ended = await night();
    expect(ended.code).not.toBe(1);
    expect(ended.stderr).toMatch(/the ends of the chains could not be signed: /);
    const { rows } = await house.db.query<{ text: string }>(
      `select body ->> 'text' as text from tieout.outbox where event = 'heads_not_signed'`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).toMatch(/could not be signed and kept: /);
  } finally {
    rmSync(folder);
    renameSync(away, folder);
  }
  expect((await verify()).code).toBe(0);
});

test('a database that was put back is told, and held against nobody once it was noticed', async () => {
  const admin = openDatabase(inject('server'), { max: 1 });
  const name = new URL(addressOf(house.connection)).pathname.slice(1);
  const before = `${name}_before`;
  const leave = () =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  try {
    await leave();
    await admin.query(`create database ${before} template ${name} strategy file_copy`);
    await night();
    await leave();
    await admin.query(`drop database ${name} with (force)`);
    await admin.query(`create database ${name} template ${before} strategy file_copy`);
    const unnoticed = await verify();
    expect(unnoticed.stdout).toMatch(/^Signed otherwise: .* which is not there now$/m);
    expect(unnoticed.code).toBe(1);
    await night();
    const noticed = await verify();
    expect(noticed.stdout).toMatch(
      /^The database was put back on \d{4}-\d\d-\d\d \(.*\): the 3 ends signed before are told, not compared; 2 of them still stand\.$/m,
    );
    expect(noticed.stdout).toMatch(/^Of 1 signed ends of runs 1 stand/m);
    expect(noticed.code, noticed.stdout).toBe(0);
  } finally {
    await admin.query(`drop database if exists ${before} with (force)`);
    await admin.close();
  }
});
