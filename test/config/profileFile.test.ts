// Which profile goes with which gateway (docs/CONTRACT.md section 3): the sandbox's own needs nothing
// of the merchant, any other one a file in which signing and statuses are given.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import { tokensIn } from '../../src/config/secrets.js';
import { ConfigurationError } from '../../src/core/errors.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-profile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ACCOUNTS = 'accounts: [{ merchantId: "M1", accountId: "A1", signingKey: "s3cret-key" }]\n';

function load(text: string) {
  writeFileSync(join(folder, 'tieout.yaml'), text);
  return loadConfig({ env: {}, cwd: folder });
}

function failure(text: string): ConfigurationError {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('what is refused', () => {
  it('a profile of the sandbox against a real gateway, naming signing and statuses', () => {
    const error = failure(`${ACCOUNTS}gateway: { baseUrl: "https://gw.example" }`);
    expect(error.key).toBe('gateway.profile');
    expect(error.message).toMatch(/signing.*statuses/);
  });

  it('a profile file without signing, naming the profile file', () => {
    writeFileSync(join(folder, 'thin.yaml'), 'statuses: { payment: { "1": captured } }\n');
    const error = failure(
      `${ACCOUNTS}gateway: { baseUrl: "https://gw.example", profile: thin.yaml }`,
    );
    expect(error.message).toContain(join(folder, 'thin.yaml'));
    expect(error.key).toBe('signing');
  });

  it('a profile file that does not exist', () => {
    const error = failure(
      `${ACCOUNTS}gateway: { baseUrl: "https://gw.example", profile: no.yaml }`,
    );
    expect(error.message).toContain(`${join(folder, 'no.yaml')} does not exist`);
    expect(error).toMatchObject({ file: join(folder, 'tieout.yaml'), key: 'gateway.profile' });
  });

  it('a profile file without signing on this machine, which may be any gateway', () => {
    writeFileSync(join(folder, 'thin.yaml'), 'partialCapture: true\n');
    const at = 'gateway: { baseUrl: "http://127.0.0.1:4010", profile: thin.yaml }';
    expect(failure(`${ACCOUNTS}${at}`).key).toBe('signing');
  });
});

describe('against the sandbox', () => {
  it('a profile file needs neither signing nor statuses: both have their defaults', () => {
    writeFileSync(join(folder, 'thin.yaml'), 'partialCapture: true\n');
    const { profile } = load(`${ACCOUNTS}gateway: { profile: thin.yaml }`).gateway;
    expect(profile).toEqual({ ...sandboxProfile(), partialCapture: true });
  });

  it('one started by hand is used with the profile of the sandbox', () => {
    const config = load(`${ACCOUNTS}gateway: { baseUrl: "http://127.0.0.1:4010" }`);
    expect(config.gateway).toMatchObject({ baseUrl: 'http://127.0.0.1:4010', profileFile: null });
  });
});

describe('a token in a header', () => {
  const TOKEN = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
  const headers = {
    'X-Signature': '{signature}',
    Authorization: 'Bearer {key}',
    'X-Api-Key': TOKEN,
    'X-Both': `Bearer ${TOKEN}:{merchantId}`,
    'X-Version': '2026-11-28',
  };
  const own = { 'X-Api-Key': '***', 'X-Both': '***', 'X-Version': '***' };

  it('is used, and shown nowhere', () => {
    const profile = JSON.stringify({
      signing: { headers },
      statuses: { payment: { '1': 'captured' } },
    });
    writeFileSync(join(folder, 'headers.yaml'), profile);
    const config = load(
      `${ACCOUNTS}gateway: { baseUrl: "https://gw.example", profile: headers.yaml }`,
    );
    const given = config.gateway.profile.signing.headers;
    expect({ ...given }).toEqual(headers);
    expect(JSON.parse(JSON.stringify(config.gateway.profile)).signing.headers).toEqual({
      ...headers,
      ...own,
    });
    expect(inspect(config.gateway.profile, { depth: 9 })).not.toContain(TOKEN);
    const hide = hidingSecrets(config);
    expect(hide(`at 2026-11-28 with ${TOKEN}, Bearer`)).toBe('at 2026-11-28 with ***, Bearer');
  });
});

it.each([
  ['Basic dXNlcjpwYXNz', ['dXNlcjpwYXNz']],
  ['Token 4815162342', ['4815162342']],
  ['sk_live_51H8x', ['sk_live_51H8x']],
  ['Bearer {key}', []],
  ['2026-11', []],
  ['demoshop01', []],
  ['gw2.acme2024.example', []],
])('of the header %s no log tells %j', (value, tokens) => {
  const said = ['demoshop01', 'https://gw2.acme2024.example/api'];
  expect([...new Set(tokensIn(value, said))]).toEqual(tokens);
});
