// The pages of a snapshot on a real PostgreSQL: whoever works on a chunk reads all of its orders, and
// answers come back as they were stored.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { profileDigest } from '../../src/config/view.js';
import type { Database } from '../../src/database/db.js';
import { copyPages } from '../../src/pull/snapshot/pagesStore.js';
import type { AskedPage } from '../../src/pull/snapshot/snapshotsStore.js';
import {
  claimChunk,
  createChunks,
  createPull,
  pagesOfChunk,
  releaseChunks,
  unfinishedPull,
  waitingChunks,
} from '../../src/pull/snapshot/snapshotsStore.js';
import { otherReading } from '../../src/runs/environment.js';
import { readingOfChunk } from '../../src/runs/runsStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import { storeRun } from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let pullId = 0n;
const accountId = 'A1';
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
  ({ pullId } = await createPull(db, await storeRun(db, accountId), 'night'));
});
afterAll(() => fresh.drop());

test('the pages of a chunk are read with all of their orders, wherever in the numbers these stand', async () => {
  // One that stands twice in the ledger is on a page after all others.
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger)
     select $1::bigint, $2, to_char(n, 'FM00000'), n / 100, true from generate_series(0, 10049) as n
     union all select $1, $2, '00000a', 101, true
     union all select $1, $2, 'no page', null, true`,
    [pullId, accountId],
  );
  const first = await createChunks(db, pullId);
  expect(first).toHaveLength(2);
  await releaseChunks(db, pullId);
  const asked: AskedPage[] = [];
  for (const chunkId of await waitingChunks(db, pullId)) {
    expect(first).not.toContain(chunkId);
    const chunk = await claimChunk(db, chunkId, randomUUID(), 'w1');
    if (chunk) asked.push(...(await pagesOfChunk(db, chunk)));
  }
  const { rows } = await db.query(
    `select page_no as "pageNo", array_agg(order_no order by order_no) as "orderNos"
     from tieout.asked_orders where pull_id = $1 and page_no is not null group by 1 order by 1`,
    [pullId],
  );
  expect(asked).toEqual(rows);
  expect(asked.at(-1)).toEqual({ pageNo: 101, orderNos: ['00000a'] });
  // One that was cut before chunks knew their orders.
  const cut = { chunkId: 0n, pullId, accountId, firstPage: 100, lastPage: 101 };
  const before = await pagesOfChunk(db, { ...cut, firstOrder: null, lastOrder: null });
  expect(before).toEqual(rows.slice(-2));
});

test('pages come back as they were stored, answered and failed', async () => {
  const bodyGzip = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 256));
  const at = new Date('1999-12-31T23:59:59.123Z');
  const bodySha256 = 'f0'.repeat(32);
  const answered = { at, entries: 3, unasked: 1, copyText: '', bodyGzip, bodySha256 };
  const pages = [
    { pageNo: 7, orders: 2, attempts: 1, answered, reason: null },
    {
      pageNo: 2_000_000_000,
      orders: 0,
      attempts: 4,
      answered: null,
      reason: 'no\0 \\N \tŁódź 😀',
    },
  ];
  await db.transaction((tx) => copyPages(tx, { pullId, accountId }, pages));
  const { rows } = await db.query(
    `select page_no, stands_for_walk, state, orders, attempts, reason, entries, unasked,
       answered_at, encode(body_sha256, 'hex') as sha256, body_gzip
     from tieout.pages where pull_id = $1 and account_id = $2 order by page_no`,
    [pullId, accountId],
  );
  expect(rows).toEqual([
    {
      ...{ page_no: 7, stands_for_walk: false, state: 'answered', orders: 2, attempts: 1 },
      ...{ reason: null, entries: 3, unasked: 1, answered_at: at, sha256: bodySha256 },
      body_gzip: bodyGzip,
    },
    {
      ...{ page_no: 2_000_000_000, stands_for_walk: false, state: 'failed', orders: 0 },
      ...{ attempts: 4, reason: 'no\uFFFD \\N \tŁódź 😀', entries: null, unasked: null },
      ...{ answered_at: null, sha256: null, body_gzip: null },
    },
  ]);
});

test('a worker with another profile leaves the pages alone, and nobody goes on with that look', async () => {
  const runId = await storeRun(db, accountId);
  const look = await createPull(db, runId, 'night', 'b'.repeat(64));
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger)
     values ($1, $2, 'O1', 0, true)`,
    [look.pullId, accountId],
  );
  await db.query('update tieout.run_accounts set pull_id = $2 where run_id = $1', [
    runId,
    look.pullId,
  ]);
  const [chunkId = 0n] = await createChunks(db, look.pullId);
  const reading = await readingOfChunk(db, chunkId);
  expect(reading).toMatchObject({ accountId, merchantId: 'M1', profileSha256: 'b'.repeat(64) });
  const config = {
    environment: 'test' as const,
    gateway: { profileText: 'statuses: other' },
    accounts: [{ accountId, merchantId: 'M1' }],
  } as unknown as Parameters<typeof otherReading>[0];
  if (reading === null) throw new Error('the chunk is there');
  expect(otherReading(config, reading)).toMatch(/profile of this process is another one/);
  const same = { ...reading, profileSha256: profileDigest(config) };
  expect(otherReading(config, same)).toBeNull();
  expect(otherReading(config, { ...same, merchantId: 'M2' })).toMatch(/of merchant M1 here, M2 in/);
  const goneOn = (profile: string) => unfinishedPull(db, runId, [accountId], 30, profile);
  expect((await goneOn('b'.repeat(64)))?.pullId).toBe(look.pullId);
  expect(await goneOn(profileDigest(config))).toBeNull();
});
