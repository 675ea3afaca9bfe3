// A night whose database is reached through a pooler that hands out sessions for one transaction.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateUp, migrationStatus } from '../../src/database/migrate.js';
import { auditRun } from '../faults/audit.js';
import { freshDatabase } from '../support/database.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { buildHouse, rewriteSettings } from '../support/night.js';
import { pgbouncerMissing, startPgbouncer } from '../support/pgbouncer.js';
import { redisMissing, sharedRedis } from '../support/redis.js';

const missing = pgbouncerMissing ?? redisMissing;

describe.skipIf(missing !== null)(`through a pooler${missing ? `: ${missing}` : ''}`, () => {
  let house: House;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    house = await buildHouse({ orders: 300 });
    const pooler = await startPgbouncer(house.connection);
    const redis = await sharedRedis();
    ends.push(() => house.end(), pooler.end, redis.end);
    rewriteSettings(house, {
      database: { url: pooler.connection.connectionString },
      queue: { url: redis.url },
    });
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  it('fault D66: a night ends as ever, and the next one sends nothing again', async () => {
    const first = await house.run();
    await expectIdentities(house.db, first.summary);
    expect((await house.effects()).length).toBeGreaterThan(0);
    const before = await house.effects();
    const second = await house.run();
    await expectIdentities(house.db, second.summary);
    expect(await house.effects()).toEqual(before);
    expect(await auditRun(house.db, await house.effects())).toEqual([]);
  });

  it('cannot carry the queue, and says what can', async () => {
    rewriteSettings(house, { queue: { url: 'database' } });
    await expect(house.run()).rejects.toThrow('a pooler stands before the database');
  });

  it('makes its tables, and lets the next one do so', async () => {
    const { connection, drop } = await freshDatabase({ empty: true });
    const pooler = await startPgbouncer(connection);
    try {
      const all = Array.from({ length: 3 }, () => migrateUp(pooler.connection));
      await Promise.all(all);
      const { applied, pending } = await migrationStatus(pooler.connection);
      expect(applied.length).toBeGreaterThan(20);
      expect(pending).toEqual([]);
    } finally {
      await pooler.end();
      await drop();
    }
  });
});
