// What `tieout init` writes loads as it stands, means the defaults, and never replaces a file.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeInitialFiles } from '../../src/cli/setup/init.js';
import { loadConfig } from '../../src/config/config.js';
import { PROFILE_TEMPLATE, renderConfig } from '../../src/config/templates.js';
import { configHash } from '../../src/config/view.js';
import { ConfigurationError } from '../../src/core/errors.js';
import {
  parseProfile,
  profileOrigins,
  sandboxProfile,
} from '../../src/gateway/document/profile.js';

const root = mkdtempSync(join(tmpdir(), 'tieout-init-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = () => mkdtempSync(join(root, 'f-'));
const env = { KEY_A1001: 'a key' };

describe('tieout init', () => {
  it('writes a configuration that loads once the key is in the environment', () => {
    const cwd = folder();
    const files = writeInitialFiles({ cwd });
    expect(files).toEqual([join(cwd, 'tieout.yaml'), join(cwd, 'gateway-profile.yaml')]);
    expect(() => loadConfig({ cwd, env: {} })).toThrow(/KEY_A1001/);
    expect(loadConfig({ cwd, env }).accounts[0]).toMatchObject({ signingKey: 'a key' });
  });

  it('writes the defaults: the file means the same as one with nothing but its account', () => {
    const cwd = folder();
    writeInitialFiles({ cwd });
    writeFileSync(
      join(cwd, 'bare.yaml'),
      'accounts: [{ merchantId: M1001, accountId: A1001, signingKey: k }]',
    );
    const written = configHash(loadConfig({ cwd, env }));
    expect(written).toBe(configHash(loadConfig({ cwd, env, file: 'bare.yaml' })));
  });

  it('writes a profile that says the sandbox out loud, every key of it', () => {
    const cwd = folder();
    const [, profile = ''] = writeInitialFiles({ cwd });
    const text = readFileSync(profile, 'utf8');
    expect(parseProfile(text, profile)).toEqual(sandboxProfile());
    const origins = profileOrigins(text, profile);
    expect(origins.filter(({ isGiven }) => !isGiven)).toEqual([]);
    // None of it is the merchant's word yet.
    expect(origins.filter(({ origin }) => origin === 'file')).toEqual([]);
    const changed = profileOrigins(text.replace('timeoutMs: 30000', 'timeoutMs: 31000'), profile);
    const own = changed.filter(({ origin }) => origin === 'file');
    expect(own.map(({ key }) => key)).toEqual(['limits.timeoutMs']);
  });

  it.each(['tieout.yaml', 'gateway-profile.yaml'])('leaves an existing %s alone', (name) => {
    const cwd = folder();
    writeFileSync(join(cwd, name), 'mine');
    expect(() => writeInitialFiles({ cwd })).toThrow(ConfigurationError);
    expect(() => writeInitialFiles({ cwd })).toThrow(join(cwd, name));
    expect(readFileSync(join(cwd, name), 'utf8')).toBe('mine');
    const other = name === 'tieout.yaml' ? 'gateway-profile.yaml' : 'tieout.yaml';
    expect(existsSync(join(cwd, other))).toBe(false);
  });

  it('names a folder that does not exist', () => {
    expect(() => writeInitialFiles({ cwd: root, file: 'no/such/t.yaml' })).toThrow(/no.such/);
  });
});

describe('renderConfig', () => {
  it('gives back every value that it was handed', () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'p.yaml'), PROFILE_TEMPLATE);
    const text = renderConfig({
      environment: 'test',
      databaseUrl: 'postgres://u:p@h/d',
      queueUrl: 'redis://h',
      dataDir: './data "x"',
      baseUrl: 'http://127.0.0.1:9',
      profile: './p.yaml',
      accounts: [
        { merchantId: '001', accountId: 'A: #1', signingKey: 'k"\\', liveFrom: null },
        { merchantId: 'M', accountId: 'B', signingKey: 'k', liveFrom: '2026-11-01T00:00:00Z' },
      ],
      cron: '0 3 * * *',
      timezone: 'UTC',
      cutOff: '06:00',
      resumeUntil: '09:00',
      lookbackDays: 7,
      graceHours: 0,
      modes: { capture: 'auto', refund: 'off' },
      reportsDir: './out',
      webPort: 1234,
    });
    writeFileSync(join(cwd, 'tieout.yaml'), text);
    const config = loadConfig({ cwd, env: {} });
    expect(config).toMatchObject({
      database: { url: 'postgres://u:p@h/d' },
      queue: { url: 'redis://h' },
      dataDir: join(cwd, 'data "x"'),
      gateway: { baseUrl: 'http://127.0.0.1:9', profileFile: join(cwd, 'p.yaml') },
      accounts: [
        { merchantId: '001', accountId: 'A: #1', signingKey: 'k"\\', liveFrom: null },
        { accountId: 'B', liveFrom: new Date('2026-11-01T00:00:00Z') },
      ],
      schedule: { cron: '0 3 * * *', timezone: 'UTC', cutOff: '06:00', resumeUntil: '09:00' },
      reconcile: { lookbackDays: 7, graceHours: 0 },
      operations: { mode: { capture: 'auto', refund: 'off', cancel: 'approve' } },
      reports: { dir: join(cwd, 'out') },
      web: { port: 1234 },
    });
  });
});
