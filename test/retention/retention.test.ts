// How long looks are kept: nights over the end of a month land in the partition of their month, an
// old month goes as a whole once nothing in it is open, and whoever asks for it is told. The clock
// of the business dates is moved; everything else is real.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removedLine } from '../../src/core/runs/removal.js';
import { migrateDown, migrateUp } from '../../src/database/migrate.js';
import { partitionOf, relationsOfRun } from '../../src/database/monthPartitions.js';
import { orderHistory } from '../../src/orders/historyStore.js';
import { createPull } from '../../src/pull/snapshot/snapshotsStore.js';
import { queueReports } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { removeEvidence, removeOldEvidence } from '../../src/retention/retention.js';
import type { RemovalVerdict } from '../../src/retention/retentionStore.js';
import { keptMonths } from '../../src/retention/retentionStore.js';
import { removalOf, removals } from '../../src/runs/runRecordStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { atOneMoment, checkChain, isWhole } from '../../src/verify/verifyChainStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { verifyWorkbook, workbookLines } from '../../src/verify/verifyWorkbook.js';
import { tieoutHere } from '../support/cliHere.js';
import { freshDatabase } from '../support/database.js';
import type { House } from '../support/night.js';
import { addressOf, buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

/** Half a year ago: dates whose nights begin on the last two days of a month and on the next. */
const MONTH = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 6, 1));
const [LAST_BUT_ONE, LAST, FIRST] = [-3, -2, -1].map(dayOf) as [string, string, string];
const OLD = dayOf(-1).slice(0, 7).replace('-', '_');
const NEXT = dayOf(0).slice(0, 7).replace('-', '_');
const WHO = { name: 'Anna', isClaim: true };
const RULE = { months: 3, lookbackDays: 35 };
const RELATIONS = ['asked_orders', 'asked_refunds', 'look_entries', 'pages', 'verdicts'] as const;

function dayOf(days: number): string {
  return new Date(MONTH.getTime() + days * 86_400_000).toISOString().slice(0, 10);
}

let house: House;
const at = (date: string): Date => new Date(`${date}T23:59:59.999Z`);
const night = (date: string) => house.run({ date }, new Date(at(date).getTime() + 4 * 3_600_000));
const deps = () => ({ db: house.db, now: () => new Date() });
const apply = (): Promise<RemovalVerdict[]> => removeEvidence(deps(), RULE, WHO, 10);
const held = (verdicts: RemovalVerdict[]): string[] =>
  verdicts.flatMap(({ kind, month }) => (kind === 'held' ? month.holds : [kind]));

async function rowsIn(relation: string): Promise<number> {
  const { rows } = await house.db.query<{ n: bigint }>(`select count(*) as n from ${relation}`);
  return Number(rows[0]?.n);
}

async function runOf(date: string) {
  const run = await findRun(house.db, date);
  if (!run) throw new Error(`no run of ${date}`);
  return run;
}

beforeAll(async () => {
  house = await buildHouse({
    inLedger: kinds({ matched: 5, capture_due: 1 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
  });
  // Old enough to be asked for in each of the nights.
  await house.db.query(`update ledger.orders set placed_at = $1::date - 3`, [LAST_BUT_ONE]);
  for (const date of [LAST_BUT_ONE, LAST, FIRST]) await night(date);
}, 120_000);
afterAll(() => house.end());

describe('nights over the end of a month', () => {
  test('bear their month in their numbers, and so do their snapshots', async () => {
    const { rows } = await house.db.query<{ date: string; run_id: bigint; pull_id: bigint }>(
      `select business_date as date, run_id, pull_id
       from tieout.pulls join tieout.runs using (run_id) order by pull_id`,
    );
    for (const { date, run_id: run, pull_id: pull } of rows) {
      const month = (date === FIRST ? NEXT : OLD).replace('_', '');
      expect([run, pull].map((id) => String(id).slice(0, 6))).toEqual([month, month]);
    }
    expect(new Set(rows.map(({ date }) => date))).toEqual(new Set([LAST_BUT_ONE, LAST, FIRST]));
  });

  test('lie in the partitions of their month, made before they were written', async () => {
    for (const relation of RELATIONS) {
      const whole = await rowsIn(`tieout.${relation}`);
      const parts = [OLD, NEXT].map((month) => rowsIn(`tieout.${relation}_${month}`));
      const [old = 0, next = 0] = await Promise.all(parts);
      expect([relation, old + next]).toEqual([relation, whole]);
      if (relation !== 'asked_refunds')
        expect([relation, old > 0, next > 0]).toEqual([relation, true, true]);
    }
    const { runId } = await runOf(LAST);
    expect(String(partitionOf('verdicts', runId))).toBe(`"tieout"."verdicts_${OLD}"`);
  });

  test('are asked for as a whole where a run has looked again in a later month', async () => {
    const asked = async (runId: bigint): Promise<string> => {
      const { pages, pulls } = await relationsOfRun(house.db, runId);
      return `${pages} ${pulls}`;
    };
    const [late, first] = [await runOf(LAST), await runOf(FIRST)];
    const inOld = `"tieout"."pages_${OLD}" "tieout"."pulls"`;
    expect(await asked(late.runId)).toBe(inOld);
    const { pullId } = await createPull(house.db, late.runId, 'fresh');
    expect(await asked(late.runId)).toBe('"tieout"."pages" "tieout"."pulls"');
    expect(await asked(first.runId)).toBe(inOld.replace(OLD, NEXT));
    await house.db.query('delete from tieout.pulls where pull_id = $1', [pullId]);
  });

  test('are guarded in their partition as in the whole', async () => {
    for (const relation of RELATIONS.slice(0, 4)) {
      const partition = `tieout.${relation}_${OLD}`;
      await expect(house.db.query(`truncate ${partition}`)).rejects.toThrow(/is history/);
    }
    const deleted = house.db.query(`delete from tieout.asked_orders_${OLD}`);
    await expect(deleted).rejects.toThrow(/is history/);
  });

  test('made by many at once are made once', async () => {
    const makers = Array.from({ length: 6 }, () =>
      house.db.query(`select tieout.make_month(date '2031-05-01')`),
    );
    await Promise.all(makers);
    expect(await rowsIn('tieout.pages_2031_05')).toBe(0);
  });

  test('come out the same when they are worked out again', async () => {
    const app = await house.open();
    const found = await verifyRun({ ...app, progress: () => {} }, await runOf(LAST));
    expect(found.differences).toEqual([]);
  });

  test('survive the migrations taken back and applied again', async () => {
    const counts = () => Promise.all(RELATIONS.map((relation) => rowsIn(`tieout.${relation}`)));
    const before = await counts();
    const down = await migrateDown(house.connection, await sinceMonths());
    expect(down.at(-1)).toBe('0031_months');
    expect(await counts()).toEqual(before);
    expect(await rowsIn('tieout.break_facts')).toBe(await rowsIn('tieout.breaks'));
    await migrateUp(house.connection);
    expect(await counts()).toEqual(before);
    expect(await rowsIn('tieout.look_entries_before')).toBe(0);
    expect(await rowsIn(`tieout.look_entries_${NEXT}`)).toBeGreaterThan(0);
    const chain = await house.db.transaction(async (tx) => {
      await atOneMoment(tx);
      return checkChain(tx, () => {});
    });
    expect(chain.broken).toEqual([]);
  });
});

async function sinceMonths(): Promise<number> {
  const { rows } = await house.db.query<{ n: bigint }>(
    `select count(*) as n from tieout_meta.migrations where name >= '0031'`,
  );
  return Number(rows[0]?.n);
}

describe('retention', () => {
  test('removes nothing where no rule is given', async () => {
    const app = await house.open();
    expect(await removeOldEvidence({ ...app, ...deps(), log: () => {} })).toEqual([]);
  });

  test('keeps a month in which something unsettled began, and says what', async () => {
    const run = await runOf(LAST);
    // The captures of the first night wait for approval; nobody was looked at after FIRST.
    const [first, second] = await apply();
    expect(held(first ? [first] : []).join()).toMatch(
      /instructions of it are not finished: 1, one is #1$/,
    );
    expect(held(second ? [second] : []).join()).toMatch(/account A1001 was not checked since/);
    await settleAll('withdrawn');
    await house.db.query(
      `with opened as (
         insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
           last_run_id, expected, actual, fingerprint)
         values ('A1001', 'X1', 'state_mismatch', 'open', now(), $1, $1, '{}', '{}', '')
         returning break_id)
       insert into tieout.break_events (break_id, run_id, at, event, by, expected, actual)
       select break_id, $1, now(), 'opened', 'tieout', '{}', '{}' from opened`,
      [run.runId],
    );
    expect(held(await apply())[0]).toMatch(/not resolved began in it: 1, one is state_mismatch/);
    expect(await rowsIn(`tieout.pages_${OLD}`)).toBeGreaterThan(0);
    expect(await removals(house.db)).toEqual([]);
    await house.db.query(`update tieout.breaks set state = 'resolved' where order_no = 'X1'`);
    await house.db.query(
      `insert into tieout.break_events (break_id, run_id, at, event, from_state, by, reason,
         expected, actual)
       select break_id, last_run_id, now(), 'resolved', 'open', 'tieout', 'gone', '{}', '{}'
       from tieout.breaks where order_no = 'X1'`,
    );
  });

  test('keeps a month of which a snapshot is not what was sealed', async () => {
    const alter = (change: string) =>
      house.db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(`update tieout.asked_orders_${OLD} set ${change}`);
      });
    await alter('amount = amount + 1');
    const [altered] = await apply();
    expect(altered).toMatchObject({ kind: 'altered', link: expect.stringMatching(/^link \d+ of/) });
    await alter('amount = amount - 1');
  });

  test('waits for nobody who reads', async () => {
    await house.db.transaction(async (tx) => {
      await tx.query('select count(*) from tieout.look_entries');
      const [busy] = await apply();
      expect(busy?.kind).toBe('busy');
    });
  });

  test('says before what it would remove', async () => {
    rewriteSettings(house, { retention: { evidenceMonths: 3 } });
    const dry = await tieoutHere(['retention', 'apply', '--dry-run'], { cwd: house.folder });
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringContaining(`would have removed what was seen from ${LAST_BUT_ONE}`),
    ]);
    const few = await tieoutHere(['retention', 'apply', '--months', '2'], { cwd: house.folder });
    expect([few.code, few.stderr]).toEqual([2, expect.stringContaining('keeps 3')]);
    expect(await rowsIn(`tieout.pages_${OLD}`)).toBeGreaterThan(0);
  });

  test('removes settled months as a whole, after a night that ended well', async () => {
    await house.run({ date: dateOf(1) });
    expect(house.lines.some((line) => line.startsWith('removed what was seen from'))).toBe(true);
    const months = await keptMonths(house.db, '0001-01-01');
    expect(months.map(({ firstDate }) => firstDate)).toEqual([dateOf(1)]);
    const gone = await house.db.query(
      `select 1 from pg_class where relnamespace = 'tieout'::regnamespace and relname like $1`,
      [`%\\_${OLD.replace('_', '\\_')}%`],
    );
    expect(gone.rows).toEqual([]);
    expect(await removals(house.db)).toMatchObject([
      { month: OLD, firstDate: LAST_BUT_ONE, lastDate: LAST, nights: 2, by: 'tieout' },
      { month: NEXT, firstDate: FIRST, lastDate: FIRST, nights: 1, by: 'tieout' },
    ]);
  });

  test('leaves the chain whole: its digests stay, and the removal is a fact of its own', async () => {
    const found = await checkChain(house.db, () => {});
    expect(found).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
    expect(found.removed.map(({ month }) => month)).toEqual([OLD, NEXT]);
    const { stdout, code } = await tieoutHere(['verify'], { cwd: house.folder });
    expect([code, stdout]).toEqual([0, expect.stringContaining('its digests are in the chain')]);
    const forged = house.db.query('update tieout.evidence_removals set nights = 1');
    await expect(forged).rejects.toThrow(/is history/);
    const { rows } = await house.db.query(
      `select 1 from tieout.removed_looks w join tieout.chain_links l using (link_id, account_id)
       where w.facts_sha256 = l.facts_sha256 and l.what = 'look'`,
    );
    expect(rows).toHaveLength(await rowsIn('tieout.removed_looks'));
  });

  test('is told to whoever asks for what is gone', async () => {
    const cli = (...args: string[]) => tieoutHere(args, { cwd: house.folder });
    const verified = await cli('verify', LAST);
    expect([verified.code, verified.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot be worked out again: what it saw was removed/),
    ]);
    const listed = await cli('report', LAST, '--kind', 'orders', '--format', 'csv');
    expect([listed.code, listed.stderr]).toEqual([
      1,
      expect.stringContaining('was removed by retention on'),
    ]);
    const covered = await cli('runs', 'show', LAST, '--coverage');
    expect([covered.code, covered.stderr]).toEqual([1, expect.stringContaining('was removed by')]);
    const removal = await removalOf(house.db, (await runOf(LAST)).runId);
    expect(removal && removedLine(removal)).toMatch(/\(2 snapshots\) was removed by retention on/);
    expect(await removalOf(house.db, (await runOf(dateOf(1))).runId)).toBe(null);
    const history = await orderHistory(house.db, 'A1001', house.seeded[0]?.ledger.order_no ?? '');
    expect(history?.removed).toMatchObject([{ month: OLD }, { month: NEXT }]);
    const nights = history?.looks.map((snapshot) => snapshot.businessDate);
    expect(new Set(nights)).toEqual(new Set([dateOf(1)]));
    const workbook = (await runOf(LAST)).summary?.reports.find(({ kind }) => kind === 'orders');
    const { runId } = await runOf(LAST);
    const app = await house.open();
    for (const id of await queueReports(house.db, runId, ['reconciliation', 'orders'], at(LAST))) {
      await expect(writeReport(app, id)).rejects.toThrow(/retention.* stay as they were made$/);
    }
    const made = await house.db.query(
      `select distinct state, reason ~ 'workbooks stay as they were' as is_told
       from tieout.reports where run_id = $1 and revision > 1`,
      [runId],
    );
    expect(made.rows).toEqual([{ state: 'failed', is_told: true }]);
    const found = await verifyWorkbook(deps(), workbook?.path ?? '');
    expect(found).toMatchObject({ kind: 'as_made', removal: { month: OLD } });
    expect(workbookLines('', found).join()).toContain('rows of orders went with it');
  });

  test('outlives a backup and its restore, and so does the chain', async () => {
    const restored = await freshDatabase({ empty: true });
    const cli = (...args: string[]) => tieoutHere(args, { cwd: house.folder });
    try {
      const kept = await cli('backup', 'kept');
      expect(kept.code, kept.stderr).toBe(0);
      rewriteSettings(house, { database: { url: addressOf(restored.connection) } });
      const ended = await cli('restore', 'kept', '--as', 'anna');
      expect(ended.code, ended.stderr).toBe(0);
      const found = await checkChain(restored.db, () => {});
      // That something waits as sent before is newer than the backup, and not sealed yet.
      expect([isWhole(found), found.broken, found.disagreements]).toEqual([true, [], []]);
      expect(found.removed.map(({ month }) => month)).toEqual([OLD, NEXT]);
      const looks = 'select count(*) as looks from tieout.look_entries';
      expect((await restored.db.query(looks)).rows).toEqual((await house.db.query(looks)).rows);
    } finally {
      await restored.drop();
    }
  });
});

/** As a person would: nobody wants the captures any more. */
async function settleAll(state: string): Promise<void> {
  await house.db.query(
    `update tieout.instructions set state = $1, hold_reason = null, settled_at = now(),
       changed_by = 'tieout', reason = 'test' where state = 'held'`,
    [state],
  );
}
