// An entry of the gateway with a value of another type where the document prints a text, or without
// its query_result: it harms its order alone, and what came is told by name.

import { afterEach, expect, test } from 'vitest';
import { breakSentence, type Side } from '../../src/core/breaks/sentence.js';
import type { BreakKind } from '../../src/core/orders/verdict.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { answerJson } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities } from '../support/identities.js';
import { dateOf, kinds, sumOrders } from '../support/night.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Entry = Record<string, unknown>;

test('what came in the place of a text is said, and no order of it is called answered', async () => {
  const inLedger = kinds({ capture_due: 5 }, 'A1001');
  const { house, front } = await houseBehind({ orders: 900, inLedger, daysAgo: 5 });
  cleanups.push(() => house.end());
  const numbers = house.seeded.map(({ ledger }) => ledger.order_no ?? '').sort();
  const [typed = '', left = '', amount = '', code = '', good = ''] = numbers;
  const spoilt: Record<string, Entry> = {
    [typed]: { query_result: 1 },
    [left]: { query_result: undefined },
    [amount]: { amount: 10 },
    [code]: { payment_status: 2000 },
  };
  front.trouble = async (call) => {
    if (call.operation !== 'retrievalTrans') return false;
    const page = JSON.parse((await call.pass()).body) as { orders_list: Entry[] };
    const list = page.orders_list.map((one) => ({ ...one, ...spoilt[String(one.order_no)] }));
    answerJson(call, { ...page, orders_list: list });
    return true;
  };
  const at = new Date(`${dateOf(4)}T04:15:00Z`);
  const { summary } = await house.run({ date: dateOf(5) }, at);
  expect(summary.state).toBe('incomplete');
  expect((await house.effects()).map((effect) => effect.order_no)).toEqual([good]);
  expect([sumOrders(summary, 'notCompared'), sumOrders(summary, 'broken')]).toEqual([2, 2]);
  await expectIdentities(house.db, summary);
  expect(summary.coverage).toContainEqual(
    expect.objectContaining({ accountId: 'A1001', asked: 5, answered: 5, otherResult: 2 }),
  );
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'new_word');
  const ofNoText = 'it is no text, and has no meaning: its orders are not compared';
  const words = told.map(({ text }) => text).sort();
  expect(words).toEqual([
    expect.stringMatching(new RegExp(`query_result \\(missing\\): 1 .*${left}.*${ofNoText}`)),
    expect.stringMatching(new RegExp(`query_result \\(number\\) 1: 1 .*${typed}.*${ofNoText}`)),
  ]);
  const { rows } = await house.db.query<{ kind: BreakKind; actual: Side }>(
    `select kind, actual from tieout.breaks where state = 'open' order by kind`,
  );
  expect(rows.map(({ kind, actual }) => breakSentence(kind, {}, actual)).sort()).toEqual([
    expect.stringContaining("the gateway's amount '(number) 10' cannot be read"),
    expect.stringMatching(/the gateway's entry cannot be read .*code \(none\)/),
  ]);
  const here = { cwd: house.folder };
  const status = await tieoutHere(['status', '--words'], here);
  expect(status.stdout).toMatch(/query_result +\(missing\)/);
  const covered = await tieoutHere(['runs', 'show', '--coverage'], here);
  expect(covered.stdout).toContain(`${left}, page 0: answered with a query_result that is none`);
  expect(covered.stdout).toContain('(query_result (number) 1)');
  expect(covered.stdout).not.toContain('every order was asked and answered');
  const run = await findRun(house.db, dateOf(5));
  if (run === null) throw new Error('the night is not there');
  const { config, version } = await (await house.open()).sendDeps();
  const again = await verifyRun({ db: house.db, config, version, progress: () => {} }, run);
  expect(again.differences).toEqual([]);
}, 120_000);
