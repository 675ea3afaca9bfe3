// The configuration as docs/CONTRACT.md section 2 prints it: defaults, every key, and what is
// refused with file, key and line.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import { PROFILE_TEMPLATE } from '../../src/config/templates.js';
import { configHash, describeConfig } from '../../src/config/view.js';
import { ConfigurationError } from '../../src/core/errors.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ACCOUNTS = 'accounts: [{ merchantId: "M1", accountId: "A1", signingKey: "s3cret-key" }]\n';
const KEY = ['$', '{KEY}'].join('');

function load(text: string, env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, 'tieout.yaml');
  writeFileSync(file, text);
  return loadConfig({ env, cwd: folder });
}

function failure(text: string, env: NodeJS.ProcessEnv = {}): ConfigurationError {
  try {
    load(text, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const ABOVE = { EUR: 50_000n, JPY: 2_000_000n, KWD: 1_234n };

describe('loadConfig', () => {
  it('fills in every default as the contract prints it', () => {
    const config = load(ACCOUNTS);
    expect(config.environment).toBe('test');
    expect(config.database).toEqual({ kind: 'embedded' });
    expect(config.queue).toEqual({ kind: 'database' });
    expect(config.dataDir).toBe(join(folder, 'var'));
    expect(config.gateway).toMatchObject({ baseUrl: 'sandbox', profileFile: null });
    expect(config.gateway.profile).toEqual(sandboxProfile());
    expect(config.accounts).toEqual([
      {
        merchantId: 'M1',
        accountId: 'A1',
        signingKey: 's3cret-key',
        previousSigningKey: null,
        liveFrom: null,
      },
    ]);
    expect(config.schedule).toEqual({
      cron: '15 4 * * *',
      timezone: 'Europe/Berlin',
      cutOff: '00:00',
      resumeUntil: '06:30',
    });
    expect(config.reconcile).toEqual({
      lookbackDays: 35,
      graceHours: 24,
      tolerance: { below: 0n, above: 0n, partsPerMillion: 0n },
      staleAuthorisationDays: 6,
    });
    const each = <T>(value: T) => ({
      capture: value,
      cancel: value,
      refund: value,
      review: value,
      payout: value,
    });
    expect(config.operations).toEqual({
      mode: each('approve'),
      approveAbove: each(null),
      maxPerRun: each(null),
      preflightMinutes: 30,
      resendAfterHours: null,
    });
    expect(config.reports).toEqual({ dir: join(folder, 'var', 'reports'), keepDays: 3650 });
    expect(config.web).toEqual({
      ...{ host: '127.0.0.1', port: 8080, metricsToken: null },
      ...{ address: null, tls: null, proxies: [], notifications: null },
    });
    expect(config.notify).toMatchObject({ webhook: null, deadMansSwitch: null });
  });

  it('takes a section whose keys are all commented out as its defaults', () => {
    const empty = `${ACCOUNTS}schedule:
reconcile:
  tolerance:
operations: { approveAbove: , maxPerRun: }
reports:
retention:
days:
web:
notify:
  # webhook: https://example.com
`;
    expect(load(empty)).toEqual(load(ACCOUNTS));
  });

  it('reads every key that the contract prints', () => {
    writeFileSync(join(folder, 'p.yaml'), PROFILE_TEMPLATE);
    const config = load(`
environment: live
database: { url: postgres://u:p@db/x }
queue: { url: rediss://:pw@redis:6380 }
dataDir: /data
gateway: { baseUrl: https://gw.example/api/, profile: p.yaml }
accounts:
  - { merchantId: M1, accountId: A1, signingKey: k, liveFrom: "2026-11-01T02:00:00+02:00" }
schedule: { cron: "0 5 * * 1-5", timezone: UTC, cutOff: "04:30", resumeUntil: "07:00" }
reconcile:
  lookbackDays: 10
  graceHours: 1.5
  tolerance: { below: "0.01", above: "1.00", percent: 0.5 }
  staleAuthorisationDays: 3
operations:
  capture: auto
  refund: off
  approveAbove: { refund: { EUR: "500.00", JPY: "20000", KWD: "12.340" } }
  maxPerRun: { refund: { count: 500, amount: { EUR: "20000.00" } }, cancel: { count: 0 } }
  preflightMinutes: 5
  resendAfterHours: 0
reports: { dir: out, keepDays: 7 }
web: { host: 0.0.0.0, port: 0 }
notify: { webhook: https://hook.example/secret-path }
`);
    expect(config.gateway.baseUrl).toBe('https://gw.example/api');
    expect(config.gateway.profileFile).toBe(join(folder, 'p.yaml'));
    expect(config.database).toEqual({ kind: 'url', url: 'postgres://u:p@db/x' });
    expect(config.queue).toEqual({ kind: 'redis', url: 'rediss://:pw@redis:6380' });
    expect(config.accounts[0]?.liveFrom).toEqual(new Date('2026-11-01T00:00:00Z'));
    expect(config.reconcile.tolerance).toEqual({ below: 1n, above: 100n, partsPerMillion: 5000n });
    expect(config.operations.mode).toMatchObject({ capture: 'auto', refund: 'off' });
    expect(config.operations.approveAbove.refund).toEqual(ABOVE);
    expect(config.operations.maxPerRun).toMatchObject({
      refund: { count: 500, amount: { EUR: 2_000_000n } },
      cancel: { count: 0, amount: {} },
    });
    expect(config.operations.resendAfterHours).toBe(0);
    expect(config.reports.dir).toBe(join(folder, 'out'));
  });

  it('is frozen all the way down', () => {
    const config = load(ACCOUNTS);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.operations.mode)).toBe(true);
    expect(Object.isFrozen(config.accounts[0])).toBe(true);
    expect(Object.isFrozen(config.gateway.profile.statuses.payment)).toBe(true);
  });
});

describe('what is refused', () => {
  it.each([
    ['an unknown key', `${ACCOUNTS}reconcile: { lookBackDays: 3 }`, 'reconcile.lookBackDays'],
    ['an unknown top key', `${ACCOUNTS}gatway: {}`, 'gatway'],
    ['an unknown account key', 'accounts: [{ merchantId: M, accountId: A, key: k }]', 'accounts.0'],
    [
      'an unknown operation',
      `${ACCOUNTS}operations: { approveAbove: { pay: {} } }`,
      'approveAbove',
    ],
    ['no accounts', 'environment: test', 'accounts: must be given: a list of accounts'],
    ['an empty list of accounts', 'accounts: []', 'accounts'],
    [
      'an empty signing key',
      'accounts: [{merchantId: M, accountId: A, signingKey: ""}]',
      'signing',
    ],
    ['an unquoted number as id', 'accounts: [{merchantId: M, accountId: 1, signingKey: k}]', 'acc'],
    [
      'an account given twice',
      'accounts: [{merchantId: M, accountId: A, signingKey: k}, {merchantId: N, accountId: A, signingKey: k}]',
      'accounts.1.accountId: A is given twice (line 1)',
    ],
    ['an environment of another name', `${ACCOUNTS}environment: prod`, 'environment'],
    ['an empty database address', `${ACCOUNTS}database: { url: "" }`, 'database.url'],
    // With an embedded database instead of one's own everything would begin anew.
    ['an empty section database', `${ACCOUNTS}database:`, 'database'],
    ['an empty section queue', `${ACCOUNTS}queue:`, 'queue'],
    ['an empty section gateway', `${ACCOUNTS}gateway:`, 'gateway'],
    ['a null database address', `${ACCOUNTS}database: { url: }`, 'database.url'],
    ['a database of another kind', `${ACCOUNTS}database: { url: "mysql://x" }`, 'database.url'],
    ['an empty queue address', `${ACCOUNTS}queue: { url: "" }`, 'queue.url'],
    ['a queue of another kind', `${ACCOUNTS}queue: { url: "amqp://x" }`, 'queue.url'],
    ['an amount without quotes', `${ACCOUNTS}reconcile: {tolerance: {below: 0.01}}`, 'below'],
    ['an amount of three decimals', `${ACCOUNTS}reconcile: {tolerance: {below: "0.001"}}`, 'below'],
    ['a mark in an amount', `${ACCOUNTS}reconcile: {tolerance: {below: "1,000"}}`, 'of yen'],
    ['a percent above 100', `${ACCOUNTS}reconcile: {tolerance: {percent: 101}}`, 'percent'],
    ['a negative duration', `${ACCOUNTS}reconcile: { graceHours: -1 }`, 'graceHours'],
    ['a key that is given twice', `${ACCOUNTS}environment: test\nenvironment: test`, 'environment'],
    ['a broken day', `${ACCOUNTS}reconcile: { lookbackDays: 1.5 }`, 'lookbackDays'],
    ['a clock time', `${ACCOUNTS}schedule: { cutOff: "24:00" }`, 'schedule.cutOff'],
    ['a timezone', `${ACCOUNTS}schedule: { timezone: Mars/Base }`, 'schedule.timezone'],
    ['an offset', `${ACCOUNTS}schedule: { timezone: "+02:00" }`, 'timezone: +02:00 is an'],
    ['a cron line', `${ACCOUNTS}schedule: { cron: "65 4 * * *" }`, 'schedule.cron'],
    ['a mode', `${ACCOUNTS}operations: { refund: yes }`, 'operations.refund'],
    ['a currency', `${ACCOUNTS}operations: { approveAbove: { refund: { eur: "1.00" } } }`, 'eur'],
    ['a port', `${ACCOUNTS}web: { port: 70000 }`, 'web.port'],
    ['no address', `${ACCOUNTS}web: { address: 'javascript:1' }`, 'web.address'],
    ['an address that ends a text', `${ACCOUNTS}web: { address: 'https://a"b' }`, 'web.address'],
    ['a short token', `${ACCOUNTS}web: { metricsToken: tooshort }`, 'web.metricsToken'],
    ['a webhook', `${ACCOUNTS}notify: { webhook: mail@example.com }`, 'notify.webhook'],
    ['a user in the address', `${ACCOUNTS}gateway: {baseUrl: "https://u:p@gw/x"}`, 'baseUrl'],
    ['an address that is none', `${ACCOUNTS}gateway: { baseUrl: "gw" }`, 'gateway.baseUrl'],
    ['a query in the address', `${ACCOUNTS}gateway: {baseUrl: "https://gw/?a=1"}`, 'baseUrl'],
    ['a key twice, once quoted', `${ACCOUNTS}web: { port: 1 }\n"web": {}`, 'web: is given twice'],
    ['a list instead of a map', '- a\n- b', 'tieout.yaml'],
    ['an empty file', '', 'accounts'],
  ])('%s, naming key and file', (_, text, key) => {
    const error = failure(text);
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(join(folder, 'tieout.yaml'));
    expect(error.message).toContain(key);
  });

  it('a wrong key, with its line', () => {
    expect(failure(`${ACCOUNTS}\nweb:\n  host: x\n  prot: 1\n`).message).toContain('(line 5)');
    expect(failure(`accounts:\n  - merchantId: M\n    acountId: A\n`).message).toContain('line');
  });

  it('a key that is missing as missing, not as one of another kind', () => {
    const error = failure('accounts: [{ accountId: A, signingKey: k }]');
    expect(error.message).toContain('accounts.0.merchantId: must be given');
  });

  it('a live gateway over http, unless it is this machine', () => {
    writeFileSync(join(folder, 'p.yaml'), PROFILE_TEMPLATE);
    const live = (address: string) =>
      `${ACCOUNTS}environment: live\ngateway: { baseUrl: "${address}", profile: p.yaml }`;
    expect(failure(live('http://gw.example')).key).toBe('gateway.baseUrl');
    expect(load(live('http://127.0.0.1:8000')).gateway.baseUrl).toBe('http://127.0.0.1:8000');
    expect(load(live('http://[::1]:8000')).gateway.baseUrl).toBe('http://[::1]:8000');
    expect(failure(live('http://127.0.0.1.gw.example')).key).toBe('gateway.baseUrl');
  });

  it('never repeats a value that could be a secret', () => {
    for (const text of [
      'accounts: [{ merchantId: M, accountId: A, signingKey: s3cret-key, signinKey: s3cret-key }]',
      `${ACCOUNTS}database: { url: "psql://u:s3cret-key@db/x" }`,
      `${ACCOUNTS}queue: { url: "http://u:s3cret-key@db/x" }`,
      `${ACCOUNTS}gateway: { baseUrl: "https://u:s3cret-key@gw" }`,
      `accounts: [{ merchantId: M, signingKey: "s3cret-key`,
    ]) {
      expect(failure(text).message).not.toContain('s3cret-key');
    }
  });
});

describe('environment variables', () => {
  const withKey = (reference: string) =>
    `accounts: [{ merchantId: M, accountId: A, signingKey: "${reference}" }]\n`;
  const ref = (inside: string) => `$\{${inside}}`;

  it('fill in references, also inside a text and with a default', () => {
    const key = (text: string, env: NodeJS.ProcessEnv = {}) => load(text, env).accounts[0];
    expect(key(withKey(KEY), { KEY: 'abc' })?.signingKey).toBe('abc');
    expect(key(withKey(`a-${KEY}-b`), { KEY: 'x' })?.signingKey).toBe('a-x-b');
    expect(key(withKey(ref('KEY:-dflt')))?.signingKey).toBe('dflt');
    expect(key(withKey(ref('KEY:-dflt')), { KEY: '' })?.signingKey).toBe('dflt');
    expect(key(withKey(ref('KEY:-dflt')), { KEY: '0042' })?.signingKey).toBe('0042');
  });

  it('fill in numbers', () => {
    expect(load(`${ACCOUNTS}web: { port: "${ref('PORT')}" }`, { PORT: '9090' }).web.port).toBe(
      9090,
    );
  });

  it('cannot add keys or further references', () => {
    const value = `k", "liveFrom": "2020-01-01T00:00:00Z ${KEY}`;
    expect(load(withKey(KEY), { KEY: value }).accounts[0]?.signingKey).toBe(value);
  });

  it.each([
    ['missing', {}],
    ['empty', { KEY: '' }],
  ])('stop when %s, naming variable and key', (_, env) => {
    const error = failure(withKey(KEY), env);
    expect(error.message).toContain('KEY');
    expect(error.key).toBe('accounts.0.signingKey');
  });

  it.each([...['', '1X', 'A-b', ' A '].map(ref), ref('A').slice(0, -1)])(
    'a reference %s is refused',
    (text) => {
      expect(failure(withKey(text)).key).toBe('accounts.0.signingKey');
    },
  );

  it('are not looked up on the prototype', () => {
    expect(failure(withKey(ref('constructor'))).message).toContain('is not set');
  });
});

describe('where the configuration is found', () => {
  it('by --config, else TIEOUT_CONFIG, else ./tieout.yaml', () => {
    const [a, b] = ['a.yaml', 'b.yaml'].map((name) => join(folder, name)) as [string, string];
    for (const file of [a, b, join(folder, 'tieout.yaml')]) writeFileSync(file, ACCOUNTS);
    const env = { TIEOUT_CONFIG: 'b.yaml' };
    expect(loadConfig({ file: 'a.yaml', env, cwd: folder }).file).toBe(a);
    expect(loadConfig({ env, cwd: folder }).file).toBe(b);
    expect(loadConfig({ env: {}, cwd: folder }).file).toBe(join(folder, 'tieout.yaml'));
  });

  it('says how to begin when there is none', () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    expect(() => loadConfig({ env: {}, cwd: empty })).toThrow(/tieout init.*tieout demo/);
    expect(() => loadConfig({ file: 'x.yaml', env: {}, cwd: empty })).toThrow(/x\.yaml.*not exist/);
  });
});

describe('secrets', () => {
  const text = `
database: { url: "postgres://u:db-pass@h/x?sslpassword=db-pass" }
queue: { url: "redis://:redis-pass@h" }
notify: { webhook: "https://hook/hook-secret", deadMansSwitch: "https://u:p%40ss-word@x/ping-secret?k=1" }
web: { metricsToken: the-metrics-token }
${ACCOUNTS}`;

  it('are read by code and never printed', () => {
    const config = load(text);
    expect(config.accounts[0]?.signingKey).toBe('s3cret-key');
    const prints = [
      JSON.stringify(config, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      inspect(config, { depth: 10 }),
      inspect(config, { depth: 10, showHidden: true }),
      inspect(config.accounts),
      JSON.stringify(config.accounts),
      `${config.database}`,
      JSON.stringify(describeConfig(config)),
    ];
    for (const print of prints) {
      expect(print).not.toMatch(
        /s3cret-key|db-pass|redis-pass|hook-secret|ping-secret|metrics-token/,
      );
    }
    expect(describeConfig(config)).toMatchObject({
      queue: { kind: 'redis', url: 'redis://:***@h' },
      notify: { webhook: '***', deadMansSwitch: '***' },
      web: { host: '127.0.0.1', metricsToken: '***' },
      accounts: [{ accountId: 'A1', signingKey: '***' }],
    });
  });

  it('that are being changed are kept apart as well, and decide nothing of a night', () => {
    const config = load(ACCOUNTS.replace('signingKey', 'previousSigningKey: before, signingKey'));
    expect(config.accounts[0]?.previousSigningKey).toBe('before');
    expect(hidingSecrets(config)(`a ${JSON.stringify(config.accounts)} before`)).not.toMatch('bef');
    expect(configHash(config)).toBe(configHash(load(ACCOUNTS)));
  });
  it('are taken out of any text, however they are spelled', () => {
    const hide = hidingSecrets(load(text));
    const secrets = [
      's3cret-key',
      'db-pass',
      'redis-pass',
      'the-metrics-token',
      'p%40ss-word',
      'p@ss-word',
    ];
    const paths = [
      'https://hook/hook-secret',
      '/hook-secret',
      '/ping-secret?k=1',
      '%2Fping-secret%3Fk%3D1',
    ];
    for (const secret of [...secrets, ...paths]) {
      expect(hide(`before ${secret} after ${secret}.`)).toBe('before *** after ***.');
    }
    expect(hide('postgres://u:db-pass@h')).toBe('postgres://u:***@h');
    expect(hide('nothing of it')).toBe('nothing of it');
  });

  it('of how long reservations hold stand by account, and decide nothing of a night', () => {
    const given = (rule: string) => ACCOUNTS.replace('" }]', `", authorisation: ${rule} }]`);
    const config = load(given('{ validHours: "168" }'));
    expect(config.authorisations).toEqual({ A1: { validHours: 168, warnHours: 24 } });
    expect(config.accounts).toEqual(load(ACCOUNTS).accounts);
    expect(load(ACCOUNTS).authorisations).toEqual({});
    expect(configHash(config)).toBe(configHash(load(ACCOUNTS)));
    const { message } = failure(given('{ warnHours: 1 }'));
    expect(message).toContain('accounts.0.authorisation.validHours');
    expect(failure(given('{ validHours: 0 }')).message).toContain('validHours');
  });

  it('do not change the hash of the settings, every setting does', () => {
    const hash = configHash(load(text));
    expect(configHash(load(text.replace('s3cret-key', 'another')))).toBe(hash);
    expect(configHash(load(`${text}reconcile: { graceHours: 25 }`))).not.toBe(hash);
    expect(configHash(load(`${text}environment: live`))).not.toBe(hash);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });
});
