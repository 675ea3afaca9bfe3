// Backup and restore as an operator does it: a night, a backup, more money that moves, the database
// lost and put back. Nothing is sent until a person lets it go, and nothing twice after that.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideInstructions } from '../../src/instructions/decisions.js';
import type { Ended } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { Effect, House } from '../support/night.js';
import {
  addressOf,
  buildHouse,
  instructionCounts,
  kinds,
  rewriteSettings,
  sandboxAccounts,
} from '../support/night.js';

const WANTED = { capture_due: 4, cancel_due: 3, review_accept_due: 2 };
const POLICY = { capture: 'auto', cancel: 'approve', refund: 'auto', review: 'auto' };

describe('a backup', () => {
  let house: House;
  let restored: FreshDatabase;
  let moved: Effect[];
  const cli = (...args: string[]): Promise<Ended> => tieoutHere(args, { cwd: house.folder });

  beforeAll(async () => {
    restored = await freshDatabase({ empty: true });
    house = await buildHouse({
      orders: 6_000,
      inLedger: kinds(WANTED, 'A1001'),
      settings: { operations: POLICY },
    });
    // What is to be reviewed is decided later than the backup.
    await house.db.query('update ledger.orders set review_decision = null');
    await house.run();
  });
  afterAll(async () => {
    await house.end();
    await restored.drop();
  });

  it('is a new folder with a digest for each file, and holds no secret', async () => {
    const ended = await cli('backup', 'kept', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ folder: 'kept' });
    const again = await cli('backup', 'kept');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
    const manifest = readFileSync(join(house.folder, 'kept', 'manifest.json'), 'utf8');
    expect(manifest).toContain('"tieout.instructions"');
    expect(manifest).not.toContain('tieout.sessions');
    for (const { signingKey } of sandboxAccounts(1)) expect(manifest).not.toContain(signingKey);
    const checked = await cli('restore', 'kept', '--check');
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('nobody vouches')]);
  });

  it('is told to be of whose key it is, and is nothing without it', async () => {
    const made = await cli('backup', 'sealed', '--new-key', 'key', '--json');
    expect(made.code, made.stderr).toBe(0);
    const checked = await cli('restore', 'sealed', '--check', '--key-file', 'key');
    expect(checked.stdout).toMatch(/written by who holds the key [0-9a-f]{16}/);
    const without = await cli('restore', 'sealed', '--check');
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('is encrypted')]);
    const plain = await cli('restore', 'kept', '--check', '--key-file', 'key');
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('no code of a key')]);
  });

  it('that was damaged is refused before anything is done with it', async () => {
    const damaged = join(house.folder, 'damaged');
    mkdirSync(damaged);
    const file = 'tieout.runs.copy.gz';
    const manifest = join('kept', 'manifest.json');
    writeFileSync(join(damaged, 'manifest.json'), readFileSync(join(house.folder, manifest)));
    const { code, stderr } = await cli('restore', 'damaged', '--check');
    expect([code, stderr]).toEqual([1, expect.stringContaining('this backup is damaged')]);
    expect(existsSync(join(damaged, file))).toBe(false);
  });

  it('goes into no database that holds anything', async () => {
    const { code, stderr } = await cli('restore', 'kept');
    expect([code, stderr]).toEqual([1, expect.stringContaining('restore needs an empty one')]);
  });

  it('brings everything back; nothing is sent before a person lets it go', async () => {
    await approveAll(house);
    await house.run();
    moved = await house.effects();
    expect(moved.map(({ operation }) => operation).sort()).toEqual(
      [...Array(3).fill('cancel'), ...Array(4).fill('capture')].map(String),
    );
    rewriteSettings(house, { database: { url: addressOf(restored.connection) } });
    const ended = await cli('restore', 'kept', '--as', 'anna', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ sendsNotInBackup: 1 });
    expect(await instructionCounts(restored.db)).toEqual({
      'cancel held': 3,
      'capture confirmed': 4,
    });
    const reviewed = house.seeded.filter(({ ledger }) => ledger.review_decision === 'accept');
    await restored.db.query(
      `update ledger.orders set review_decision = 'accept' where order_no = any ($1)`,
      [reviewed.map(({ ledger }) => ledger.order_no)],
    );
    const { summary } = await house.run();
    expect(await house.effects()).toEqual(moved);
    // The snapshots show that the cancels are done; the reviews wait behind the freeze.
    expect(await instructionCounts(restored.db)).toEqual({
      'cancel withdrawn': 3,
      'capture confirmed': 4,
      'review queued': 2,
    });
    expect(summary.state).toBe('incomplete');
    expect((await cli('brake', 'status')).stdout).toContain('restored from the backup of');
    const checked = await cli('verify');
    expect([checked.code, checked.stdout]).toEqual([0, expect.anything()]);
  });

  it('after that sends what is still to be done, and nothing twice', async () => {
    const off = await cli('brake', 'off', '--reason', 'read what the run found', '--as', 'anna');
    expect(off.code, off.stderr).toBe(0);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    const effects = await house.effects();
    expect(effects.slice(0, moved.length)).toEqual(moved);
    const later = effects.slice(moved.length).map(({ operation }) => operation);
    expect(later).toEqual(['review', 'review']);
    const { rows } = await restored.db.query<{ id: bigint }>(
      `select min(instruction_id) as id from tieout.instructions where operation = 'review'`,
    );
    // Ids that were given out after the backup never come to mean something else.
    expect(Number(rows[0]?.id)).toBeGreaterThan(1_000_000);
  });
});

async function approveAll(house: House): Promise<void> {
  const { rows } = await house.db.query<{ instruction_id: bigint }>(
    `select instruction_id from tieout.instructions where state = 'held'`,
  );
  const ids = rows.map((row) => row.instruction_id);
  const deps = await (await house.open()).sendDeps();
  const who = { name: 'anna', isClaim: true };
  await decideInstructions(deps, { ids, decision: { kind: 'approve', reason: null }, who });
}
