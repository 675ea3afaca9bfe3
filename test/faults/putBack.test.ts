// A database that comes back older than it was, with several hosts that share it: whatever one of
// them sent since stays sent once, whoever works first. And an ordinary restart of the server, which
// nobody has to be called for.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { pullBrake } from '../../src/brake/brake.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runDate } from '../../src/night/run.js';
import { dateOf } from '../support/night.js';
import type { PutBack } from '../support/sharedServer.js';
import { PUT_BACK } from '../support/sharedServer.js';
import type { Shop } from './sharedShop.js';
import {
  askForPayout,
  closeShops,
  freezes,
  KIM,
  letGo,
  openShop,
  outcomesReader,
  PAYOUT,
  waiting,
} from './sharedShop.js';

/** Nights, restarts of a server, and a wait for a host that is away. */
vi.setConfig({ testTimeout: 240_000 });

afterEach(closeShops);

/** What B sent is in no database any more; A, which was there before, comes first. */
async function lostByB(
  shop: Shop,
  how: PutBack,
  reader?: ReturnType<typeof outcomesReader>,
): Promise<string[]> {
  const { a, b, server } = shop;
  await a.night(3);
  // Recovery to a point before B ever came forgets that there is such a host.
  if (how !== 'recovery to a point in time') await b.night(3);
  await askForPayout(shop);
  await server.keep(how);
  // The server was started anew for it.
  if (how === 'a cold copy') await a.comeBy();
  await b.night(2);
  const moved = await shop.effects();
  expect(moved.filter((one) => one.startsWith('refund'))).toHaveLength(2);
  expect(moved.filter((one) => one.startsWith('payout'))).toHaveLength(1);
  await reader?.read();
  await server.putBack(how);
  return moved;
}

const OTHER = `${PAYOUT.slice(0, -1)}a`;

/** What the shop was told that the database still has. */
const keptAlone = ({ server }: Shop): Promise<string[]> =>
  server.at(async (db) => {
    const { rows } = await db.query<{ told: string }>(
      `select concat_ws(' ', seq, order_no, state) as told from tieout.outcomes`,
    );
    return rows.map(({ told }) => told);
  });

describe.each(PUT_BACK)('a database put back by %s', (how) => {
  it('pays nothing again, whichever host works first, and goes on', async () => {
    const shop = await openShop();
    const reader = outcomesReader(shop);
    const moved = await lostByB(shop, how, reader);
    const kept = await keptAlone(shop);
    await askForPayout(shop, 1, OTHER, { payment_amount: '7', payment_currency: 'EUR' });
    await shop.a.night(2);
    await reader.read();
    expect(await shop.effects()).toEqual(moved);
    // B comes back: what it sent is held by itself.
    await shop.b.night(2);
    await reader.read();
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal|another one/)]);
    await letGo(shop);
    await shop.server.at((db) =>
      db.query('delete from ledger.payout_requests where request_id = $1', [OTHER]),
    );
    await shop.a.night(1);
    await shop.b.night(1);
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(['payout held: restored', 'refund held: restored']);
    // The shop kept its number, and knows nothing of all this.
    await reader.read();
    const since = (await reader.kept()).filter((one) => !kept.includes(one));
    expect(since).toEqual([expect.stringMatching(`^\\d+ ${OTHER} withdrawn$`)]);
    expect(since.filter((one) => !reader.seen.includes(one))).toEqual([]);
    expect(new Set(reader.seen.map((one) => one.split(' ')[0])).size).toBe(reader.seen.length);
  });
});

describe('a logical replica that was promoted: the rows of the database without its sequences', () => {
  it('goes on behind the numbers that are in use', async () => {
    const shop = await openShop();
    await shop.a.night(3);
    await askForPayout(shop);
    await shop.server.at((db) =>
      db.query(`select setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
        from pg_sequences where schemaname = 'tieout'`),
    );
    expect((await shop.a.night(2)).state).toBe('tied_out');
    const moved = await shop.effects();
    expect(new Set(moved).size).toBe(moved.length);
    expect(moved.filter((one) => one.startsWith('payout'))).toHaveLength(1);
    const behind = await shop.server.at((db) =>
      db.query('select tieout.bring_numbers_forward() as moved'),
    );
    expect(behind.rows).toEqual([{ moved: [] }]);
  });

  it('does so also where nothing was sealed yet', async () => {
    const shop = await openShop();
    const moved = await shop.server.at(async (db) => {
      await db.query(`insert into tieout.runs (business_date, is_dry, covers, starts_at, ends_at,
          state, environment, settings, settings_sha256, version, created_at)
        values ('2026-03-01', true, '{2026-03-01}', now(), now() + interval '1 day', 'failed', 'test',
          '{}', '', '0', now())`);
      await db.query(`select setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false)
        from pg_sequences where schemaname = 'tieout'`);
      const { rows: links } = await db.query(
        'select count(*)::int as links from tieout.chain_links',
      );
      expect(links).toEqual([{ links: 0 }]);
      return db.query('select tieout.bring_numbers_forward() as moved');
    });
    expect(moved.rows).toEqual([{ moved: ['tieout.runs'] }]);
  });
});

describe('a host that never was there', () => {
  it('sends by a dump that is loaded anew only after the others have looked', async () => {
    const shop = await openShop();
    const moved = await lostByB(shop, 'a dump that is loaded anew');
    expect((await shop.c.night(2)).state).toBe('incomplete');
    expect(shop.c.lines.join()).toMatch(/these hosts have not held .*\/a\/var.*\/b\/var/);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a host that is let go of', () => {
  it('is paid for by nobody a second time, and tells what it knows when it comes', async () => {
    const shop = await openShop();
    const moved = await lostByB(shop, 'a base backup');
    await shop.a.night(2);
    expect(await freezes(shop)).toEqual([]);
    expect((await letGo(shop)).lifted).toEqual([expect.stringMatching(/not held .*\/b\/var/)]);
    await shop.a.night(2);
    await shop.a.comeBy();
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(['payout held: restored', 'refund held: restored']);
    // Let go of without having looked: what it knows counts when it comes.
    await shop.b.comeBy();
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 2 permit/)]);
    await letGo(shop);
    await shop.b.night(1);
    await shop.a.night(1);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a look from before the database was put back', () => {
  it('vouches for nothing: what another host captured since is looked at first', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    const want = (expected: string) =>
      server.at((db) =>
        db.query(
          `update ledger.orders set expected = $1 where expected in ('captured', $2)
          and order_no not in (select order_no from ledger.refund_requests)`,
          [expected, 'authorised'],
        ),
      );
    await want('authorised');
    await a.night(3);
    await b.night(3);
    await want('captured');
    const stop = { accountId: null, reason: 'wait for B', who: KIM };
    await server.at((db) => pullBrake({ db }, stop));
    // Young enough to send by, as it stands in the copy.
    await a.night(2, new Date());
    expect(await waiting(shop)).toContain('capture queued');
    await server.keep('a base backup');
    await letGo(shop);
    await b.night(2, new Date());
    const moved = await shop.effects();
    expect(moved.filter((one) => one.startsWith('capture'))).toHaveLength(2);
    await server.putBack('a base backup');
    expect((await letGo(shop)).lifted).toContainEqual(expect.stringMatching(/not held .*\/b\/var/));
    const app = await a.enter();
    const workforce = await app.workforce();
    await workforce.start();
    await expect
      .poll(() => waiting(shop), { timeout: 30_000 })
      .not.toContainEqual(expect.stringMatching(/^capture/));
    await workforce.stop();
    // A gateway that takes a second capture would have made one.
    const { rows } = await server.at((db) =>
      db.query(`select i.order_no from tieout.attempts t join tieout.batches b using (batch_id)
        join tieout.instructions i using (batch_id) where i.operation = 'capture'`),
    );
    expect(rows).toEqual([]);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a host that lived on', () => {
  it('knows by its own signs of life that the database was put back', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await server.keep('a base backup');
    await b.night(2);
    const moved = await shop.effects();
    // It sends nothing, and yet comes by after the other has sent.
    await a.comeBy();
    await server.putBack('a base backup');
    await a.night(2);
    expect(await freezes(shop)).toEqual([
      expect.stringMatching(/put back: it lacks signs of life/),
    ]);
    expect(await shop.effects()).toEqual(moved);
  });
});

describe('a process that lived on', () => {
  it('sends again once a person has let go, though its newest permit is forgotten', async () => {
    const shop = await openShop();
    const { a, server } = shop;
    await a.night(3);
    await server.keep('a base backup');
    const app = await a.enter();
    const night = async (daysAgo: number): Promise<RunSummary> => {
      const request = { date: dateOf(daysAgo), accountIds: [], isDry: false };
      return (await runDate(await app.sendDeps(), request, await app.workforce())).summary;
    };
    await night(2);
    const moved = await shop.effects();
    await server.putBack('a base backup');
    await night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 1 permit/)]);
    await letGo(shop);
    await askForPayout(shop, 0);
    await night(1);
    expect(await shop.effects()).toEqual([...moved, expect.stringMatching(/^payout/)]);
  });
});

describe('a payment by hand', () => {
  it('is missed by its host, should the database go back behind it', async () => {
    const shop = await openShop();
    const { a, server } = shop;
    await a.night(3);
    await askForPayout(shop);
    await server.keep('a base backup');
    await a.payByHand();
    const moved = await shop.effects();
    expect(moved.filter((one) => one.startsWith('payout'))).toHaveLength(1);
    await server.putBack('a base backup');
    await a.night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 1 permit/)]);
    const { rows: lost } = await server.at((db) =>
      db.query('select operation, order_no, amount, currency from tieout.lost_permits'),
    );
    expect(lost).toEqual([
      { operation: 'payout', order_no: PAYOUT, amount: '120', currency: 'EUR' },
    ]);
    await letGo(shop);
    await a.night(2);
    expect((await shop.effects()).filter((one) => one.startsWith('payout'))).toHaveLength(1);
    expect(await waiting(shop)).toContain('payout held: restored');
  });
});

/** The whole walk: run with all operations `approve`, read, `brake off`, run; then as it was. */
describe.each(['auto', 'approve'])('the runbook after a freeze, with operations %s', (policy) => {
  it('moves nothing twice without a person who was told', async () => {
    const shop = await openShop();
    const { a, server } = shop;
    await a.night(3);
    await askForPayout(shop);
    // Approved before, and sent after the copy was taken.
    a.set('approve');
    await a.night(2);
    expect(await waiting(shop)).toEqual(['payout held: approval', 'refund held: approval']);
    const seenBefore = await a.see();
    await a.decide('approve');
    expect(await waiting(shop)).toEqual(['payout queued', 'refund queued']);
    await server.keep('a base backup');
    await a.comeBy();
    const moved = await shop.effects();
    expect(moved.filter((one) => /^(refund|payout)/.test(one))).toHaveLength(3);
    await server.putBack('a base backup');
    a.set(policy);
    await a.night(2);
    expect(await freezes(shop)).toEqual([expect.stringMatching(/journal knows 2 permit/)]);
    const held = ['payout held: restored', 'refund held: restored'];
    expect(await waiting(shop)).toEqual(held);
    // Whoever approves without having looked is told what it is about.
    expect(await a.decide('approve')).toEqual([
      expect.stringMatching(/was sent before .*, or may have been/),
      expect.stringMatching(/was sent before .*, or may have been/),
    ]);
    // Nor does a workbook of before know of it.
    expect(await a.decide('approve', seenBefore)).toEqual([
      expect.stringMatching(/no longer what you saw/),
      expect.stringMatching(/no longer what you saw/),
    ]);
    await letGo(shop);
    await a.night(2);
    await a.comeBy();
    a.set('auto');
    await a.night(1);
    await a.comeBy();
    expect(await shop.effects()).toEqual(moved);
    expect(await waiting(shop)).toEqual(held);
    // The only road: a person who has seen the sheet of each.
    await a.decide('approve', 'seen');
    await a.comeBy();
    expect((await shop.effects()).slice(moved.length).map((one) => one.split(' ')[0])).toEqual(
      expect.arrayContaining(['refund', 'payout']),
    );
  });
});

describe('a server that is started anew', () => {
  it('is sent by again by itself, as soon as every host that lives has looked', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await b.night(3);
    // Both live on, with nothing to do.
    for (const host of [a, b]) await (await (await host.enter()).sendDeps()).journal.keep();
    await server.restart();
    const { state } = await a.night(2);
    expect(state).toBe('tied_out');
    expect((await shop.effects()).filter((one) => one.startsWith('refund'))).toHaveLength(2);
  });

  it('waits for a host that is away, which is named, and goes on when it comes', async () => {
    const shop = await openShop();
    const { a, b, server } = shop;
    await a.night(3);
    await b.night(3);
    await server.restart();
    const before = await shop.effects();
    const app = await a.enter();
    const workforce = await app.workforce();
    await workforce.start();
    const { state } = await a.night(2);
    expect(state).toBe('incomplete');
    expect(await shop.effects()).toEqual(before);
    expect(a.lines.join('\n')).toMatch(
      /nothing is sent: .*these hosts have not held .*\/b\/var\/journal.*`tieout brake off --reason/,
    );
    await b.comeBy();
    // The workers that live send what waited, without a person.
    await expect
      .poll(async () => (await shop.effects()).length, { timeout: 30_000 })
      .toBe(before.length + 1);
    await workforce.stop();
  });
});
