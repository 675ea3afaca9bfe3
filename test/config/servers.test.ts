// The address of a database or queue in parts, and passwords with every sign that an address has a use
// for: they arrive whole, and nothing of them is ever printed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import { describeConfig } from '../../src/config/view.js';
import { ConfigurationError } from '../../src/core/errors.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-servers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ACCOUNTS = 'accounts: [{ merchantId: M, accountId: A, signingKey: k }]\n';
const PASSWORDS = [
  'se#cret',
  'se@cret',
  'se%cret',
  'se%41cret',
  'se/cret',
  'se:c?r&e t=',
  'sé"c\\r',
];

function load(text: string, env: Record<string, string> = {}) {
  const file = join(folder, 'tieout.yaml');
  writeFileSync(file, ACCOUNTS + text);
  return loadConfig({ file, cwd: folder, env });
}

function passwordIn(address: { kind: string; url?: string }): string {
  return decodeURIComponent(new URL(address.url ?? '').password);
}

describe.each(PASSWORDS)('a password as its own key: %s', (password) => {
  const env = { SECRET: password };

  it('reaches database and queue whole, and is not shown', () => {
    const config = load(
      `database: { host: db.example, port: 5433, name: "my db", user: "a@b", password: "\${SECRET}" }
queue: { host: redis.example, password: "\${SECRET}", tls: true, name: "2" }\n`,
      env,
    );
    expect(passwordIn(config.database)).toBe(password);
    expect(passwordIn(config.queue)).toBe(password);
    const url = new URL(config.database.kind === 'url' ? config.database.url : '');
    expect([url.hostname, url.port, url.pathname]).toEqual(['db.example', '5433', '/my%20db']);
    expect(decodeURIComponent(url.username)).toBe('a@b');
    expect(config.queue).toMatchObject({ kind: 'redis' });
    expect(config.queue.kind === 'redis' && config.queue.url).toMatch(/^rediss:.*example\/2$/);
    const shown = JSON.stringify(describeConfig(config));
    for (const spelled of [password, encodeURIComponent(password)]) {
      expect(shown).not.toContain(spelled);
      expect(hidingSecrets(config)(`x ${spelled} y`)).toBe('x *** y');
    }
  });

  it('goes beside an address without one', () => {
    const { database } = load(
      `database: { url: "postgres://db.example/tieout?sslmode=require", user: u, password: "\${SECRET}" }`,
      env,
    );
    expect(passwordIn(database)).toBe(password);
    expect(database).toMatchObject({ url: expect.stringContaining('sslmode=require') });
  });
});

describe('an address that its password breaks', () => {
  it.each([
    'postgres://u:12#secret@h/d',
    'postgres://u:12/secret@h/d',
    'postgres://u:12?secret@h/d',
    'postgres://u:secret%x@h/d',
    'postgres://u:secret#@h/d',
    'postgres://u:secret/1@h/d',
  ])('%s is refused with the way to write it, and nothing of it', (url) => {
    for (const [section, address] of [
      ['database', url],
      ['queue', url.replace('postgres', 'redis')],
    ]) {
      const failed = failure(() => load(`${section}: { url: "${address}" }`));
      expect(failed.message).toContain(`${section}.url`);
      expect(failed.message).toMatch(/%23.*key password/);
      expect(failed.message).not.toMatch(/secret|u:12|@h/);
    }
  });

  it('is taken percent-encoded', () => {
    const { database } = load('database: { url: "postgres://u:12%23secret@h/d" }');
    expect(passwordIn(database)).toBe('12#secret');
  });
});

describe('a certificate that the address of the database names', () => {
  it('lies beside the configuration, wherever tieout is started', () => {
    writeFileSync(join(folder, 'our ca.pem'), 'a certificate');
    const url = 'postgres://u@h/d?sslmode=verify-full&sslrootcert=our%20ca.pem';
    const { database } = load(`database: { url: "${url}", password: "a b" }`);
    const address = new URL(database.kind === 'url' ? database.url : '');
    expect(address.searchParams.get('sslrootcert')).toBe(join(folder, 'our ca.pem'));
    expect(address.searchParams.get('sslmode')).toBe('verify-full');
    expect(passwordIn(database)).toBe('a b');
  });

  it('is missed with its whole path', () => {
    const url = 'postgres://u:secret@h/d?sslrootcert=gone.pem';
    const { message } = failure(() => load(`database: { url: "${url}" }`));
    const path = join(folder, 'gone.pem');
    expect(message).toContain(`database.url, sslrootcert: ${path} does not exist`);
    expect(message).not.toContain('secret');
  });
});

describe('keys that do not go together', () => {
  it.each([
    ['database: { password: x }', 'database.password: needs database.host'],
    ['database: { url: embedded, password: x }', 'database.password: needs database.host'],
    ['database: { url: embedded, host: h }', 'database.host: and database.url'],
    ['database: { url: "postgres://h/d", host: h }', 'database.host: is said by database.url'],
    ['database: { host: "h/d" }', 'database.host: must be'],
    ['database: { host: h, tls: true }', 'database.tls: unknown key'],
    ['queue: { tls: true }', 'queue.tls: needs queue.host'],
  ])('%s', (text, words) => {
    expect(failure(() => load(text)).message).toContain(words);
  });
});

function failure(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

it.each([
  ['database:\n  url: mysql://db\n', {}, 'database.url', 3],
  [`database:\n  host: db\n  password: "\${SECRET}"\n`, {}, 'database.password', 4],
  ['queue:\n\n  port: 6379\n', {}, 'queue.port', 4],
  ['days: { secondPerson: yes }\n', {}, 'days.secondPerson', 2],
  ['database: { url: "postgres://u:12#s@h/d" }\n', {}, 'database.url', 2],
])('what is wrong in %j is told with its line, in our words', (text, env, key, line) => {
  let said: unknown;
  try {
    load(text, env);
  } catch (error) {
    said = error;
  }
  expect(said).toMatchObject({ key, message: expect.stringContaining(`(line ${line})`) });
  expect(said).not.toMatchObject({ message: expect.stringContaining('Invalid input') });
});
