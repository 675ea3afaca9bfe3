// The console's own certificate: `tieout doctor` looks at its files and dates before `web` and
// `start` do, and these say so where no browser takes it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { certificateChecks } from '../../src/cli/setup/checks/certificateCheck.js';
import { loadConfig } from '../../src/config/config.js';
import { EXPIRED, LOCALHOST, type TestCertificate } from '../gateway/certificates.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-certificate-'));
const env = { KEY_A1001: 'k' };
const cert = join(folder, 'cert.pem');
const ENDED = new Date('2025-11-10T00:00:00Z');
const DAY_MS = 86_400_000;

beforeAll(ensureBuilt);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function install(certificate: TestCertificate): void {
  writeFileSync(cert, certificate.cert);
  writeFileSync(join(folder, 'key.pem'), certificate.key, { mode: 0o600 });
}

/** An account, and the console with that certificate. */
function settings(): string {
  const file = join(folder, 'tls.yaml');
  writeFileSync(
    file,
    [
      `accounts: [{ merchantId: "M1001", accountId: "A1001", signingKey: "\${KEY_A1001}" }]`,
      'web: { port: 0, tls: { cert: cert.pem, key: key.pem } }',
    ].join('\n'),
    { mode: 0o600 },
  );
  return file;
}

async function doctor(): Promise<{ code: number | null; check: unknown }> {
  const words = ['doctor', '--json', '--config', settings()];
  const { stdout, code } = await tieoutHere(words, { cwd: folder, env });
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  return { code, check: checks.find(({ name }) => name === 'web.tls') };
}

it('is a problem for doctor where a file is missing, or is of no use', async () => {
  const words = expect.stringMatching(/cert\.pem and .*key\.pem are of no use.*does not start/);
  expect(await doctor()).toEqual({ code: 1, check: { name: 'web.tls', kind: 'problem', words } });
  install({ cert: LOCALHOST.cert, key: EXPIRED.key });
  expect(await doctor()).toEqual({ code: 1, check: { name: 'web.tls', kind: 'problem', words } });
});

it('is a problem once it has expired, and told 14 days before', async () => {
  install(EXPIRED);
  const expired = `${cert} expired at ${ENDED.toISOString()}: no browser takes it`;
  const words = expect.stringContaining(expired);
  expect(await doctor()).toEqual({ code: 1, check: { name: 'web.tls', kind: 'problem', words } });
  const config = loadConfig({ env, cwd: folder, file: settings() });
  const daysBefore = (days: number) => new Date(ENDED.getTime() - days * DAY_MS);
  const kindAt = (at: Date) => certificateChecks(config, at).map(({ kind }) => kind);
  expect(kindAt(daysBefore(15))).toEqual(['ok']);
  expect(kindAt(daysBefore(13))).toEqual(['warning']);
  expect(kindAt(daysBefore(400))).toEqual(['problem']);
  writeFileSync(cert, `${LOCALHOST.cert}\n${EXPIRED.cert}\n`);
  writeFileSync(join(folder, 'key.pem'), LOCALHOST.key);
  expect(await doctor()).toMatchObject({ code: 1, check: { words } });
  install(LOCALHOST);
  expect(await doctor()).toMatchObject({ check: { kind: 'ok' } });
});

it('is said by `web` where no browser takes it', { timeout: 60_000 }, async () => {
  install(EXPIRED);
  const web = startTieout(['web', '--config', settings()], { cwd: folder, env });
  onTestFinished(async () => {
    web.signal('SIGTERM');
    await web.ended;
  });
  await web.says('the console is at https://');
  await web.says(`web.tls: ${cert} expired at`);
});
