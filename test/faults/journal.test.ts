// The journal of permits: what it knows and the database does not stops all sending until a person
// lets it go; without a line on disk nothing leaves; an answer outlives the database being away.

import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { brakeStatus, letBrakeGo } from '../../src/brake/brake.js';
import { openDatabase } from '../../src/database/db.js';
import type { EmbeddedServer } from '../../src/database/embedded/embedded.js';
import { startEmbedded } from '../../src/database/embedded/embedded.js';
import { migrateUp } from '../../src/database/migrate.js';
import { activeBrakes } from '../../src/send/batches/sendingStatusStore.js';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { sendBatch } from '../../src/send/sendBatch.js';
import { openGuard } from '../support/guards.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, instructionCounts, kinds } from '../support/night.js';
import { prepareRun } from './preparedRun.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function houseOf(options: HouseOptions = {}): Promise<House> {
  const house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    ...options,
  });
  cleanups.push(() => house.end());
  return house;
}

const journalOf = (house: House): string => join(house.folder, 'var', 'journal');
const linesOf = (house: House): string[] =>
  readFileSync(join(journalOf(house), 'permits.ndjson'), 'utf8')
    .split('\n')
    .filter(Boolean);

async function freezes(house: House): Promise<string[]> {
  const brakes = await activeBrakes(house.db);
  return brakes.filter((one) => one.kind === 'freeze').map((one) => one.reason);
}

/** As though the database came back from a backup of before the last send. */
async function forgetAttempts(house: House): Promise<void> {
  await house.db.query(
    `begin; set local session_replication_role = replica;
     delete from tieout.answers; delete from tieout.attempts;
     update tieout.batches set state = 'queued', attempts = 0 where state <> 'dropped';
     update tieout.instructions set state = 'queued', settled_at = null, settled_run_id = null;
     commit`,
  );
}

describe('the journal of permits', () => {
  it('has a line for each permit, before its request, chained', async () => {
    const house = await houseOf();
    await house.run();
    const lines = linesOf(house).map((line) => JSON.parse(line) as Record<string, unknown>);
    const { rows } = await house.db.query<{ attempt_id: string; body_sha256: string }>(
      'select attempt_id, body_sha256, journal_id from tieout.attempts order by claimed_at',
    );
    expect(lines.map((line) => [line.attemptId, line.bodySha256])).toEqual(
      rows.map((row) => [row.attempt_id, row.body_sha256]),
    );
    expect(lines.map((line) => line.number)).toEqual([1, 2]);
    expect(lines[1]?.previous).toBe(lines[0]?.digest);
    expect(readdirSync(join(journalOf(house), 'answers'))).toEqual([]);
  });

  it('freezes all sending when the database has lost a permit, until a person lets go', async () => {
    const house = await houseOf();
    await house.run();
    expect((await house.effects()).length).toBe(2);
    await forgetAttempts(house);
    const deps = await (await house.open()).sendDeps();
    const { rows } = await house.db.query<{ batch_id: bigint }>(
      `select batch_id from tieout.batches where state = 'queued' order by 1`,
    );
    await sendBatch(deps, rows[0]?.batch_id ?? 0n);
    expect(await freezes(house)).toEqual([
      expect.stringMatching(/the journal knows 2 permit\(s\) that the database does not/),
    ]);
    expect((await house.effects()).length).toBe(2);
    const who = { name: 'Kim', isClaim: true };
    const { lifted } = await letBrakeGo(house, { accountId: null, reason: 'compared', who });
    expect(lifted.length).toBe(1);
    const again = await (await house.open()).sendDeps();
    expect(await again.journal.verify()).toBeNull();
    expect(await freezes(house)).toEqual([]);
  });

  it.each([
    ['gone', /journal of permits at .* is gone/],
    ['altered', /damaged: permit .* was altered/],
    ['cut', /damaged: it is shorter than it was/],
  ])('freezes all sending when the file is %s', async (what, words) => {
    const house = await houseOf();
    await house.run();
    const file = join(journalOf(house), 'permits.ndjson');
    const text = readFileSync(file, 'utf8');
    if (what === 'gone') rmSync(journalOf(house), { recursive: true });
    if (what === 'altered') {
      writeFileSync(file, text.replace('"amount":"', '"amount":"9'));
    }
    if (what === 'cut') {
      expect(await (await (await house.open()).sendDeps()).journal.verify()).toBeNull();
      writeFileSync(file, '');
    }
    const { journal } = await (await house.open()).sendDeps();
    expect(await journal.verify()).toMatch(words);
    expect(await freezes(house)).toEqual([expect.stringMatching(words)]);
    const who = { name: 'Kim', isClaim: true };
    await letBrakeGo(house, { accountId: null, reason: 'the disk was changed', who });
    expect(await (await (await house.open()).sendDeps()).journal.verify()).toBeNull();
  });

  it('that was copied to another place is read from its start there', async () => {
    const house = await houseOf();
    const copy = join(house.folder, 'copy');
    const permits = openPermitJournal(join(house.folder, 'var'));
    await (await permits).close();
    cpSync(join(house.folder, 'var', 'journal'), join(copy, 'journal'), { recursive: true });
    await house.run();
    const { rows } = await house.db.query<{ attempt_id: string }>(
      'select attempt_id from tieout.attempts',
    );
    // One that only the copy knows stands before more that all know than the original has.
    const elsewhere = await openPermitJournal(copy);
    const known = rows.map((row) => row.attempt_id);
    for (const attemptId of [randomUUID(), ...known, ...known]) {
      const permit = { batchId: '1', accountId: 'A1001', operation: 'capture', entries: [] };
      await elsewhere.append({ ...permit, attemptId, bodySha256: 'f'.repeat(64) });
    }
    const open = () => Promise.resolve(elsewhere);
    const guard = openGuard({ db: house.db, host: 'elsewhere', open });
    expect(await guard.verify()).toMatch(/knows 1 permit\(s\) that the database does not/);
    await guard.close();
  });

  it('sends nothing when its line cannot be written', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    mkdirSync(journalOf(house), { recursive: true });
    symlinkSync('/dev/full', join(journalOf(house), 'permits.ndjson'));
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(await house.effects()).toEqual([]);
    expect(await instructionCounts(house.db)).toEqual({ 'capture queued': 2 });
    const { rows } = await house.db.query('select outcome, reason from tieout.attempts');
    expect(rows).toEqual([
      {
        outcome: 'not_sent',
        reason: expect.stringMatching(
          /journal of permits .*, the disk is full: make room \(host \S+\)$/,
        ),
      },
    ]);
    // Somebody made room: the same process goes on.
    rmSync(join(journalOf(house), 'permits.ndjson'));
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
  });
});

describe('a database that cannot be relied on', () => {
  const guardOf = (house: House, wallClock: () => Date) =>
    openGuard({
      db: house.db,
      host: 'here',
      open: () => openPermitJournal(join(house.folder, 'var')),
      wallClock,
    });

  it('is refused when its clock is wrong', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const late = guardOf(house, () => new Date(Date.now() + 61_000));
    await sendBatch({ ...deps, journal: late }, batchIds[0] ?? 0n);
    expect(await whyWaiting(house)).toMatch(
      /the clock of this host is 6\d s ahead of the database's/,
    );
    await late.close();
    expect(await house.effects()).toEqual([]);
  });

  it('is refused when a clock is set while we run, until it is set right', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    let ahead = 0;
    const journal = guardOf(house, () => new Date(Date.now() + ahead));
    expect(await journal.verify()).toBeNull();
    for (const jump of [-3_600_000, 61_000, 86_400_000]) {
      ahead = jump;
      await sendBatch({ ...deps, journal }, batchIds[0] ?? 0n);
      const seconds = Math.abs(Math.round(jump / 1000));
      expect(
        Number(/the clock of this host is (\d+) s /.exec((await whyWaiting(house)) ?? '')?.[1]),
      ).toBeGreaterThan(seconds - 5);
    }
    expect(await house.effects()).toEqual([]);
    ahead = 0;
    await sendBatch({ ...deps, journal }, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
    await journal.close();
  });

  it('is refused when a setting is switched off under the server that runs', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const journal = guardOf(house, () => new Date());
    expect(await journal.verify()).toBeNull();
    const { durably } = deps.db;
    // As fast and forgetful as the tests' server is, and no longer marked as thrown away.
    const forgetful: typeof durably = (work) =>
      durably(async (tx) => {
        await tx.query(`set local tieout.throwaway = 'off'`);
        return work(tx);
      });
    const db = { ...deps.db, durably: forgetful };
    await sendBatch({ ...deps, journal, db }, batchIds[0] ?? 0n);
    expect(await whyWaiting(house)).toMatch(/may forget .*fsync = off, full_page_writes = off/);
    expect(await house.effects()).toEqual([]);
    await journal.close();
    // The house's own guard is that of a test, for which it is enough.
    await sendBatch({ ...deps, db }, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
  });

  it('is not sent by before every host has held its journal against it since it started', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    expect(await deps.journal.verify()).toBeNull();
    await house.db.query(
      `insert into tieout.journals (journal_id, host, place, verified_at, verified_start,
         verified_timeline)
       select gen_random_uuid(), 'another', '/srv/journal', clock_timestamp(), '0',
         verified_timeline
       from tieout.journals`,
    );
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect(await house.effects()).toEqual([]);
    expect(await whyWaiting(house)).toMatch(
      /hosts have not held their journals .* another \(\/srv\/journal\).*`tieout brake off --reason/,
    );
    // To wait for it is no try.
    const { rows } = await house.db.query('select distinct tries from tieout.batches');
    expect(rows).toEqual([{ tries: 0 }]);
    const { accounts } = await brakeStatus(await house.open(), ['A1001']);
    expect(accounts).toMatchObject([{ sends: false, words: expect.stringMatching(/another/) }]);
    // A host that never comes back holds nobody up for ever.
    const order = { accountId: null, reason: 'that host is gone', who: KIM };
    const { lifted } = await letBrakeGo(house, order);
    expect(lifted).toEqual([expect.stringMatching(/journals of permits not held against this/)]);
    const tryAgain = async (): Promise<number> => {
      await sendBatch(deps, batchIds[0] ?? 0n);
      return (await house.effects()).length;
    };
    await expect.poll(tryAgain, { timeout: 10_000, interval: 250 }).toBe(2);
  });
});

const KIM = { name: 'Kim', isClaim: true };

async function whyWaiting(house: House): Promise<string | null> {
  const { rows } = await house.db.query<{ reason: string }>('select reason from tieout.batches');
  return rows[0]?.reason ?? null;
}

describe('a server of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tieout-server-'));
  let server: EmbeddedServer;

  beforeAll(async () => {
    // Open to the user that the server runs as, when the tests run as root.
    chmodSync(folder, 0o755);
    server = await startEmbedded({ dataDir: folder });
    const { host, user, database } = server;
    await migrateUp({ host, user, database });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a process says that connects now. */
  async function saidNow(environment: 'test' | 'live' = 'live'): Promise<string | null> {
    const { host, user, database } = server;
    const db = openDatabase({ host, user, database });
    const open = () => openPermitJournal(join(folder, 'journals'));
    const guard = openGuard({ db, environment, host: 'here', open });
    try {
      return await guard.verify();
    } finally {
      await guard.close();
      await db.close();
    }
  }

  async function say(statements: readonly string[]): Promise<void> {
    const { host, user, database } = server;
    const db = openDatabase({ host, user, database }, { max: 1 });
    for (const statement of statements) await db.query(statement);
    await db.close();
  }

  it.each([
    ['alter database tieout set synchronous_commit = off', 'synchronous_commit', 'lost'],
    ['alter role tieout set synchronous_commit = off', 'synchronous_commit', 'lost'],
    ['alter system set fsync = off', 'fsync', 'kept'],
    ['alter system set full_page_writes = off', 'full_page_writes', 'kept'],
  ])('sends nothing after "%s"', async (statement, name, withoutMachine) => {
    const undo = statement.replace(' set ', ' reset ').replace(' = off', '');
    await say([statement, 'select pg_reload_conf()']);
    const words = `the database may forget what it has acknowledged (${name} = off)`;
    await expect.poll(() => saidNow()).toBe(words);
    // Where no money is meant it is enough that a server which dies alone forgets nothing.
    expect(await saidNow('test')).toBe(withoutMachine === 'kept' ? null : words);
    await say([undo, 'select pg_reload_conf()']);
    await expect.poll(() => saidNow()).not.toBe(words);
  });

  it('sends nothing from a replica', async () => {
    await server.stop();
    writeFileSync(join(realpathSync(join(folder, 'postgres')), 'standby.signal'), '');
    server = await startEmbedded({ dataDir: folder });
    expect(await saidNow()).toBe('the database is a replica: claims need the primary server');
  });
});

describe('an answer that came while the database was away', () => {
  it('is kept on the disk and brought in', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const away = new Error('the database is away');
    const dying = {
      ...deps,
      runner: { ...deps.runner, boot: 'another boot' },
      db: {
        ...deps.db,
        query: <R extends object>(text: string, ...more: [(readonly unknown[])?, string?]) =>
          text.includes('into tieout.answers')
            ? Promise.reject(away)
            : deps.db.query<R>(text, ...more),
      },
    };
    await expect(sendBatch(dying, batchIds[0] ?? 0n)).rejects.toThrow(away);
    const place = join(journalOf(house), 'answers');
    const [kept = ''] = readdirSync(place);
    // An answer to what this database never claimed, or has forgotten, is proof and stays.
    const foreign = `${randomUUID()}.json`;
    copyFileSync(join(place, kept), join(place, foreign));
    await recoverAttempts(deps, ['A1001']);
    expect(readdirSync(place)).toEqual([foreign]);
    expect(await instructionCounts(house.db)).toEqual({ 'capture accepted': 2 });
  });
});

describe('a claim whose COMMIT was not answered', () => {
  it('is recorded as not sent by the process that knows', async () => {
    const house = await houseOf();
    const { deps, batchIds } = await prepareRun(house);
    const lost = new Error('the answer to COMMIT was lost');
    const deaf = {
      ...deps,
      db: {
        ...deps.db,
        durably: async <T>(work: Parameters<typeof deps.db.durably<T>>[0]): Promise<T> => {
          await deps.db.durably(work);
          throw lost;
        },
      },
    };
    await expect(sendBatch(deaf, batchIds[0] ?? 0n)).rejects.toThrow(lost);
    expect(await house.effects()).toEqual([]);
    const { rows } = await house.db.query('select outcome, reason from tieout.attempts');
    expect(rows).toEqual([{ outcome: 'not_sent', reason: expect.stringMatching(/COMMIT/) }]);
    await sendBatch(deps, batchIds[0] ?? 0n);
    expect((await house.effects()).length).toBe(2);
  });
});
