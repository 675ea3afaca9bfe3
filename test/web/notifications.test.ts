// The address for the gateway's notifications: bytes are kept, hints are followed, nothing is believed.

import { fastify } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { webSchema } from '../../src/config/web.js';
import { candidateWords } from '../../src/core/instructions/hints.js';
import type { Connection } from '../../src/database/connection.js';
import type { Database } from '../../src/database/db.js';
import { openDatabase } from '../../src/database/db.js';
import { migrationStatus } from '../../src/database/migrate.js';
import { clearHints } from '../../src/ledger/notificationsStore.js';
import { askLive, createPull } from '../../src/pull/snapshot/snapshotsStore.js';
import type { MonitorDeps } from '../../src/web/health.js';
import { addMetrics } from '../../src/web/metrics.js';
import { createWebServer } from '../../src/web/server.js';
import type { ConsoleDeps } from '../../src/web/visit.js';
import { freshDatabase } from '../support/database.js';

describe('words that could be order numbers', () => {
  it.each([
    ['json', '{"order_no":"SO-1","n":2}', ['order_no', 'SO-1', 'n', '2']],
    ['form', 'order_no=SO%2D7&x=1', ['SO-7']],
    ['nothing', '{}', []],
    ['bytes that are no text', '\uFFFD\uFFFD', []],
  ])('of %s', (_name, text, expected) => {
    expect(candidateWords(text)).toEqual(expect.arrayContaining(expected));
  });

  it('are limited in number and length', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `W${index}`).join(' ');
    expect(candidateWords(many)).toHaveLength(1_000);
    expect(candidateWords('x'.repeat(129))).toEqual([]);
  });
});

const SECRET = 'only-the-gateway-is-told';
const DOOR = `/notify/${SECRET}`;

describe('POST /notify', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  const now = new Date('2026-11-20T10:00:00Z');

  beforeAll(async () => {
    database = await freshDatabase();
    await database.db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       values ('A1', 'SO-1', 'EUR', 10, 'cancelled', '2020-01-01T00:00:00Z'),
         ('A2', 'SO-1', 'EUR', 10, 'cancelled', '2020-01-01T00:00:00Z')`,
    );
  });
  beforeEach(async () => {
    await database.db.query('delete from tieout.look_hints');
    await database.db.query('delete from tieout.notifications');
  });
  afterAll(() => database.drop());

  function server(
    parts: {
      pending: () => Promise<number>;
      queueCounts: MonitorDeps['queueCounts'];
      queueTakesJobs: MonitorDeps['queueTakesJobs'];
    } | null = null,
    doors: {
      from?: string[];
      proxies?: string[];
      isShut?: boolean;
      isOpenPath?: boolean;
      said?: string[];
    } = {},
  ) {
    const { db } = database;
    const config = { schedule: {}, accounts: [] } as unknown as Config;
    const monitor = parts && {
      ...{ db, config, now: () => now, version: '0', isAlive: () => null, localTicks: () => [] },
      ...parts,
      pendingMigrations: parts.pending,
    };
    return createWebServer({
      db: database.db,
      accountIds: ['A1'],
      now: () => now,
      log: (line) => void doors.said?.push(line),
      console: null,
      monitor,
      notifications:
        doors.isShut === true
          ? null
          : { secret: doors.isOpenPath === true ? null : SECRET, from: doors.from ?? [] },
      proxies: doors.proxies ?? [],
    });
  }

  const knock = (
    one: ReturnType<typeof server>,
    remoteAddress: string,
    url = DOOR,
    headers: Record<string, string> = {},
  ) => one.inject({ method: 'POST', url, payload: 'SO-1', remoteAddress, headers });

  it('is not there until it is configured, nor under another path', async () => {
    expect((await knock(server(null, { isShut: true }), '10.0.0.1')).statusCode).toBe(404);
    for (const url of ['/notify', '/notify/', `/notify/${SECRET}x`, `${DOOR}/`]) {
      expect([url, (await knock(server(), '10.0.0.1', url)).statusCode]).toEqual([url, 404]);
    }
  });

  it('says nowhere under which secret it was asked, and once a minute who was refused', async () => {
    const said: string[] = [];
    const one = server(null, { from: ['192.0.2.7'], said });
    for (const url of [DOOR, `${DOOR}/`, `${DOOR}?x=1`, `/notify/%ff${SECRET}`, `/${SECRET}`]) {
      for (const method of ['POST', 'GET', 'PUT'] as const) {
        const payload = Buffer.alloc(method === 'GET' ? 0 : 70_000, 'x');
        await one.inject({ method, url, payload, remoteAddress: '192.0.2.8' });
        await one.inject({ method, url, payload, remoteAddress: '192.0.2.7' });
      }
    }
    expect(said.join('\n')).not.toContain(SECRET);
    expect(said.filter((line) => line.includes('192.0.2.8'))).toHaveLength(1);
  });

  it.each([
    ['192.0.2.7', ['192.0.2.7'], 200],
    ['192.0.2.8', ['192.0.2.7'], 404],
    ['192.0.2.8', ['192.0.2.0/24'], 200],
    ['::ffff:192.0.2.8', ['192.0.2.0/24'], 200],
    ['2001:db8::5', ['192.0.2.0/24', '2001:db8::/32'], 200],
    ['2001:db9::5', ['2001:db8::/32'], 404],
    ['203.0.113.1', [], 200],
  ])('lets in whom it is for: %s of %j', async (address, from, code) => {
    expect((await knock(server(null, { from }), address)).statusCode).toBe(code);
  });

  it('has no secret in its address where addresses alone are the door', async () => {
    const one = server(null, { from: ['192.0.2.7'], isOpenPath: true });
    const codes = async (address: string) =>
      Promise.all(
        ['/notify', DOOR, '/notify/'].map(
          async (url) => (await knock(one, address, url)).statusCode,
        ),
      );
    expect(await codes('192.0.2.7')).toEqual([200, 404, 404]);
    expect(await codes('192.0.2.8')).toEqual([404, 404, 404]);
    expect(webSchema.safeParse({ notifications: { from: ['192.0.2.7'] } }).success).toBe(true);
    expect(webSchema.safeParse({ notifications: {} }).success).toBe(false);
  });

  it('believes of X-Forwarded-For what a named proxy says, and tells of another one', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    const said: string[] = [];
    const from = ['192.0.2.7'];
    const stranger = server(null, { from, said });
    expect((await knock(stranger, '127.0.0.1', DOOR, headers)).statusCode).toBe(404);
    const ofProxies = said.filter((line) => line.includes('web.proxies'));
    expect(ofProxies).toHaveLength(1);
    const named = server(null, { from, proxies: ['127.0.0.1'] });
    expect((await knock(named, '127.0.0.1', DOOR, headers)).statusCode).toBe(200);
  });

  it('keeps hints and nothing else, which expire, and clears what was kept once', async () => {
    const { db } = database;
    await db.query(
      `insert into tieout.look_hints values ('A1', 'OLD', $1::timestamptz - interval '36 days'),
         ('A1', 'NEW', $1::timestamptz - interval '34 days')`,
      [now],
    );
    await db.query(
      `insert into tieout.notifications (received_at, body, body_sha256, hints)
       values ($1::timestamptz - interval '36 days', '', '', 0)`,
      [now],
    );
    const payload = Buffer.from([0xff, 0x00, 0x7b]);
    const headers = { 'content-type': 'application/json' };
    const answer = await server().inject({ method: 'POST', url: DOOR, headers, payload });
    expect(answer.statusCode).toBe(200);
    expect((await db.query('select * from tieout.notifications')).rows).toEqual([]);
    const { rows } = await db.query('select order_no from tieout.look_hints');
    expect(rows).toEqual([{ order_no: 'NEW' }]);
  });

  it('hints only at orders that the ledger has, of accounts of this configuration', async () => {
    await server().inject({ method: 'POST', url: DOOR, payload: 'order_no=SO-1&status=3000' });
    const { rows } = await database.db.query('select account_id, order_no from tieout.look_hints');
    expect(rows).toEqual([{ account_id: 'A1', order_no: 'SO-1' }]);
  });

  it('refuses a body over the limit and keeps nothing of it', async () => {
    const answer = await server().inject({
      method: 'POST',
      url: DOOR,
      payload: Buffer.alloc(70_000, 'x'),
    });
    expect(answer.statusCode).toBe(413);
    const { rows } = await database.db.query('select 1 from tieout.notifications');
    expect(rows).toEqual([]);
  });

  it('refuses a flood of one source, and nobody else for it', async () => {
    const one = server();
    const codes = new Set<number>();
    for (let count = 0; count < 601; count += 1) {
      codes.add((await knock(one, '10.0.0.1')).statusCode);
    }
    expect([...codes]).toEqual([200, 429]);
    expect((await knock(one, '10.0.0.2')).statusCode).toBe(200);
  });

  it('answers the sign of life', async () => {
    const answer = await server().inject({ method: 'GET', url: '/healthz' });
    expect([answer.statusCode, answer.body]).toEqual([200, 'ok\n']);
  });

  it('says which part is not ready, and nothing else of it', async () => {
    const empty = await freshDatabase({ empty: true });
    const fails = () => Promise.reject(new Error('password of 10.0.0.7 refused'));
    const pendingOf = (connection: Connection) => async () =>
      (await migrationStatus(connection)).pending.length;
    const counts = async () => ({});
    const takes = async () => {};
    const ready = async (
      pending: () => Promise<number>,
      queueCounts: typeof counts,
      queueTakesJobs: typeof takes = takes,
    ) => {
      const one = server({ pending, queueCounts, queueTakesJobs });
      const { statusCode, body } = await one.inject('/readyz');
      return [statusCode, body];
    };
    expect(await ready(pendingOf(database.connection), counts)).toEqual([200, 'ready\n']);
    expect(await ready(pendingOf(database.connection), counts, fails)).toEqual([
      503,
      'queue: it takes no jobs\n',
    ]);
    const missing = [503, expect.stringMatching(/^database: \d+ migration\(s\) are missing\n$/)];
    expect(await ready(pendingOf(empty.connection), counts)).toEqual(missing);
    const away = { host: '/nowhere', user: 'nobody', database: 'none' };
    expect(await ready(pendingOf(away), fails)).toEqual([
      503,
      'database: it does not answer\nqueue: it does not answer\n',
    ]);
    await empty.drop();
  });

  it('has no figures of what it cannot ask, and one for the accounts past so many', async () => {
    const metricsToken = 'a-token-of-the-monitor';
    const accounts = Array.from({ length: 203 }, (_, at) => ({ accountId: `B${at}` }));
    const schedule = { timezone: 'UTC', cutOff: '00:00', resumeUntil: '06:30' };
    const about = { environment: 'test', web: { metricsToken } };
    const config = { ...about, accounts, schedule } as unknown as Config;
    const read = async (db: Database, queueCounts: MonitorDeps['queueCounts']) => {
      const metrics = fastify();
      const monitor = { db, config, now: () => now, version: '0', isAlive: () => null };
      const [pendingMigrations, queueTakesJobs] = [async () => 0, async () => {}];
      addMetrics(metrics, { config } as ConsoleDeps, {
        ...monitor,
        ...{ localTicks: () => [], queueCounts, queueTakesJobs, pendingMigrations },
      });
      const headers = { authorization: `Bearer ${metricsToken}` };
      return (await metrics.inject({ url: '/metrics', headers })).body;
    };
    const away = openDatabase({ host: '/nowhere', user: 'nobody', database: 'none' });
    const nothing = await read(away, () => Promise.reject(new Error('away')));
    await away.close();
    expect(nothing.split('\n').filter((line) => /^tieout_/.test(line))).toEqual([
      'tieout_info{version="0",environment="test"} 1',
      'tieout_database_up 0',
      'tieout_queue_up 0',
    ]);
    await database.db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint)
       select 'B' || n, 'O', 'amount_mismatch', 'open', now(), 1, 1, '{}', '{}', ''
       from generate_series(0, 202) as n`,
    );
    const text = await read(database.db, async () => ({}));
    expect(text.match(/^tieout_open_breaks\{/gm)).toHaveLength(201);
    expect(text).toContain('tieout_open_breaks{account="others",kind="amount_mismatch"} 3');
    expect(text).not.toMatch(/^tieout_run_finished_timestamp_seconds /m);
  });

  it('brings a hinted order of any age into the next pull, once', async () => {
    const { db } = database;
    await server().inject({ method: 'POST', url: DOOR, payload: '{"x":"SO-1"}' });
    await db.query(
      `insert into tieout.final_orders (account_id, order_no, fingerprint, run_id)
       select account_id, order_no, md5(row(currency, amount::numeric(20, 2), expected,
         nullif(transaction_id, ''), capture_amount::numeric(20, 2), review_decision,
         placed_at)::text), 1 from ledger.orders where account_id = 'A1'`,
    );
    const run = await db.query<{ run_id: bigint }>(
      `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at)
       values ('2026-11-19', '{2026-11-19}', '2026-11-19', '2026-11-20', 'failed', 'test', '{}',
         '', '', now()) returning run_id`,
    );
    const ask = async (): Promise<{ pullId: bigint; orders: number }> => {
      const { pullId } = await createPull(db, run.rows[0]?.run_id ?? 0n, 'night');
      const range = { endsAt: now, lookbackFrom: new Date('2026-10-01T00:00:00Z') };
      const cut = { separator: ',', pageOrders: 100 };
      await askLive(db, pullId, [{ account_id: 'A1', live_from: null }], range, cut);
      const { rows } = await db.query('select 1 from tieout.asked_orders where pull_id = $1', [
        pullId,
      ]);
      return { pullId, orders: rows.length };
    };
    const first = await ask();
    expect(first.orders).toBe(1);
    await db.query(
      `insert into tieout.pages (pull_id, account_id, page_no, state, orders, entries, attempts,
         answered_at) values ($1, 'A1', 0, 'answered', 1, 0, 1, now())`,
      [first.pullId],
    );
    await clearHints(db, first.pullId);
    expect((await ask()).orders).toBe(0);
  });
});
