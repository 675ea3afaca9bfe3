// What a live installation may not do unless the file says why: each risk by an address or setting
// that has it and one that has not, the exception by its name, and start that refuses.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { liveRisks, liveWarnings } from '../../src/config/live.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { configHash } from '../../src/config/view.js';
import { ensureBuilt } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { freshDatabase } from '../support/database.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-live-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'tieout.yaml');
writeFileSync(join(folder, 'ca.pem'), 'a certificate');

const ACCOUNTS = 'accounts: [{ merchantId: M, accountId: A, signingKey: key1 }]\n';
const REAL = 'gateway: { baseUrl: "https://gw.example", profile: gateway-profile.yaml }\n';
const SERVER = 'database: { url: "postgres://u@127.0.0.1/t" }\n';

function write(text: string, responses = 'enforce'): void {
  const profile = PROFILE_TEMPLATE.replace('responses: warn', `responses: ${responses}`);
  writeFileSync(join(folder, 'gateway-profile.yaml'), profile);
  writeFileSync(file, text);
}

function load(text: string, responses?: string) {
  write(`environment: live\n${ACCOUNTS}${text}`, responses);
  return loadConfig({ file, cwd: folder, env: {} });
}

const names = (text: string, responses?: string, mayAnything = false): string[] =>
  liveRisks(load(text, responses), mayAnything).map(({ name }) => name);

it('a pipe in place of the file is refused, which would be waited for without end', () => {
  const pipe = join(folder, 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  expect(() => loadConfig({ file: pipe, cwd: folder, env: {} })).toThrow('it is no plain file');
});

describe('a console beyond this machine', () => {
  it.each([
    ['web: { host: 0.0.0.0 }', ['plainConsole']],
    ['web: { host: 10.0.0.1, address: "http://pay.example" }', ['plainConsole']],
    ['web: { host: 0.0.0.0, address: "https://pay.example" }', []],
    ['web: { host: 0.0.0.0, tls: { cert: c.pem, key: k.pem } }', []],
    ['web: { host: "::1" }', []],
    ['web: { port: 1 }', []],
  ])('needs an address with TLS: %s', (text, found) => {
    expect(names(`${text}\n`)).toEqual(found);
  });
});

describe('a database beyond this machine', () => {
  const of = (url: string) => names(`database: { url: "${url}" }\n`);
  it.each([
    'postgres://u@db.example/t',
    'postgres://u@db.example/t?sslmode=disable',
    'postgres://u@db.example/t?sslmode=verify-full&sslmode=disable',
    'postgres://u@db.example/t?sslmode=no-verify',
    'postgres://u@db.example/t?ssl=0',
    'postgres://u@db.example/t?sslmode=require&uselibpqcompat=true',
    'postgres://u@localhost/t?host=db.example',
    'postgres://u@10.0.0.7/t',
  ])('needs checked TLS: %s', (url) => expect(of(url)).toEqual(['plainDatabase']));
  it.each([
    'postgres://u@db.example/t?sslmode=verify-full',
    'postgres://u@db.example/t?sslmode=require',
    'postgres://u@db.example/t?ssl=true',
    'postgres://u@db.example/t?sslrootcert=ca.pem',
    'postgres://u@127.0.0.1:5432/t',
    'postgres://u@[::1]/t',
    'postgres://u@localhost/t',
    'postgres:///t?host=/run/postgresql',
  ])('is in order: %s', (url) => expect(of(url)).toEqual([]));
});

describe('queue, webhook, answers, payouts, role', () => {
  it.each([
    ['queue: { url: "redis://r.example" }', ['plainQueue']],
    ['queue: { url: "redis://127.0.0.1?node=r.example:6379" }', ['plainQueue']],
    ['queue: { url: "rediss://r.example" }', []],
    ['queue: { url: "redis://127.0.0.1" }', []],
    ['notify: { webhook: "http://chat.example/x" }', ['plainNotify']],
    ['notify: { deadMansSwitch: "http://chat.example/x" }', ['plainNotify']],
    ['notify: { webhook: "https://chat.example/x", deadMansSwitch: "http://localhost/" }', []],
    [`${REAL}${SERVER}operations: { payout: auto }`, ['unseenPayouts']],
    [`${REAL}${SERVER}operations: { payout: approve }`, []],
    [REAL, ['embeddedDatabase']],
    ['database: { url: embedded }', []],
    ['operations: { payout: auto }', []],
  ])('%s', (text, expected) => expect(names(`${text}\n`)).toEqual(expected));

  it('answers that nobody checks are a risk, those that are only told of a warning', () => {
    expect(names(REAL + SERVER, 'off')).toEqual(['uncheckedAnswers']);
    expect(names(REAL + SERVER, 'warn')).toEqual([]);
    expect(liveWarnings(load(REAL + SERVER, 'warn'))).toEqual([expect.stringContaining('enforce')]);
    expect(liveWarnings(load(REAL + SERVER, 'enforce'))).toEqual([]);
    expect(liveWarnings(load(REAL + SERVER, 'enforce'), true)).toEqual([
      expect.stringContaining('--writer'),
    ]);
  });

  it('libraries that nobody mends are a risk beside a real gateway, else of a warning', () => {
    const [risk, ...others] = liveRisks(load(REAL), false);
    expect([risk?.key, risk?.words, others]).toEqual([
      ...['database.url', expect.stringContaining('OpenSSL'), []],
    ]);
    expect(liveWarnings(load(REAL, 'enforce'))).toEqual([]);
    expect(liveWarnings(load(''))).toEqual([expect.stringContaining('OpenSSL')]);
    const excepted = load(`${REAL}exceptions: { embeddedDatabase: "until the server is there" }\n`);
    expect(liveRisks(excepted, false)).toMatchObject([{ excepted: 'until the server is there' }]);
  });

  it('asks nothing of a test environment', () => {
    write(`${ACCOUNTS}queue: { url: "redis://r.example" }\n`);
    expect(liveRisks(loadConfig({ file, cwd: folder, env: {} }), true)).toEqual([]);
  });
});

describe('an exception', () => {
  const queue = 'queue: { url: "redis://r.example" }\n';
  it('is taken by its name with a reason, and changes nothing of how a run works', () => {
    const plain = load(queue);
    const excepted = load(`${queue}exceptions: { plainQueue: "one rack, one wire" }\n`);
    expect(liveRisks(excepted, false)).toMatchObject([{ excepted: 'one rack, one wire' }]);
    expect(configHash(excepted)).toBe(configHash(plain));
  });

  it.each([
    ['exceptions: { plainQeue: "x" }', /exceptions\.plainQeue: unknown key/],
    ['exceptions: { plainQueue: "" }', /exceptions\.plainQueue: must not be empty/],
    ['exceptions: { plainQueue: true }', /exceptions\.plainQueue: must be text/],
  ])('of no name or no reason is refused: %s', (text, problem) => {
    expect(() => load(`${text}\n`)).toThrow(problem);
  });
});

describe('the program', () => {
  beforeAll(ensureBuilt);
  const run = (...words: string[]) => tieoutHere(words, { cwd: folder, env: {} });

  it('opens nothing on a way that others can read', async () => {
    write(`environment: live\n${ACCOUNTS}database: { url: "postgres://u:p@127.0.0.1:1/t" }
queue: { url: "redis://r.example" }\n`);
    for (const command of ['run', 'start', 'schedule', 'work', 'web', 'send']) {
      const ended = await run(command);
      expect([command, ended.code]).toEqual([command, 2]);
      expect(ended.stderr).toMatch(/queue\.url: .*exceptions: \{ plainQueue: /);
    }
  });

  it('does not work as a superuser, and doctor says so', async () => {
    const database = await freshDatabase();
    try {
      const { connection } = database;
      const url =
        'connectionString' in connection
          ? connection.connectionString
          : `postgres:///${connection.database}?host=${connection.host}&user=${connection.user}`;
      const text = `environment: live\n${ACCOUNTS}database: { url: "${url}" }\n`;
      write(text);
      const refused = await run('run');
      expect(refused.stderr).toContain('database.user: is a superuser');
      expect(refused.code).toBe(2);
      const looked = await run('doctor');
      expect(looked.stdout).toMatch(/PROBLEM {2}live .*superuser/);
      write(`${text}exceptions: { superuser: "a test" }\n`);
      expect((await run('doctor')).stdout).toMatch(/WARNING {2}live .*\(superuser\): a test/);
    } finally {
      await database.drop();
    }
  });
});
