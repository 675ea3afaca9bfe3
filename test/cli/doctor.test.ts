// `tieout doctor` on a new installation: it makes nothing, takes nothing for the merchant's word that
// only stands in the file that `tieout init` wrote, and warns where nobody is told. After a night
// without orders, and one without a history, it and the summary say so.

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roomChecks } from '../../src/cli/setup/checks/fileChecks.js';
import { loadConfig } from '../../src/config/config.js';
import { OF_STATEMENTS } from '../../src/config/settlement.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import { textOf } from '../support/sourceFiles.js';

const folder = mkdtempSync(join(tmpdir(), 'tieout-doctor-'));
const env = { KEY_A1001: 'k' };
const run = (...words: string[]) => tieoutHere(words, { cwd: folder, env });
beforeAll(ensureBuilt);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Doctor {
  checks: { name: string; kind: string; words: string }[];
  profile: { key: string; origin: string }[];
}

async function doctor(): Promise<Doctor & { code: number | null }> {
  const { stdout, code } = await run('doctor', '--json');
  return { ...(JSON.parse(stdout) as Doctor), code };
}

describe('doctor after init', () => {
  it('makes no file, no folder and no database', async () => {
    expect((await run('init')).code).toBe(0);
    const file = join(folder, 'tieout.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('profile: "sandbox"', 'profile: ./gateway-profile.yaml'));
    const before = readdirSync(folder);
    const found = await doctor();
    expect(found.code).toBe(0);
    expect(readdirSync(folder)).toEqual(before);
    expect(existsSync(join(folder, 'var'))).toBe(false);
    expect(found.checks.find(({ name }) => name === 'database')?.words).toContain('not there yet');
  });

  it('says of no untouched key that somebody set it', async () => {
    const { profile } = await doctor();
    expect(profile.length).toBeGreaterThan(30);
    expect(profile.filter(({ origin }) => origin === 'set by you')).toEqual([]);
  });

  it('says what is the same of very many accounts in one line, and each in its JSON', async () => {
    const many = mkdtempSync(join(tmpdir(), 'tieout-doctor-'));
    try {
      const accounts = Array.from({ length: 400 }, (_, at) => {
        return { merchantId: 'M1', accountId: `S${at + 1}`, signingKey: 'k' };
      });
      const settings = { environment: 'test', accounts, gateway: { profile: 'sandbox' } };
      writeFileSync(join(many, 'tieout.yaml'), JSON.stringify(settings));
      const { stdout } = await tieoutHere(['doctor'], { cwd: many });
      const [checks = ''] = stdout.split('Gateway profile');
      expect(checks.match(/only observed/g)).toHaveLength(1);
      expect(checks).toMatch(
        /WARNING +account +400 accounts \(S1, S2, S3, S4, S5 and 395 more\), such as S1: only obs/,
      );
      const { stdout: json } = await tieoutHere(['doctor', '--json'], { cwd: many });
      expect(json.match(/only observed/g)).toHaveLength(400);
    } finally {
      rmSync(many, { recursive: true, force: true });
    }
  });

  it('warns that nobody is told', async () => {
    const { checks } = await doctor();
    expect(checks.find(({ name }) => name === 'alerts')).toMatchObject({ kind: 'warning' });
  });
});

describe('keys that nothing reads yet', () => {
  it('are told where one is set, and said to be so where they are described', async () => {
    const text = readFileSync(join(folder, 'tieout.yaml'), 'utf8');
    const found = async (section: string) => {
      writeFileSync(join(folder, 'tieout.yaml'), `${text}settlement: ${section}\n`);
      return (await doctor()).checks.filter(({ name }) => name === 'settlement');
    };
    expect(await found('{ from: "2026-11-01", arriveDays: 3, settleDays: 1 }')).toEqual([]);
    expect(await found('{ from: "2026-11-01", arriveDays: 2, counterparty: "^ACQ" }')).toEqual([
      {
        name: 'settlement',
        kind: 'warning',
        words: 'nothing reads arriveDays, counterparty yet: statements of the bank are not taken',
      },
    ]);
    writeFileSync(join(folder, 'tieout.yaml'), text);
    for (const key of OF_STATEMENTS) {
      expect(textOf('docs/CONFIGURATION.md')).toMatch(
        new RegExp(`^\\| \`settlement.${key}\` .* nothing reads it yet`, 'm'),
      );
      expect(text.split('nothing reads these four')[1]).toContain(`#   ${key}: `);
    }
  });
});

describe('files that name money and keys', () => {
  const file = join(folder, 'tieout.yaml');
  const filesIn = (found: Doctor) => found.checks.filter(({ name }) => name === 'files');

  it('are for the owner alone as init makes them, and doctor says where not', async () => {
    expect(filesIn(await doctor())).toEqual([]);
    const cases = [
      [0o644, 'read'],
      [0o606, 'write'],
    ] as const;
    for (const [mode, may] of cases) {
      chmodSync(file, mode);
      const words = expect.stringContaining(`${file}: every account of this machine may ${may} it`);
      expect(filesIn(await doctor())).toEqual([{ name: 'files', kind: 'warning', words }]);
    }
    chmodSync(file, 0o600);
  });

  it('are so under any umask: what a night keeps, and its workbooks', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'tieout-umask-'));
    try {
      const loose = { cwd, env, prefix: ['sh', '-c', 'umask 0; exec "$@"', 'sh'] };
      expect((await tieout(['init'], loose)).code).toBe(0);
      expect((await tieout(['run'], loose)).code).toBe(0);
      const kept = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
      // The server's own, which it keeps to itself; its programs are everybody's.
      const ours = kept.filter((path) => !/^var\/postgres(-|\/|$)/.test(path));
      expect(ours.some((path) => path.endsWith('.xlsx'))).toBe(true);
      const open = ours.filter((path) => (statSync(join(cwd, path)).mode & 0o066) !== 0);
      // A lock says who has it to whoever else comes.
      expect(open.filter((path) => !path.endsWith('.lock'))).toEqual([]);
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  });
});

describe('the disk', () => {
  it('is looked at where a night writes, each file system once', async () => {
    const { checks } = await doctor();
    const rooms = checks.filter(({ name }) => name === 'room');
    expect(rooms).toEqual([
      expect.objectContaining({ words: expect.stringMatching(/^(only )?\d+ MB/) }),
    ]);
    expect(rooms[0]?.words).toContain(`free for dataDir, reports.dir (${folder})`);
  });

  it('that is nearly full, or full, is told with what then stands still', () => {
    const config = loadConfig({ env, cwd: folder });
    const much = Number.MAX_SAFE_INTEGER;
    const words = expect.stringMatching(/^only .*: without room nothing is sent, and no workbook/);
    expect(roomChecks(config, { scarce: much, none: 0 })).toEqual([
      { name: 'room', kind: 'warning', words },
    ]);
    expect(roomChecks(config, { scarce: much, none: much })).toEqual([
      { name: 'room', kind: 'problem', words },
    ]);
  });
});

describe('a night without a single order', () => {
  it('is no "tied out: 0 orders": the sentence, the account and doctor say it', async () => {
    const { stdout, code } = await run('run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/compared NOTHING; not a single order of A1001 in the ledger\./);
    expect(stdout).toContain('Account A1001: NO ORDERS in the ledger');
    expect(stdout).toContain('tieout import orders FILE');
    expect(stdout).not.toContain('tied out');
    expect((await run('status')).stdout).toContain('compared NOTHING');
    const { checks } = await doctor();
    expect(checks.find(({ name }) => name === 'ledger A1001')).toMatchObject({ kind: 'warning' });
    // The night itself is the history that an account needs.
    expect(checks.filter(({ name }) => name.startsWith('history'))).toEqual([]);
  });
});

describe('a database that knows no earlier run', () => {
  it('keeps instructions back: no approval is asked for that would not help', async () => {
    const other = join(folder, 'lost');
    const demo = await tieoutHere(['demo', '--orders', '120', '--config', `${other}.yaml`], {
      cwd: folder,
    });
    expect(demo.code).toBe(0);
    const file = `${other}.yaml`;
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text
        .replace(/var-lost/g, 'var-found')
        .replace(/liveFrom: "[^"]*"/g, 'liveFrom: "2026-01-01T00:00:00Z"'),
    );
    // A new database, the ledger filled by the demo that goes on.
    const again = await tieoutHere(['demo', '--orders', '120', '--config', file], { cwd: folder });
    expect(again.stdout).toMatch(/instructions? kept back \(this database knows no earlier run/);
    expect(again.stdout).not.toMatch(/waiting for approval|held for a person/);
    expect(again.stdout).toContain('set liveFrom to the time from which tieout is to act');
    expect(again.stdout).toMatch(/of these \d+ kept back/);
    // A night that ties out has to end with it: the one state in which the database may be lost.
    expect(again.stdout).toMatch(
      /; sending is stopped for accounts A1001 and A1002: restore the database, /,
    );
    const status = await tieoutHere(['status', '--config', file], { cwd: folder });
    expect(status.stdout).toContain(
      'kept back (this database knows no earlier run of A1001 and A1002)',
    );
    const found = await tieoutHere(['doctor', '--config', file], { cwd: folder });
    expect(found.stdout).toMatch(/PROBLEM {2}history A1001 .*Restore the database/);
    expect(found.code).toBe(1);
  }, 120_000);
});
