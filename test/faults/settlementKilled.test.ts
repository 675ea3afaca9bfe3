// An import of a large file whose process is killed: while the lines are copied, while they are kept,
// in the COMMIT, and while they are matched. Real processes, SIGKILL: nothing of the file is taken or all
// of it, and the same command heals what is missing. So does the inbox.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/database/statements.js';
import { ensureBuilt, startTieout, tieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

const MAP = join(packageRoot(), 'docs', 'maps', 'sandbox-settlement.yaml');
const HEAD = 'Account,Batch,Line,Type,Booked,Order,Transaction,Reference,Currency,Amount,Fee,Net';
/** So many that the copying can be caught in the middle. */
const LINES = 20_000;
const PATIENCE_MS = 60_000;

let house: House;
/** A capture of ours that waits for its line. */
let ours: Record<'account_id' | 'order_no' | 'transaction_id' | 'amount' | 'currency', string>;
beforeAll(async () => {
  await ensureBuilt();
  const settlement = {
    from: dateOf(4),
    inbox: 'inbox',
    files: [{ match: '*.csv', map: MAP }],
  };
  house = await buildHouse({ orders: 300, daysAgo: 3, settings: { settlement } });
  mkdirSync(join(house.folder, 'inbox'));
  await house.run({ date: dateOf(3) }, new Date(`${dateOf(2)}T04:15:00Z`));
  const { rows } = await house.db.query<typeof ours>(
    `select account_id, order_no, transaction_id, amount::text as amount, currency
     from tieout.movements_now where kind = 'captured' and made = 'here' order by 1, 2`,
  );
  if (!rows[0]) throw new Error('nothing was captured');
  [ours] = rows;
}, 4 * PATIENCE_MS);
afterAll(() => house.end());

/** History of before `settlement.from`, and the line of `one`. */
function batchText(batch: string, one: typeof ours | null, lines = LINES): string {
  const head = `${ours.account_id},${batch}`;
  const rows = Array.from({ length: lines }, (_, at) => {
    const name = `${batch}-${at}`;
    return `${head},${at},captured,${dateOf(30)}T08:00:00Z,${name},T-${name},,${ours.currency},10.00,0.39,9.61`;
  });
  if (one !== null) {
    const { order_no, transaction_id, currency, amount } = one;
    rows[0] = `${head},0,captured,${dateOf(2)}T08:00:00Z,${order_no},${transaction_id},,${currency},${amount},0.00,${amount}`;
  }
  return `${[HEAD, ...rows].join('\n')}\n`;
}

async function linesOf(batch: string): Promise<number> {
  const { rows } = await house.db.query<{ n: number }>(
    `select (select count(*) from tieout.settlement_lines where batch = $1)::int as n`,
    [batch],
  );
  return rows[0]?.n ?? -1;
}

async function batchesOf(batch: string): Promise<number[]> {
  const { rows } = await house.db.query<{ batches: number; files: number }>(
    `select (select count(*) from tieout.settlement_batches where batch = $1)::int as batches,
       (select count(*) from tieout.settlement_files where name = $1 || '.csv')::int as files`,
    [batch],
  );
  return [rows[0]?.batches ?? -1, rows[0]?.files ?? -1];
}

async function isSettled(): Promise<number> {
  const { rows } = await house.db.query(
    `select 1 from tieout.settlement_matches join tieout.movements using (movement_id)
     where order_no = $1`,
    [ours.order_no],
  );
  return rows.length;
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  await expect.poll(isSo, { timeout: PATIENCE_MS, interval: 5, message: what }).toBe(true);
}

/** Another session of this database is just at that. */
async function anySession(condition: string): Promise<boolean> {
  const { rows } = await house.db.query(
    `select 1 from pg_stat_activity where datname = current_database()
       and pid <> pg_backend_pid() and ${condition}`,
  );
  return rows.length > 0;
}

/** Somebody reads all of a table, so that whoever writes into it waits, until it is let go. */
async function held(table: string): Promise<{ letGo: () => Promise<void> }> {
  let free = (): void => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  let isHeld = (): void => {};
  const holds = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const over = house.db.transaction(async (tx) => {
    await tx.query(`lock table ${table} in share mode`);
    isHeld();
    await freed;
  });
  await holds;
  return {
    letGo: () => {
      free();
      return over;
    },
  };
}

interface Killable {
  pid: number;
  ended: Promise<unknown>;
}

async function killed(
  { pid, ended }: Killable,
  isThere: () => Promise<boolean>,
  letGo: () => Promise<void>,
): Promise<void> {
  await until(isThere, 'the place to be killed at');
  // The whole group: whatever it has started dies with it.
  process.kill(-pid, 'SIGKILL');
  await ended;
  await letGo();
  // What the server still had to do for it is over, one way or the other.
  await until(async () => !(await anySession('xact_start is not null')), 'the server at rest');
}

const WAITS = `wait_event_type = 'Lock'`;
const PLACES = [
  {
    place: 'while it copies',
    hold: null,
    at: `query ilike 'copy tieout.settlement_lines%' and state <> 'idle'`,
    isTaken: false,
  },
  { place: 'as it keeps the file', hold: 'tieout.settlement_files', at: WAITS, isTaken: false },
  { place: 'as it keeps the lines', hold: 'tieout.settlement_lines', at: WAITS, isTaken: false },
  {
    place: 'in its COMMIT',
    hold: null,
    at: `query ilike 'commit%' and state = 'active'`,
    isTaken: true,
  },
  { place: 'while it matches', hold: 'tieout.settlement_matches', at: WAITS, isTaken: true },
] as const;

describe('an import that is killed', () => {
  it.each(PLACES)('$place', { timeout: 4 * PATIENCE_MS }, async ({ place, hold, at, isTaken }) => {
    const batch = `K${PLACES.findIndex((one) => one.place === place)}`;
    const isMatching = place === 'while it matches';
    const file = join(house.folder, `${batch}.csv`);
    writeFileSync(file, batchText(batch, isMatching ? ours : null));
    const words = ['import', 'settlement', file, '--map', MAP];
    const { letGo } = hold === null ? { letGo: async () => {} } : await held(hold);
    if (place === 'in its COMMIT') await slowCommit(true);
    await killed(startTieout(words, { cwd: house.folder }), () => anySession(at), letGo);
    await slowCommit(false);
    expect(await linesOf(batch)).toBe(isTaken ? LINES : 0);
    expect(await batchesOf(batch)).toEqual(isTaken ? [1, 1] : [0, 0]);
    if (isMatching) expect(await isSettled()).toBe(0);
    for (const inserted of [isTaken ? 0 : LINES, 0]) {
      const again = await tieout([...words, '--json'], { cwd: house.folder });
      expect(again.code, again.stderr).toBe(0);
      expect(JSON.parse(again.stdout)).toMatchObject({ inserted, unchanged: LINES - inserted });
    }
    expect(await linesOf(batch)).toBe(LINES);
    expect(await batchesOf(batch)).toEqual([1, 1]);
    if (isMatching) expect(await isSettled()).toBe(1);
  });
});

/** What the server does in a COMMIT takes a second longer. */
async function slowCommit(isOn: boolean): Promise<void> {
  await house.db.query('drop trigger if exists slow on tieout.settlement_files');
  if (!isOn) return;
  await house.db.query(`create or replace function slow() returns trigger language plpgsql as
    'begin perform pg_sleep(1); return null; end'`);
  await house.db.query(`create constraint trigger slow after insert on tieout.settlement_files
    deferrable initially deferred for each row execute function slow()`);
}

/** Looks into the inbox as a clock does, in a process of its own, again and again. */
function clock(): Killable {
  const part = (name: string) =>
    JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', 'src', name)).href);
  const script = `
    const { loadConfig } = await import(${part('config/config.js')});
    const { openDatabase } = await import(${part('database/db.js')});
    const { openInbox } = await import(${part('settlement/inbox.js')});
    const config = loadConfig({ file: 'tieout.yaml', env: {}, cwd: process.cwd() });
    const db = openDatabase(${JSON.stringify(house.connection)});
    const look = openInbox({ db, config, log: () => {}, now: () => new Date() });
    for (;;) { await look(); await new Promise((resolve) => setTimeout(resolve, 20)); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: house.folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { pid: child.pid ?? 0, ended: once(child, 'exit') };
}

describe('a clock that is killed at the inbox', () => {
  it.each([
    { place: 'as it keeps the file', hold: 'tieout.settlement_files', isTaken: false },
    { place: 'between the taking and the move', hold: 'tieout.settlement_matches', isTaken: true },
  ])('$place', { timeout: 4 * PATIENCE_MS }, async ({ hold, isTaken }) => {
    const batch = isTaken ? 'I1' : 'I0';
    const lines = 50;
    const other = isTaken ? await another() : null;
    writeFileSync(join(house.folder, 'inbox', `${batch}.csv`), batchText(batch, other, lines));
    const { letGo } = await held(hold);
    await killed(clock(), () => anySession(WAITS), letGo);
    expect(await linesOf(batch)).toBe(isTaken ? lines : 0);
    expect(existsSync(join(house.folder, 'inbox', `${batch}.csv`))).toBe(true);
    const next = clock();
    const done = join(house.folder, 'inbox', 'done');
    await until(async () => existsSync(join(done, `${batch}.csv`)), 'the file in done/');
    process.kill(-next.pid, 'SIGKILL');
    await next.ended;
    expect(await linesOf(batch)).toBe(lines);
    expect(await batchesOf(batch)).toEqual([1, 1]);
    const isBatch = (name: string) => name.includes(batch) && name.endsWith('.csv');
    expect(readdirSync(done).filter(isBatch)).toEqual([`${batch}.csv`]);
    expect(readdirSync(join(house.folder, 'inbox'))).toEqual(['done']);
    if (other === null) return;
    const { rows } = await house.db.query(
      `select 1 from tieout.settlement_matches join tieout.movements using (movement_id)
       where order_no = $1`,
      [other.order_no],
    );
    expect(rows).toHaveLength(1);
  });

  /** A capture of ours that no line has settled yet, in the same account and currency. */
  async function another(): Promise<typeof ours> {
    const { rows } = await house.db.query<typeof ours>(
      `select account_id, order_no, transaction_id, amount::text as amount, currency
       from tieout.movements_now m where kind = 'captured' and account_id = $1 and currency = $2
         and not is_history and movement_id in (select movement_id from tieout.settlement_awaited)
       order by 2 limit 1`,
      [ours.account_id, ours.currency],
    );
    if (!rows[0]) throw new Error('no other capture waits for its line');
    return rows[0];
  }
});
