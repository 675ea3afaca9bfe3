// An entry of the gateway that names no order, or is none: it harms itself alone. The other orders
// of its page are judged and go on; of those without an entry there nothing is said, for it may be
// about any of them. Neighbour: poisonedAnswers.test.ts, where entries name their order.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { sandboxProfile } from '../../src/gateway/document/profile.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { answerJson } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { expectIdentities } from '../support/identities.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, openBreaksOf, rewriteSettings, sumOrders } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Entry = Record<string, unknown>;

async function runOf(house: House, daysAgo: number): Promise<RunSummary> {
  const at = new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`);
  return (await house.run({ date: dateOf(daysAgo) }, at)).summary;
}

async function capturedOf(house: House): Promise<string[]> {
  return (await house.effects()).map((effect) => effect.order_no).sort();
}

test.each<[string, 'order_list' | 'none', (entry: Entry) => unknown]>([
  ['is no object', 'order_list', () => 'maintenance'],
  ['has no order_no', 'order_list', ({ order_no: _, ...entry }) => entry],
  [
    'has no order_no, where none is asked for by number',
    'none',
    ({ order_no: _, ...entry }) => entry,
  ],
])('an entry that %s leaves the others of its page to be judged', async (_, select, spoil) => {
  // Asked for none by number, a gateway that answers all at once has to have few.
  const isAll = select === 'none';
  const inLedger = kinds(isAll ? { plain: 4 } : { capture_due: 4 }, 'A1001');
  const orders = isAll ? 120 : 900;
  const { house, front } = await houseBehind({ orders, inLedger, daysAgo: 5 });
  cleanups.push(() => house.end());
  if (isAll) {
    const { query, ...others } = sandboxProfile();
    const profile = join(house.folder, 'profile.yaml');
    writeFileSync(profile, JSON.stringify({ ...others, query: { ...query, select } }));
    rewriteSettings(house, { gateway: { baseUrl: house.gatewayUrl, profile } });
  }
  const numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '').sort();
  const [bad = '', ...good] = numbers;
  const asked: string[] = [];
  let isOdd = true;
  front.trouble = async (call) => {
    if (call.operation !== 'retrievalTrans') return false;
    asked.push(call.body);
    const passed = await call.pass();
    const page = JSON.parse(passed.body) as { orders_list: Entry[] };
    const mine = page.orders_list.filter((entry) => numbers.includes(String(entry.order_no)));
    const list = mine.map((entry) => (isOdd && entry.order_no === bad ? spoil(entry) : entry));
    answerJson(call, { ...page, orders_list: list });
    return true;
  };
  const first = await runOf(house, 5);
  expect(await capturedOf(house)).toEqual(isAll ? [] : good);
  expect(first.state).toBe('incomplete');
  expect(first.pull.failedPages).toBe(0);
  expect([sumOrders(first, 'notCompared'), sumOrders(first, 'matched')]).toEqual([1, good.length]);
  if (!isAll) await expectIdentities(house.db, first);
  const told = (first.notices ?? []).filter(({ kind }) => kind === 'unreadable_entry');
  expect(told.map(({ text }) => text).join()).toMatch(
    /1 entry that names no order \(entry \d of page \d\).* 1 order without an entry there/,
  );
  // Not missing at the gateway: nobody knows. The entry itself is invalid, by a name of its own.
  const breaks = await openBreaksOf(house.db);
  expect(breaks).toEqual([expect.stringMatching(/^\(unreadable\)…[0-9a-f]{16} invalid_record$/)]);
  const run = await findRun(house.db, dateOf(5));
  if (run === null) throw new Error('no run');
  const { config, version } = await (await house.open()).sendDeps();
  const again = await verifyRun({ db: house.db, config, version, progress: () => {} }, run);
  expect(again.differences).toEqual([]);

  isOdd = false;
  const second = await runOf(house, 4);
  expect(await capturedOf(house)).toEqual(isAll ? [] : numbers);
  expect(await openBreaksOf(house.db)).toEqual([]);
  expect(second.state).toBe('tied_out');
  expect(asked.join()).not.toContain('unreadable');
});

test('where every order has its own entry beside it, only the odd one is told', async () => {
  const inLedger = kinds({ capture_due: 2 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 5 });
  cleanups.push(() => house.end());
  front.trouble = async (call) => {
    if (call.operation !== 'retrievalTrans') return false;
    const page = JSON.parse((await call.pass()).body) as { orders_list: Entry[] };
    answerJson(call, { ...page, orders_list: [...page.orders_list, 7] });
    return true;
  };
  const summary = await runOf(house, 5);
  expect(await capturedOf(house)).toHaveLength(2);
  expect(sumOrders(summary, 'notCompared')).toBe(0);
  expect(summary.state).toBe('broken');
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'unreadable_entry');
  expect(told[0]?.text).toMatch(/every order that was asked for there has its own/);
});
