// The workbook of a night that is made again: what people decided since, and what later nights
// found, is in theirs. It lists what its own tie counts.

import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import { closeDay } from '../../src/days/days.js';
import { breakRows } from '../../src/report/reportRowsStore.js';
import { queueReports, writtenByIds } from '../../src/report/reportsStore.js';
import { writeReport } from '../../src/report/writeReport.js';
import { findRun } from '../../src/runs/runsStore.js';
import { readPlainly } from '../reports/plainReader.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../support/night.js';

let house: House | null = null;
afterAll(() => house?.end());

test('a workbook made again lists the breaks that were open when its night ended', async () => {
  house = await buildHouse({ daysAgo: 2, orders: 200 });
  const { summary } = await house.run({ date: dateOf(2) });
  const openThen = summary.accounts.reduce((sum, { tie }) => sum + tie.openAfter, 0);
  expect(openThen).toBeGreaterThan(5);
  const { config } = await house.open();
  const first = summary.reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';

  // One is waived, one only noted; of one the later night finds that the ledger says it no more.
  const { rows } = await house.db.query<{ break_id: bigint; order_no: string; account_id: string }>(
    `select distinct on (kind) break_id, order_no, account_id from tieout.breaks
     where state = 'open' and kind in ('amount_mismatch', 'currency_mismatch', 'unknown_status')`,
  );
  const [waived, noted, healed] = rows;
  const ids = (one?: (typeof rows)[number]) => [String(one?.break_id)];
  const who = { name: 'anna', isClaim: true };
  const deps = { db: house.db, config, now: () => new Date(), newId: randomUUID };
  const waive = { kind: 'waive', reason: 'a cent' } as const;
  const decided = [
    ...(await decideBreaks(deps, { ids: ids(waived), action: waive, who, over: null })),
    ...(await decideBreaks(deps, {
      ...{ ids: ids(noted), who, over: null },
      action: { kind: 'note', text: 'asked' },
    })),
  ];
  expect(decided.map(({ kind }) => kind).filter((kind) => kind === 'refused')).toEqual([]);
  await house.db.query(`delete from ledger.orders where (account_id, order_no) = ($1, $2)`, [
    healed?.account_id,
    healed?.order_no,
  ]);
  const later = await house.run({ date: dateOf(1) });
  expect(later.summary.accounts.some(({ tie }) => tie.new + tie.resolved > 0)).toBe(true);

  // Its day is closed by one person on the first revision; nobody has reviewed it.
  const order = { accountId: 'A1001', date: dateOf(2), who, reason: 'month end' };
  expect(await closeDay(house.db, order)).toMatchObject({ kind: 'done' });

  // What somebody sets today decided nothing that night.
  rewriteSettings(house, {
    schedule: { timezone: 'Asia/Tokyo', cutOff: '06:00' },
    reconcile: { tolerance: { above: '10.00' } },
    operations: { refund: 'approve' },
  });
  const app = await house.open();

  const run = await findRun(house.db, dateOf(2));
  const queued = await queueReports(house.db, run?.runId ?? 0n, ['reconciliation'], new Date());
  // Two workers at once, as a job that is rung again while the first still writes: one makes it, and
  // neither fails.
  for (const id of queued) await Promise.all([writeReport(app, id), writeReport(app, id)]);
  const [again] = await writtenByIds(house.db, queued);
  const file = readFileSync(again?.path ?? '');
  expect(createHash('sha256').update(file).digest('hex')).toBe(again?.sha256);
  const [before, after] = [await readPlainly(first), await readPlainly(again?.path ?? '')];
  // The note is of today, and so is the last word that a row carries.
  const isOfToday = (value: string): boolean => value === 'asked' || /^break \d+ \d+ /.test(value);
  const texts = (book: typeof before, name: string): string[][] =>
    (book.sheets.find((sheet) => sheet.name === name)?.rows ?? []).map((row) =>
      row.map(({ value }) => value).filter((value) => !isOfToday(value)),
    );
  expect(texts(after, 'Breaks')).toEqual(texts(before, 'Breaks'));
  expect(texts(after, 'Summary').flat().join()).not.toContain('DOES NOT TIE');
  expect(texts(before, 'Summary').flat().join()).not.toContain('DOES NOT TIE');

  const about = (book: typeof before): string[][] =>
    texts(book, 'About this run').filter(([name = '']) =>
      /^(Business day|Checked at|Digest of settings|Gateway|Look-|Grace|Toler|Sending)/.test(name),
    );
  expect(about(after)).toEqual(about(before));
  const settings = Object.fromEntries(about(before));
  expect(settings['Tolerance below / above']).toBe('0.00 / 0.00');
  expect(settings['Sending of refund']).toBe('auto');
  expect(settings['Business day']).toBe('from 00:00 to 00:00 of the next day, UTC');

  const boxesOf = (book: typeof before) =>
    (
      texts(book, 'Statement')
        .flat()
        .join('|')
        .match(/(?:Prepared|Reviewed)[^|]*/g) ?? []
    )
      .slice(0, 2)
      .map((words) => words.replace(/ at [-:\d ]+ /, ' at ... '));
  const line = (box: string, revision: number) =>
    `${box} by, date, signature (${dateOf(2)}, revision ${revision})`;
  expect(boxesOf(before)).toEqual([line('Prepared', 1), line('Reviewed', 1)]);
  expect(boxesOf(after)).toEqual([
    'Prepared: day closed by anna (as said on the command line) at ... UTC, on revision 1',
    line('Reviewed', 2),
  ]);

  // The lines of the newest statement are kept, and of the one that was written before it.
  const { rows: sums } = await house.db.query(
    `select count(*)::int as lines,
       sum(coalesce(l.gateway_captured, 0) - coalesce(l.ledger_captured, 0)) as captured,
       (select sum((value ->> 'lines')::int)::int from tieout.statements s,
         jsonb_array_elements(s.items) where s.report_id = l.report_id) as said,
       (select sum((value ->> 'captured')::numeric) from tieout.statements s,
         jsonb_array_elements(s.items) where s.report_id = l.report_id) as stated
     from tieout.written_lines l join tieout.reports p using (report_id)
     where p.run_id = $1 group by l.report_id order by l.report_id`,
    [run?.runId],
  );
  expect(sums).toHaveLength(2);
  for (const one of sums) expect([one.lines, one.captured]).toEqual([one.said, one.stated]);

  const listed: string[] = [];
  const at = { asOf: new Date(), rule: { days: 5, timezone: 'UTC', holidays: [] } };
  for await (const chunk of breakRows(house.db, run?.runId ?? 0n, at, ['currency_mismatch']))
    listed.push(...chunk.map((row) => row.orderNo));
  expect(listed.length).toBeGreaterThan(0);
});
