// A revision of the nightly workbook that is written after `tieout send`: what was sent waits no
// more on any sheet, the statement has it on both sides, and explains no amount twice.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MovedAfter } from '../../src/core/runs/closingChecklist.js';
import { movedAfter } from '../../src/days/daysStore.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sendApproved } from '../../src/night/sendApproved.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { statementLines } from '../../src/report/statementStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx } from '../reports/openXlsx.js';
import type { PlainBook } from '../reports/plainReader.js';
import { readPlainly } from '../reports/plainReader.js';
import { APPROVE } from '../support/deciding.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

const CLOCK = { at: new Date(), timezone: 'UTC' };
const DATE = dateOf(2);

interface Sent {
  id: bigint;
  orderNo: string;
  money: string;
}

let house: House;
let sent: Sent[];
let movedBefore: MovedAfter[];
let path: string;
let book: PlainBook;

beforeAll(async () => {
  house = await buildHouse({
    orders: 900,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 2, partial_refund_due: 1 }),
    settings: {
      operations: { capture: 'approve', cancel: 'approve', refund: 'approve', review: 'approve' },
      settlement: { from: DATE },
    },
  });
  await house.run({ date: DATE });
  const { rows } = await house.db.query<Sent>(
    `select distinct on (operation) instruction_id as id, order_no as "orderNo",
       coalesce(refund_amount, amount)::text as money
     from tieout.instructions where state = 'held' order by operation, instruction_id`,
  );
  sent = rows;
  const app = await house.open();
  const who = { name: 'anna', isClaim: false };
  const ids = sent.map(({ id }) => id);
  await decideInstructions(await app.sendDeps(), { ids, decision: APPROVE, who });
  await sendApproved(await app.sendDeps(), accountIds(), await app.workforce());
  movedBefore = await moved();
  const run = await findRun(house.db, DATE);
  const reports = await queueReports(
    house.db,
    run?.runId ?? 0n,
    ['reconciliation', 'orders'],
    new Date(),
  );
  for (const id of reports) await writeReport(app, id);
  const files = await writtenByIds(house.db, reports);
  path = files.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  book = await readPlainly(path);
}, 180_000);

afterAll(() => house.end());

const accountIds = () => house.accounts.map(({ accountId }) => accountId);
const moved = () => movedAfter(house.db, accountIds(), DATE);

function rowsOf(name: string): string[][] {
  const sheet = book.sheets.find((one) => one.name === name);
  if (sheet === undefined) throw new Error(`no sheet ${name}`);
  return sheet.rows.map((row) => row.map(({ value }) => value));
}

test('has what was sent on both sides of the statement, once in each half', async () => {
  expect(sent).toHaveLength(2);
  for (const { orderNo } of sent) {
    const of = (sheet: string) => rowsOf(sheet).filter((row) => row.includes(orderNo));
    expect(of('Statement lines')).toEqual([
      expect.arrayContaining(['Moved after the night had ended: both sides agree now']),
    ]);
    expect(of('Not settled')).toEqual([expect.arrayContaining(['In transit: not settled yet'])]);
    expect(of('Waiting for you')).toEqual([]);
  }
  const said = rowsOf('Statement').flat();
  expect(said).not.toContain('Later: waits for the instruction before it, or for the next run');
  expect(said.filter((one) => /^(Other money in the books|UNEXPLAINED)/.test(one))).toEqual([]);
  // The capture that nobody approved waits as before.
  expect(said).toContain('Waiting for approval');
  const { rows } = await house.db.query<{ captured: string; refunded: string }>(
    `select sum(n.gateway_captured - o.gateway_captured)::text as captured,
       sum(n.gateway_refunded - o.gateway_refunded)::text as refunded
     from tieout.reports p join tieout.statements n using (report_id)
     join tieout.reports first on first.run_id = p.run_id and first.kind = p.kind
       and first.revision = 1
     join tieout.statements o on o.report_id = first.report_id and o.account_id = n.account_id
       and o.currency = n.currency
     where p.revision = 2 and p.kind = 'reconciliation'`,
  );
  const [capture, refund] = sent;
  expect(rows).toEqual([{ captured: capture?.money, refunded: refund?.money }]);
});

test('says so on Statement and Summary, and its formulas come to what is stored', async () => {
  for (const sheet of ['Statement', 'Summary']) {
    const said = rowsOf(sheet).flat().join('\n');
    for (const { amount, currency, operation } of movedBefore) {
      const words = `${amount} ${currency} ${operation === 'capture' ? 'captured' : 'refunded'}`;
      expect(said).toMatch(new RegExp(`oved after the night .*${words}.*the statement has it`));
    }
  }
  // Its orders are listed with what moved of each.
  const [headings = [], ...lines] = rowsOf('Statement lines').slice(
    rowsOf('Statement lines').findIndex((row) => row.includes('Captured after the night')),
  );
  expect(headings.slice(-2)).toEqual(['Captured after the night', 'Refunded after the night']);
  for (const { orderNo, money } of sent) {
    expect(lines.find((row) => row.includes(orderNo))?.map(Number)).toContain(Number(money));
  }
  const cells = evaluateAll(await openXlsx(path));
  expect(cells.filter(({ stored, workedOut }) => stored !== workedOut)).toEqual([]);
});

test('the checklist says which statement has it: not the one from before', async () => {
  expect(movedBefore.map(({ isStated }) => isStated)).toEqual([false, false]);
  expect((await moved()).map(({ isStated }) => isStated)).toEqual([true, true]);
});

test('has it also after a run of the date for another account alone', async () => {
  const { rows: of } = await house.db.query<{ accountId: string }>(
    `select account_id as "accountId" from tieout.instructions
     where instruction_id = any ($1::bigint[]) order by account_id`,
    [sent.map(({ id }) => id)],
  );
  const [first, other] = of.map(({ accountId }) => accountId);
  const ofFirst = async () => (await moved()).filter(({ accountId }) => accountId === first);
  const before = await ofFirst();
  expect(before).toHaveLength(1);
  await house.run({ date: DATE, accountIds: [other ?? ''] });
  expect(await ofFirst()).toEqual(before);
  const run = await findRun(house.db, DATE);
  const reports = await queueReports(house.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  for (const id of reports) await writeReport(await house.open(), id);
  const { rows } = await house.db.query<{ revision: number; said: string }>(
    `select p.revision, string_agg(row(s.currency, s.gateway_captured, s.gateway_refunded,
       s.items, s.books)::text, ' ' order by s.currency) as said
     from tieout.reports p join tieout.statements s using (report_id)
     where p.kind = 'reconciliation' and p.revision > 1 and s.account_id = $1
     group by p.revision order by p.revision`,
    [first],
  );
  expect(rows.at(-1)?.revision).toBeGreaterThan(2);
  expect([...new Set(rows.map(({ said }) => said))]).toHaveLength(1);
});

test('says of what a person refused that it was, and not that it comes later', async () => {
  const { rows } = await house.db.query<{ id: bigint; orderNo: string }>(
    `select instruction_id as id, order_no as "orderNo" from tieout.instructions
     where state = 'held' and operation = 'capture' order by instruction_id limit 1`,
  );
  const [one] = rows;
  if (one === undefined) throw new Error('nothing waits');
  const decision = { kind: 'reject' as const, reason: 'sold out' };
  const who = { name: 'anna', isClaim: false };
  const deps = await (await house.open()).sendDeps();
  await decideInstructions(deps, { ids: [one.id], decision, who });
  const run = await findRun(house.db, DATE);
  const items: string[] = [];
  for await (const some of statementLines(house.db, run?.runId ?? 0n, CLOCK)) {
    items.push(...some.filter((l) => l.orderNo === one.orderNo).map(({ item }) => item));
  }
  expect(items[0]).toBe('refused');
});
