// The settings as a run keeps them: their hash stays what it was for the same settings, since what
// was planned by another one is compared anew, and what decides nothing of a night is not in it.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { configHash } from '../../src/config/view.js';
import { EVERY_KEY, everyKeyFolder } from '../support/everyKey.js';

const folder = everyKeyFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function hashOf(text: string, env: NodeJS.ProcessEnv = {}): string {
  writeFileSync(join(folder, 'tieout.yaml'), text);
  return configHash(loadConfig({ env, cwd: folder }));
}

const FEW = `gateway: { baseUrl: "https://gateway.example", profile: profile.yaml }
accounts: [{ merchantId: "M1", accountId: "A1", signingKey: "k" }]
`;

describe('the hash of the settings', () => {
  // Another one after an upgrade has every account compared with the settings of before, once.
  it.each([
    ['few keys', FEW, 'b45b054296ed410dfbdbebfa6947c11407fb33b71bc0aa6c33d702c06d2ba004'],
    ['every key', EVERY_KEY, 'e9f5fbe020d0c41fa140df342128e41560e90340abf1d102d4c0eac934b33b21'],
  ])('of %s is what it was in the versions before', (_, text, hash) => {
    expect(hashOf(text)).toBe(hash);
  });

  it.each([
    ['dataDir', 'dataDir: ./data', 'dataDir: ./other'],
    ['gateway.profile', 'profile: profile.yaml', 'profile: ./maps/../profile.yaml'],
    ['previousSigningKey', 'previousSigningKey: before', 'previousSigningKey: null'],
    ['authorisation', 'validHours: 168', 'validHours: 24'],
    ['reports', 'keepDays: 30', 'keepDays: 31'],
    ['settlement.inbox', 'inbox: in', 'inbox: other'],
    ['settlement.files', 'files: [{ match: "s_*.csv", map: maps/acquirer.yaml }]', 'files: []'],
    ['days', 'secondPerson: true', 'secondPerson: false'],
    ['breaks', 'dueDays: 3', 'dueDays: 4'],
    ['decisions', 'decisions: {', 'decisions: { publicKeys: [],'],
    ['web.address', 'address: "https://console.example"', 'address: null'],
    ['web.tls', 'tls: { cert: cert.pem, key: key.pem }', 'tls: null'],
    ['web.proxies', 'proxies: [127.0.0.1]', 'proxies: []'],
    ['web.notifications', 'from: ["192.0.2.0/24"]', 'from: []'],
    ['notify.webhookKey', 'webhookKey: a-key-of-the-webhook', 'webhookKey: null'],
    ['notify.security', 'security: true', 'security: false'],
    ['notify.heads', 'heads: true', 'heads: false'],
    ['exceptions', 'plainQueue: "one rack, one wire"', 'superuser: "for a day"'],
  ])('is the same whatever %s is', (_, given, other) => {
    expect(EVERY_KEY.split(given)).toHaveLength(2);
    expect(hashOf(EVERY_KEY.replace(given, other))).toBe(hashOf(EVERY_KEY));
  });

  it('is the same whatever proxy leads to the gateway', () => {
    expect(hashOf(FEW, { HTTPS_PROXY: 'http://proxy:3128' })).toBe(hashOf(FEW));
  });
});
