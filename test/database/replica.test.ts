// A server that takes no writes, as the standby to which an address leads for a moment while another
// one is promoted: it is away, says so, and there once it is promoted.

import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseAwayError } from '../../src/core/errors.js';
import { openClient } from '../../src/database/connection.js';
import { isThere, openDatabase } from '../../src/database/db.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { prepareData } from '../support/preparedData.js';

it('a replica is a database that is away, until it is promoted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-replica-'));
  // The server has an account of its own.
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'server');
  prepareData(dataDir);
  await (await startEmbedded({ dataDir, unsafeFast: true })).stop();
  writeFileSync(join(realpathSync(join(dataDir, 'postgres')), 'standby.signal'), '');
  const { host, user, database, stop } = await startEmbedded({ dataDir, unsafeFast: true });
  onTestFinished(() => stop());
  const connection = { host, user, database };
  const db = openDatabase(connection);
  onTestFinished(() => db.close());
  const says = 'it takes no writes: is it a replica? database.url has to lead to the primary';
  expect(await isThere(db)).toBe(false);
  for (const work of [
    () => db.query('create table scratch (thing int)'),
    () => db.transaction((tx) => tx.query('select 1')),
    () => db.durably((tx) => tx.query('select 1')),
  ]) {
    const failure = await work().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseAwayError);
    expect((failure as Error).message).toContain(`cannot be used: ${says}`);
  }
  const client = await openClient(connection);
  await client.query('select pg_promote()');
  await client.end();
  expect(await isThere(db)).toBe(true);
  await db.transaction((tx) => tx.query('create table scratch (thing int)'));
});
