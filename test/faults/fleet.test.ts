// One night over several processes: `run` and workers of the built program, one of them killed in
// the middle of a batch. With TIEOUT_FLEET=1 (`npm run fleet`) also over hosts, as network
// namespaces, one of them cut off in the middle of a batch and joined again later. Whatever happens,
// nothing is moved twice and nothing is lost, by the gateway's own journal.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { runDate } from '../../src/night/run.js';
import type { Running } from '../support/cli.js';
import { ensureBuilt, startTieout } from '../support/cli.js';
import type { TestHost } from '../support/hosts.js';
import { addHost, hostsMissing, passOn } from '../support/hosts.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';
import { auditRun } from './audit.js';
import type { Front } from './front.js';
import { houseBehind } from './houseBehind.js';
import { impatient } from './impatient.js';

const POLL_MS = 20;
const LOOKS = 3_000;
/** How long the gateway takes over each request that moves money. */
const SLOW_MS = 250;
const PROFILE = { timeoutMs: 3_000, concurrency: 1, requestsPerSecond: 20 };
/** Places that a process may hold beyond its turn, and half a second for the way. */
const BLOCK = 2;
const WAY_MS = 500;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Fleet {
  house: House;
  front: Front;
  arrivals: number[];
  start(args: string[], host?: { folder: string; prefix: string[] }): Running;
}

async function fleetOf(orders: number): Promise<Fleet> {
  await ensureBuilt();
  const { house, front } = await houseBehind({
    orders,
    seed: 5,
  });
  cleanups.push(() => house.end());
  impatient(house, PROFILE);
  const arrivals: number[] = [];
  front.trouble = async ({ operation }) => {
    arrivals.push(performance.now());
    if (operation !== 'retrievalTrans') await sleep(SLOW_MS);
    return false;
  };
  const start: Fleet['start'] = (args, host) => {
    const running = startTieout(args, {
      cwd: host?.folder ?? house.folder,
      ...(host === undefined ? {} : { prefix: host.prefix }),
    });
    cleanups.push(async () => {
      running.signal('SIGKILL');
      await running.ended;
    });
    return running;
  };
  return { house, front, arrivals, start };
}

/** The pid of one of these processes that has a batch on its way. */
async function midBatch({ house }: Fleet, pids: readonly number[]): Promise<number> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { rows } = await house.db.query<{ pid: number }>(
      'select pid from tieout.attempts where outcome is null and pid = any ($1)',
      [pids],
    );
    if (rows[0]) return rows[0].pid;
    await sleep(POLL_MS);
  }
  throw new Error('no worker ever had a batch');
}

/** As much as one merchant may ask in that time, whoever asked. */
function expectRateKept({ arrivals }: Fleet, processes: number): void {
  const ms = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0) + WAY_MS;
  const most = (ms / 1000) * PROFILE.requestsPerSecond + processes * BLOCK;
  expect(arrivals.length).toBeLessThanOrEqual(most);
}

describe('a night over three processes', () => {
  it('of which one is killed in mid-batch and one told to stop', async () => {
    const fleet = await fleetOf(400);
    const workers = [fleet.start(['work']), fleet.start(['work'])];
    await Promise.all(workers.map((worker) => worker.says('works until')));
    const run = fleet.start(['run', '--json']);
    const pids = workers.map(({ pid }) => pid);
    const victim = await midBatch(fleet, pids);
    process.kill(victim, 'SIGKILL');
    const left = workers.find(({ pid }) => pid !== victim);
    left?.signal('SIGTERM');
    expect((await left?.ended)?.code).toBe(0);
    const { code, stderr } = await run.ended;
    expect([0, 3, 4], stderr).toContain(code);
    const { house } = fleet;
    await house.run();
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
    // Of what the dead one had sent, its entries were looked up, and are no secret to anybody.
    expect(stderr + house.lines.join('\n')).toMatch(/the sender stopped before an answer came/);
    expectRateKept(fleet, 4);
  });
});

describe('two versions side by side', () => {
  it('the old one that runs goes on over what a newer one added, and does not start again', async () => {
    const house = await buildHouse({ orders: 60 });
    cleanups.push(() => house.end());
    const old = await house.open();
    const [deps, workforce] = [await old.sendDeps(), await old.workforce()];
    await house.db.query(
      `alter table tieout.runs add later text;
       alter table tieout.instructions add later text;
       create table tieout.later (account_id text);
       insert into tieout_meta.migrations (name, run_on) values ('9999_later', now())`,
    );
    const request = { date: null, accountIds: [], isDry: false };
    expect((await runDate(deps, request, workforce)).kind).toBe('ran');
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
    await expect(house.open()).rejects.toThrow('used by a newer tieout (9999_later)');
  });
});

/** Only where it is asked for: it takes minutes, and root. */
const missing = process.env.TIEOUT_FLEET === '1' ? hostsMissing() : null;
const skipped = missing === null ? '' : ` (skipped: ${missing})`;

if (process.env.TIEOUT_FLEET === '1')
  describe.skipIf(missing !== null)(`a night over hosts${skipped}`, () => {
    it('of which one is killed and one cut off in mid-batch', { timeout: 240_000 }, async () => {
      const fleet = await fleetOf(3_000);
      const { house } = fleet;
      const hosts = await Promise.all(
        ['west', 'east', 'north'].map((name, n) => joinHost(fleet, name, n + 1)),
      );
      const workers = hosts.map((host) => fleet.start(['work'], host));
      await Promise.all(workers.map((worker) => worker.says('works until')));
      const run = fleet.start(['run', '--json']);
      const hostOf = (pid: number) => workers.findIndex((worker) => worker.pid === pid);
      const killed = await midBatch(
        fleet,
        workers.map(({ pid }) => pid),
      );
      process.kill(killed, 'SIGKILL');
      const cut = await midBatch(
        fleet,
        workers.map(({ pid }) => pid).filter((pid) => pid !== killed),
      );
      hosts[hostOf(cut)]?.host.cut();
      const { code, stderr } = await run.ended;
      expect([0, 3, 4], stderr).toContain(code);
      hosts[hostOf(cut)]?.host.join();
      for (const worker of workers) worker.signal('SIGTERM');
      await Promise.all(workers.map((worker) => worker.ended));
      await house.run();
      expect(await auditRun(house.db, await house.effects())).toEqual([]);
      const { rows } = await house.db.query<{ host: string }>(
        'select distinct host from tieout.attempts',
      );
      expect(rows.length).toBeGreaterThan(2);
      expectRateKept(fleet, 5);
    });
  });

/** A host with a configuration of its own, whose every way leads through the line to it. */
async function joinHost(
  { house }: Fleet,
  name: string,
  number: number,
): Promise<{ host: TestHost; folder: string; prefix: string[] }> {
  const host = addHost(name, number);
  cleanups.push(() => host.end());
  if (!('host' in house.connection)) throw new Error('the database of the tests has no socket');
  const { user, database } = house.connection;
  const socket = join(house.connection.host, '.s.PGSQL.5432');
  const server = await passOn(host.gateway, { path: socket });
  const gateway = await passOn(host.gateway, { port: Number(new URL(house.gatewayUrl).port) });
  cleanups.push(server.close, gateway.close);
  const folder = join(house.folder, name);
  mkdirSync(folder);
  const settings = JSON.parse(readFileSync(house.file, 'utf8')) as { gateway: object };
  const change = {
    database: { url: `postgres://${user}@${host.gateway}:${server.port}/${database}` },
    gateway: { ...settings.gateway, baseUrl: `http://${host.gateway}:${gateway.port}` },
  };
  writeFileSync(join(folder, 'tieout.yaml'), JSON.stringify({ ...settings, ...change }));
  return { host, folder, prefix: host.prefix };
}
