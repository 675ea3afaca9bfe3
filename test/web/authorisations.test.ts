// The page of reservations: what lapses when and what stands in the way, for the reader's accounts
// alone; where nobody said how long reservations hold, the key is named.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dateOf, rewriteSettings } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

let console: ConsoleHouse;
let viewer: Visitor;

beforeAll(async () => {
  console = await openConsole({
    orders: 300,
    settings: { operations: {} },
    before: async (house) => {
      const liveFrom = new Date(`${dateOf(1)}T00:00:00Z`).toISOString();
      const accounts = house.accounts.map((account) => ({
        ...account,
        liveFrom,
        ...(account.accountId === 'A1001' ? { authorisation: { validHours: 168 } } : {}),
      }));
      rewriteSettings(house, { accounts });
    },
  });
  viewer = await console.withRole('viewer');
}, 120_000);
afterAll(() => console.end());

const ordersOf = (body: string): string[] =>
  [...body.matchAll(/<th scope="row"><a href="\/orders\/([^"]+)"/g)].map(
    ([, order]) => order ?? '',
  );

describe('the page of reservations', () => {
  it('does not say that nothing lapses of an account of which nobody can know', async () => {
    const { body } = await viewer.get('/authorisations?account=A1002');
    expect(body).toContain('not known: validHours is not set for A1002 (ask the operator).');
    expect(body).not.toContain('No reservation is known to lapse');
  });

  it('lists what is at risk, with what stands in the way', async () => {
    const { statusCode, body } = await viewer.get('/authorisations');
    expect(statusCode).toBe(200);
    expect(ordersOf(body).length).toBeGreaterThan(0);
    expect(ordersOf(body).every((order) => order.startsWith('A1001/'))).toBe(true);
    expect(body).toContain('<span class="state lapsed">');
    expect(body).toContain('break: stale authorisation');
    expect(body).toMatch(/Of A1002: .*give authorisation\.validHours to the account/);
    expect(body).toMatch(/<th scope="row">A1001<\/th><td>EUR<\/td>/);
  });

  it('is said to who approves a capture, on the list and on its page', async () => {
    const approver = await console.withRole('approver');
    const { rows } = await console.house.db.query<{ id: string }>(
      `select instruction_id::text as id from tieout.instructions
       where operation = 'capture' and state = 'held' and account_id = 'A1001'`,
    );
    const told = /Its reservation lapse[sd] at [^<]*/;
    const list = await approver.get('/approvals');
    expect(list.body).toMatch(told);
    expect(list.body).toContain('no money moves');
    const pages = await Promise.all(rows.map(({ id }) => approver.get(`/instructions/${id}`)));
    const toldOf = pages.filter(({ body }) => told.test(body));
    expect(toldOf.length).toBeGreaterThan(0);
    // The others are in time.
    expect(toldOf.length).toBeLessThan(rows.length);
  });

  it('lists all of them, by hours left or by amount, page by page', async () => {
    const { body } = await viewer.get('/authorisations?show=all');
    const all = ordersOf(body);
    expect(all.some((order) => order.startsWith('A1002/'))).toBe(true);
    expect(body).toMatch(
      /<a href="\/instructions\/\d+">capture waiting for approval: the operation needs approval/,
    );
    const sorted = await viewer.get('/authorisations?show=all&sort=amount');
    expect(ordersOf(sorted.body).sort()).not.toEqual([]);
    expect(sorted.body).toContain('href="/authorisations?show=all&amp;sort=hours"');
    const amounts = [...sorted.body.matchAll(/<td class="figure">([\d,.]+)<\/td><td>EUR/g)].map(
      ([, amount = '']) => Number(amount.replaceAll(',', '')),
    );
    expect(amounts.length).toBeGreaterThan(3);
    expect(amounts).toEqual(amounts.toSorted((a, b) => b - a));
    expect((await viewer.get('/authorisations?show=all&page=99')).body).toContain('class="empty"');
  });

  it('shows a reader of one account nothing of another', async () => {
    const other = await console.withRole('viewer', 'A1002');
    const { body } = await other.get('/authorisations?show=all&account=A1001');
    expect(ordersOf(body).every((order) => order.startsWith('A1002/'))).toBe(true);
    expect(body.replace('&quot;A1001&quot; is no account to choose', '')).not.toContain('A1001');
    expect((await other.get('/')).body).not.toContain('reserved and not taken');
  });

  it('is led to by the first page where something is at risk', async () => {
    const { body } = await viewer.get('/');
    expect(body).toContain('A1001: money is reserved and not taken: ');
    expect(body).toContain('href="/authorisations?account=A1001"');
    // Also where nothing else waits for anybody.
    await console.app.db.query(
      `update tieout.instructions set state = 'withdrawn', hold_reason = null, reason = 'test',
         settled_at = now(), changed_by = 'test' where is_open`,
    );
    await console.app.db.query(`update tieout.breaks set state = 'resolved'`);
    const { body: calm } = await viewer.get('/');
    expect(calm).toContain('Nothing else than the reservations above waits for anybody.');
  });

  it('says beside a sum how many orders have an amount that cannot be read', async () => {
    expect((await viewer.get('/authorisations?show=all')).body).not.toContain('cannot be read');
    await console.house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.look_entries set amount = null
         where account_id = 'A1001' and state = 'authorised'`,
      );
    });
    expect((await viewer.get('/authorisations?show=all')).body).toMatch(
      /data-name="Reserved"><div class="hint">amount of \d+ cannot be read<\/div><\/td>/,
    );
  });
});
