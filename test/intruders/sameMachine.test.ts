// An intruder with another account of the same machine, beside an installation that root made with
// the embedded server: he finds no file to read, no server to speak to, no place to put anything.

import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeBackupKey } from '../../src/backup/backupKey.js';
import { openClient } from '../../src/database/connection.js';
import type { EmbeddedServer } from '../../src/database/embedded/embedded.js';
import { tieoutHere } from '../support/cliHere.js';
import { ask, newFolder, removeFolders, start } from '../support/embeddedFolders.js';

const STRANGER = 12_345;

let home: string;
let server: EmbeddedServer;
const at = (...path: string[]): string => join(home, ...path);

/** What the intruder is told; what he got where nobody kept him from it. */
async function asStranger(work: () => unknown): Promise<unknown> {
  process.seteuid?.(STRANGER);
  try {
    return await work();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : String(error);
  } finally {
    process.seteuid?.(0);
  }
}

describe.runIf(process.getuid?.() === 0)('another account of the machine', () => {
  beforeAll(async () => {
    home = newFolder();
    const umask = process.umask(0);
    try {
      expect((await tieoutHere(['init'], { cwd: home, env: { KEY_A1001: 'k' } })).code).toBe(0);
      server = await start(at('var'));
      makeBackupKey(at('backup.key'));
    } finally {
      process.umask(umask);
    }
  });
  afterAll(async () => {
    await server.stop();
    await removeFolders();
  });

  test.each<[string, () => unknown]>([
    ['reads the configuration', () => readFileSync(at('tieout.yaml'))],
    ['reads the key of the backups', () => readFileSync(at('backup.key'))],
    ['lists the data', () => readdirSync(at('var'))],
    ['lists the database', () => readdirSync(at('var', 'postgres'))],
    ['reads its log', () => readFileSync(at('var', 'postgres.log'))],
    ['lets himself in', () => writeFileSync(at('var', 'postgres', 'pg_hba.conf'), 'local all')],
    ['puts a link beside it', () => symlinkSync('/etc', at('var', 'journal'))],
    ['gives a file a second name', () => linkSync(at('tieout.yaml'), at('var', 'mine'))],
  ])('%s: refused', async (_what, work) => {
    expect(await asStranger(work)).toMatch(/^(EACCES|EPERM)$/);
  });

  test('speaks to the server: refused, and it serves its owner on', async () => {
    const refused = await asStranger(async () => {
      const client = await openClient({
        ...{ host: server.host, user: server.user, database: 'postgres' },
      });
      await client.end();
      return 'let in';
    });
    expect(String(refused)).not.toBe('let in');
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});
