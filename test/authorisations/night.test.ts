// Reservations of a real night: listed by the command, said by `status`, told once by the watch, and
// told nobody where nobody said how long they hold. A night, the program, a real receiver.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localTicksOf } from '../../jobs/clock.js';
import { deliverDue } from '../../src/alerts/deliverAlerts.js';
import type { WatchDeps } from '../../src/alerts/watchRuns.js';
import { watch } from '../../src/alerts/watchRuns.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import { isAlive } from '../../src/processes/identity.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import type { Receiver } from '../alerts/receiver.js';
import { openReceiver } from '../alerts/receiver.js';
import { openXlsx, sheetOf } from '../reports/openXlsx.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

let receiver: Receiver;
let house: House;
beforeAll(async () => {
  receiver = await openReceiver();
  house = await buildHouse({
    orders: 600,
    daysAgo: 1,
    inLedger: kinds({ stale_authorisation: 3, plain: 4 }),
    settings: { operations: {}, notify: { webhook: `${receiver.address}/hook` } },
  });
  await house.run({ date: dateOf(1) });
});
afterAll(async () => {
  await house.end();
  await receiver.close();
});

const cli = (...args: string[]) => tieoutHere(args, { cwd: house.folder });

/** Every account says how long its reservations hold. */
function agree(authorisation: Record<string, number>): void {
  const liveFrom = new Date(`${dateOf(1)}T00:00:00Z`).toISOString();
  const accounts = house.accounts.map((account) => ({ ...account, liveFrom, authorisation }));
  rewriteSettings(house, { accounts });
}

async function watchDeps(): Promise<WatchDeps> {
  const app = await house.open();
  const { db, config, version } = app;
  const localTicks = localTicksOf(config.schedule.cron);
  const now = () => new Date();
  return { db, config, version, hide: hidingSecrets(config), now, isAlive, localTicks, log() {} };
}

/** The sheet of a revision that is written now. */
async function sheetNow() {
  const app = await house.open();
  const run = await findRun(app.db, dateOf(1));
  const ids = await queueReports(app.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  for (const id of ids) await writeReport(app, id);
  const { rows } = await app.db.query<{ path: string }>(
    "select path from tieout.reports where kind = 'reconciliation' order by revision desc limit 1",
  );
  return sheetOf(await openXlsx(rows[0]?.path ?? ''), 'Reservations');
}

/** The orders on it. */
async function onSheet(): Promise<string[]> {
  return (await sheetNow()).getColumn(2).values.map(String);
}

/** A day of the month that is two weeks away, or nearly. */
const rareDay = () => new Date(Date.now() + 14 * 86_400_000).getUTCDate() % 28 || 28;

/** More than one. */
const stale = () => house.seeded.filter(({ kind }) => kind === 'stale_authorisation');

describe('reservations of a night', () => {
  it('lapse at no time that anybody knows, and nobody is told, until it is configured', async () => {
    const listed = await tieoutHere(['authorisations', '--all'], { cwd: house.folder });
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout).toContain('give authorisation.validHours to the account');
    expect(listed.stdout).toContain('lapses at an unknown time');
    for (const { ledger } of stale()) expect(listed.stdout).toContain(ledger.order_no);
    expect(JSON.parse((await cli('status', '--json')).stdout)).toMatchObject({
      authorisations: [],
    });
    await watch(await watchDeps());
    expect(receiver.told).toEqual([]);
  });

  it('are listed with hours left, what is wanted and what stands in the way', async () => {
    agree({ validHours: 168 });
    expect(stale().length).toBeGreaterThan(1);
    const { stdout } = await cli('authorisations', '--json');
    const { reservations } = JSON.parse(stdout) as {
      reservations: { orderNo: string; standing: string; hoursLeft: number; obstacle: string }[];
    };
    expect(reservations.map(({ orderNo }) => orderNo).sort()).toEqual(
      stale()
        .map(({ ledger }) => ledger.order_no)
        .sort(),
    );
    for (const one of reservations) {
      expect(one).toMatchObject({ standing: 'lapsed' });
      expect(one.hoursLeft).toBeLessThan(0);
      expect(one.obstacle).toContain('break: stale authorisation');
    }
    const text = await cli('authorisations', '--sort', 'amount');
    expect(text.stdout).toMatch(/lapsed \d+ h ago {2}[\d,.]+ [A-Z]{3} {2}\S+ {2}\S+ {2}lapses 20/);
    expect((await cli('authorisations', '--limit', '1')).stderr).toContain('... and 1 more');
    expect((await cli('authorisations', '--account', 'A9')).code).toBe(2);
  });

  it('stand on a sheet of the workbook, as the night saw them', async () => {
    const orders = await onSheet();
    for (const { ledger } of stale()) expect(orders).toContain(ledger.order_no);
    for (const { kind, ledger } of house.seeded) {
      if (kind === 'plain') expect(orders).not.toContain(ledger.order_no);
    }
  });

  it('stand there as long ahead as the next night is away, and warnHours', async () => {
    const { reservations } = JSON.parse((await cli('authorisations', '--json')).stdout) as {
      reservations: { hoursLeft: number }[];
    };
    const soonest = Math.min(...reservations.map(({ hoursLeft }) => hoursLeft));
    agree({ validHours: 168 + 60 - Math.floor(soonest) });
    const shown = async () => {
      const orders = await onSheet();
      return stale().filter(({ ledger }) => orders.includes(ledger.order_no)).length;
    };
    expect(await shown()).toBe(0);
    const { schedule } = JSON.parse(readFileSync(house.file, 'utf8'));
    rewriteSettings(house, { schedule: { ...schedule, cron: `15 4 ${rareDay()} * *` } });
    expect(await shown()).toBe(stale().length);
    rewriteSettings(house, { schedule });
    agree({ validHours: 168 });
  });

  it('are said by status, and told to the outside once', async () => {
    const status = JSON.parse((await cli('status', '--json')).stdout);
    expect(status.authorisations.length).toBeGreaterThan(0);
    expect(status.authorisations[0].text).toMatch(/^money is reserved and not taken: .*lapsed/);
    expect((await cli('status')).stdout).toMatch(/A\d+: money is reserved and not taken: /);
    const deps = await watchDeps();
    await house.db.query('delete from tieout.outbox');
    await watch(deps);
    await watch(deps);
    await watch(deps, { night: 'another' });
    await deliverDue(deps, new AbortController().signal);
    const bodies = receiver.told.map(({ body }) => JSON.parse(body));
    const accounts = new Set(stale().map(({ ledger }) => ledger.account_id));
    expect(bodies.map(({ event }) => event)).toEqual([...accounts].map(() => 'reservations_lapse'));
    expect(bodies.reduce((sum, { reservations }) => sum + reservations, 0)).toBe(stale().length);
    expect(bodies[0].text).toMatch(/^Account A\d+: \d reservations? of .* will lapse untaken/);
    for (const { ledger } of house.seeded) {
      expect(JSON.stringify(bodies)).not.toContain(ledger.order_no);
    }
  });

  it('of an amount that cannot be read are said beside the sums of the sheet', async () => {
    const title = async () => String((await sheetNow()).getCell('A1').value);
    expect(await title()).not.toContain('cannot be read');
    await house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query('update tieout.look_entries set amount = null where order_no = $1', [
        stale()[0]?.ledger.order_no,
      ]);
    });
    expect(await title()).toContain('; 1 line whose amount cannot be read: in no sum');
    expect((await cli('authorisations')).stdout).toMatch(/whose amount cannot be read|of 1 cannot/);
  });
});
