// The figures of whole nights on the sandbox: whatever the seed, they add up, and the money is what
// the gateway says that it moved.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { summaryLines } from '../../src/cli/runs/summaryText.js';
import { shownLine } from '../../src/cli/terminal.js';
import { runSentence } from '../../src/core/runs/summary.js';
import { queueReports, recordFailedReport } from '../../src/report/reportsStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyWorkbook } from '../../src/verify/verifyWorkbook.js';
import { tieoutHere } from '../support/cliHere.js';
import { expectIdentities, expectMoney, expectNothingTwice } from '../support/identities.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings, sumOrders } from '../support/night.js';

const houses: House[] = [];

async function house(options: HouseOptions): Promise<House> {
  const built = await buildHouse(options);
  houses.push(built);
  return built;
}

afterEach(async () => {
  for (const built of houses.splice(0)) await built.end();
});

const POLICIES = [
  { seed: 1, orders: 900, operations: 'auto' },
  { seed: 2, orders: 400, operations: 'auto' },
  { seed: 3, orders: 400, operations: 'approve' },
  { seed: 4, orders: 101, operations: 'auto' },
  { seed: 5, orders: 0, operations: 'auto' },
] as const;

describe('the summary of a night', () => {
  for (const { seed, orders, operations } of POLICIES) {
    it(`adds up for ${orders} orders of seed ${seed} on ${operations}`, async () => {
      const { db, run, effects } = await house({
        seed,
        orders,
        settings: { operations: allOf(operations) },
      });
      const { kind, summary } = await run();
      expect(kind).toBe('ran');
      await expectIdentities(db, summary);
      await expectMoney(db, [summary], await effects());
      expect(sumOrders(summary, 'ledger')).toBe(orders);
      expect(summary.businessDate).toBe(dateOf(1));
      if (operations !== 'approve') return;
      expect(await effects()).toEqual([]);
      const screen = { zone: 'UTC', hasColours: false };
      const printed = summaryLines(summary).map((line) => shownLine(line, screen));
      expect(printed.join('\n')).toMatch(/capture +\d+ waiting for approval/);
    });
  }

  it('brings every planted kind to the verdict that it leads to', async () => {
    // Nothing is sent: a capture would heal an authorisation that has become stale.
    const { db, run, seeded } = await house({
      orders: 900,
      seed: 9,
      settings: { operations: allOf('approve') },
    });
    await run();
    const wanted = new Set(
      seeded
        .filter(({ leadsTo }) => /_|stale/.test(leadsTo))
        .map(
          ({ ledger, leadsTo, gatewayOnly }) =>
            `${gatewayOnly?.orderNo ?? ledger.order_no} ${leadsTo}`,
        ),
    );
    const { rows } = await db.query<{ what: string }>(
      `select order_no || ' ' || kind as what from tieout.breaks where state = 'open'`,
    );
    expect(new Set(rows.map((row) => row.what))).toEqual(wanted);
    expect(wanted.size).toBeGreaterThan(20);
  });

  it('is the same night when it runs again: it looks anew and moves nothing', async () => {
    const { db, run, effects, seeded } = await house({ orders: 600, seed: 6 });
    const first = await run();
    const moved = await effects();
    const second = await run();
    expect(second.kind).toBe('resumed');
    expect(await effects()).toEqual(moved);
    await expectIdentities(db, second.summary);
    await expectMoney(db, [second.summary], moved);
    expectNothingTwice(moved, new Map());
    expect(second.summary.state).toBe(first.summary.state);
    expect(second.summary.accounts).toEqual(first.summary.accounts);
    const { reports } = second.summary;
    const { reports: firstReports } = first.summary;
    expect(seeded.length).toBe(600);
    expect(firstReports.map((report) => report.revision)).toEqual([1, 1]);
    expect(reports.map((report) => report.revision)).toEqual([2, 2]);
  });

  it('says once what is the same of many accounts, in its log and in its sentence', async () => {
    const built = await house({ orders: 0, seed: 5, accounts: 24 });
    rewriteSettings(built, { accounts: built.accounts.map((one) => ({ ...one, liveFrom: null })) });
    const { summary } = await built.run();
    const names = 'A1001, A1002, A1003';
    const whose = `24 accounts (${names}, A1004, A1005 and 19 more)`;
    expect(built.lines).toContain(
      `${whose}, such as A1001: only observed, nothing is sent until accounts[].liveFrom is set`,
    );
    expect(built.lines).toContainEqual(
      expect.stringMatching(
        /^24 accounts \(.*\), such as A1001: the ledger has not a single order/,
      ),
    );
    expect(built.lines.filter((line) => line.includes('not a single order'))).toHaveLength(1);
    expect(runSentence(summary)).toContain(`not a single order of ${names} and 21 more in the`);
  });

  it('names the reports that could not be written, until they are', async () => {
    const built = await house({ orders: 0, seed: 5 });
    const first = await built.run();
    expect(first.summary.unwritten).toBeUndefined();
    rewriteSettings(built, { reports: { dir: '/dev/null/none' } });
    const { summary } = await built.run();
    expect(summary.unwritten).toMatchObject([{ kind: 'reconciliation' }, { kind: 'orders' }]);
    expect(runSentence(summary)).toMatch(
      /compared NOTHING; .* and 2 reports that could not be written \(the folder of reports \/dev\/null\/none cannot be written, a part of the path is no folder \(host \S+\); when that is mended: `tieout run --date \d{4}-\d\d-\d\d`\)\.$/,
    );
    // What stands there is of the snapshot before, and the line below says so.
    expect(summary.reports).toEqual(first.summary.reports);
    const screen = { zone: 'Europe/Berlin', hasColours: false };
    const printed = summaryLines(summary).map((line) => shownLine(line, screen));
    expect(printed.join('\n')).toMatch(/orders +NOT WRITTEN for this look: the folder of reports/);
    rewriteSettings(built, { reports: { dir: './reports' } });
    expect((await built.run()).summary.unwritten).toBeUndefined();
  });

  it('is the record of the workbook that was written, where the other one could not be', async () => {
    const built = await house({ orders: 0, seed: 5 });
    const taken = join(built.folder, 'var', 'reports', dateOf(1), `orders-${dateOf(1)}-r1.xlsx`);
    mkdirSync(taken, { recursive: true });
    const { summary } = await built.run();
    expect(summary.unwritten).toMatchObject([{ kind: 'orders' }]);
    const [book, ...others] = summary.reports;
    expect([book?.kind, others]).toEqual(['reconciliation', []]);
    const found = await verifyWorkbook({ db: built.db }, book?.path ?? '');
    expect(found).toMatchObject({ kind: 'as_made', report: { kind: 'reconciliation' } });
    // One that an older version wrote when that was on record already had it among its figures.
    await built.db.query(
      `begin; set local session_replication_role = replica;
       update tieout.reports w set digests = w.digests || jsonb_build_object('figures', encode(
         sha256(convert_to((r.summary - 'reports')::text, 'UTF8')), 'hex'))
       from tieout.runs r where r.run_id = w.run_id and w.kind = 'reconciliation'; commit`,
    );
    expect((await verifyWorkbook({ db: built.db }, book?.path ?? '')).kind).toBe('as_made');

    // Of a month it is none of the night's own, which the next run of the night cannot write.
    const run = await findRun(built.db, dateOf(1));
    const fails = async (kind: string, period: string | null) => {
      const ids = await queueReports(built.db, run?.runId ?? 0n, [kind], new Date(), period);
      for (const id of ids) await recordFailedReport(built.db, id, 'no room');
    };
    await fails('settlement', '2026-10');
    expect((await built.run()).summary.unwritten).toBeUndefined();
    const told = async () => (await tieoutHere(['status'], { cwd: built.folder })).stdout;
    expect(await told()).not.toContain('could not be written');
    await fails('orders', null);
    expect(await told()).toContain('1 report that could not be written (no room');
  });
});

function allOf(mode: string): Record<string, string> {
  return { capture: mode, cancel: mode, refund: mode, review: mode };
}
