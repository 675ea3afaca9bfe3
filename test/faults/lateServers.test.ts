// A machine starts, and its servers come up after the program: what it begins then waits for them,
// whoever began it, and the night is made without anybody who tries again.

import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openApp } from '../../src/app/compose.js';
import { loadConfig } from '../../src/config/config.js';
import { startTieout, tieout } from '../support/cli.js';
import { privateRedisMissing, startRedis } from '../support/redis.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';
import { INSTALLED_LONG_AGO } from '../support/steps.js';
import { auditRun } from './audit.js';

const MINUTE_MS = 60_000;
const AWAY_MS = 6_000;
const SCHEDULE = { cron: '* * * * *', timezone: 'UTC', cutOff: '00:00', resumeUntil: '23:59' };

it('waits for its database before it begins a night', { timeout: 3 * MINUTE_MS }, async () => {
  const house = await buildSeparateHouse({ orders: 60, seed: 11, database: 'server' });
  try {
    const away = house.restartServer(AWAY_MS);
    await sleep(1_000);
    const night = startTieout(['run', '--json'], { cwd: house.folder });
    await night.says('it is waited for');
    await away;
    const { code, stderr } = await night.ended;
    expect([0, 3, 4], stderr).toContain(code);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  } finally {
    await house.end();
  }
});

it('says at once that a person has to do something', { timeout: MINUTE_MS }, async () => {
  const house = await buildSeparateHouse({ orders: 1, seed: 11, database: 'server' });
  try {
    await house.db.query('create role locked login');
    const { connection } = house;
    if ('connectionString' in connection) throw new Error('a socket is expected');
    const url = `postgres://locked@localhost/elsewhere?host=${connection.host}`;
    const ended = await tieout(['run', '--json'], {
      cwd: house.folder,
      env: { TIEOUT_CONFIG: await atDatabase(house, url) },
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('there is no such database');
    expect(ended.stderr).not.toContain('waited for');
  } finally {
    await house.end();
  }
});

const noRedis = privateRedisMissing === null ? '' : ` (${privateRedisMissing})`;
it.skipIf(noRedis !== '')(
  `waits for its queue before the clock begins a night${noRedis}`,
  { timeout: 3 * MINUTE_MS },
  async () => {
    const redis = await startRedis();
    await redis.kill();
    const settings = { schedule: SCHEDULE, queue: { url: redis.url } };
    const house = await buildSeparateHouse({ orders: 60, seed: 11, settings });
    await house.db.query(INSTALLED_LONG_AGO);
    const clock = startTieout(['schedule'], { cwd: house.folder });
    try {
      await clock.says('it is waited for');
      await redis.start();
      const state = async () =>
        (await house.db.query<{ state: string }>('select state from tieout.runs')).rows[0]?.state;
      await expect.poll(state, { timeout: MINUTE_MS }).toMatch(/^(tied_out|broken)$/);
    } finally {
      clock.signal('SIGKILL');
      await clock.ended;
      await house.end();
      await redis.end();
    }
  },
);

it(
  'opens the queue once its server is back, after it was asked for without',
  async () => {
    const house = await buildSeparateHouse({ orders: 1, seed: 11, database: 'server' });
    const app = await openApp(loadConfig({ file: house.file, env: {}, cwd: house.folder }), {
      talk: { log: () => {}, progress: () => {} },
      signal: new AbortController().signal,
    });
    try {
      const away = house.restartServer(AWAY_MS);
      await sleep(2_000);
      await expect(app.queues()).rejects.toThrow('cannot be used');
      await away;
      expect(Object.keys(await (await app.queues()).counts())).toContain('capture');
    } finally {
      await app.close();
      await house.end();
    }
  },
  MINUTE_MS,
);

async function atDatabase(house: SeparateHouse, url: string): Promise<string> {
  const settings = JSON.parse(await readFile(house.file, 'utf8')) as Record<string, unknown>;
  const file = `${house.folder}/elsewhere.yaml`;
  await writeFile(file, JSON.stringify({ ...settings, database: { url } }));
  return file;
}
