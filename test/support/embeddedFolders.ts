// Data folders for tests of the embedded server, each stopped and removed after its test.

import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/database/db.js';
import type { EmbeddedServer } from '../../src/database/embedded/embedded.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { readPostmaster } from '../../src/database/embedded/postmaster.js';

const folders: string[] = [];

/** An empty folder that any account may pass through. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-embedded-'));
  chmodSync(folder, 0o755);
  return alsoRemove(folder);
}

export function alsoRemove(folder: string): string {
  folders.unshift(folder);
  return folder;
}

export async function removeFolders(): Promise<void> {
  for (const folder of folders.splice(0)) {
    const link = join(folder, 'postgres');
    const data = existsSync(link) ? realpathSync(link) : link;
    if (readPostmaster(data) !== null) await (await start(folder)).stop();
    rmSync(data, { recursive: true, force: true });
    rmSync(`${data}.belongs-to`, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

export function start(dataDir: string): Promise<EmbeddedServer> {
  return startEmbedded({ dataDir, unsafeFast: true });
}

export async function ask(server: EmbeddedServer, sql: string): Promise<object[]> {
  const db = openDatabase(server, { max: 1 });
  try {
    return (await db.query(sql)).rows;
  } finally {
    await db.close();
  }
}

export function pidOf(dataDir: string): number {
  return readPostmaster(realpathSync(join(dataDir, 'postgres')))?.pid ?? 0;
}
