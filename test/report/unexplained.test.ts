// Money that no line of the statement explains: the night that finds it has not tied, whatever its
// breaks say, and tells it by account and currency. Neighbour: statement.test.ts, the statement
// itself.

import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { verifyWorkbook } from '../../src/verify/verifyWorkbook.js';
import { readPlainly } from '../reports/plainReader.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, kinds } from '../support/night.js';

let house: House;
afterEach(() => house.end());

test('a night whose statement leaves money unexplained is broken, and says which', async () => {
  house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: { settlement: { from: dateOf(12) } },
  });
  // As if a figure had been summed wrongly.
  await house.db.query(
    `create function public.plant() returns trigger language plpgsql as $$
     begin new.unexplained_captured = 5.00; return new; end $$;
     create trigger plant before insert on tieout.statements
     for each row execute function public.plant()`,
  );
  const { summary } = await house.run();
  expect(summary.accounts.flatMap(({ breaks }) => Object.values(breaks))).toEqual([]);
  expect(summary.state).toBe('broken');
  const told = (summary.notices ?? []).filter(({ kind }) => kind === 'unexplained');
  expect(told).not.toEqual([]);
  expect(told[0]?.text).toContain('5.00');

  // Now what the statement goes on to, and nothing of what stands before it.
  await house.db.query(
    `create or replace function public.plant() returns trigger language plpgsql as $$
     begin
       new.books = jsonb_set(new.books, '{unexplained,refunded}', '"-7.00"');
       return new;
     end $$`,
  );
  const again = (await house.run({ date: dateOf(1) })).summary;
  expect(again.state).toBe('broken');
  const books = (again.notices ?? []).filter(({ kind }) => kind === 'unexplained');
  expect(books.map(({ accountId }) => accountId)).toEqual(told.map(({ accountId }) => accountId));
  expect(books[0]?.text).toContain('-7.00');
  expect(books[0]?.text).toContain('settlement');
});

test('workbook, summary, sentence, message and exit code of such a night say the same', async () => {
  house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: {
      operations: { capture: 'approve' },
      // Nobody listens there; what is told stands in the outbox.
      notify: { webhook: 'http://127.0.0.1:9/' },
    },
  });
  // The lines of what waits for approval are lost, as if their statement forgot them.
  await house.db.query(
    `alter function tieout.statement_lines(bigint, text, bigint) rename to whole_lines;
     create function tieout.statement_lines(run bigint, account text, snapshot bigint)
     returns table (account_id text, order_no text, currency text, item text, break_id bigint,
       first_seen timestamptz, owner text, ledger_captured numeric, gateway_captured numeric,
       ledger_refunded numeric, gateway_refunded numeric, transaction_id text,
       hold_reason text)
     language sql stable as $$
       select * from tieout.whole_lines(run, account, snapshot) where item <> 'held'
     $$`,
  );
  const ended = await tieoutHere(['run', '--json'], { cwd: house.folder });
  expect(ended.code, ended.stderr).toBe(3);
  const summary = JSON.parse(ended.stdout) as RunSummary;
  expect(summary.state).toBe('broken');
  expect(summary.accounts.find(({ accountId }) => accountId === 'A1001')?.state).toBe('broken');
  const run = await findRun(house.db, summary.businessDate);
  expect(run?.summary).toEqual(summary);
  const { rows } = await house.db.query<{ text: string }>(
    `select body ->> 'text' as text from tieout.outbox where event = 'night_finished'`,
  );
  expect(rows.map(({ text }) => text)).toEqual([
    expect.stringMatching(/did not tie out: .*unexplained money of A1001 in EUR/),
  ]);

  const path = summary.reports.find(({ kind }) => kind === 'reconciliation')?.path ?? '';
  const { sheets } = await readPlainly(path);
  const said = (name: string): string[] =>
    (sheets.find((sheet) => sheet.name === name)?.rows ?? []).flat().map(({ value }) => value);
  expect(said('Statement')).toContain('UNEXPLAINED MONEY: do not sign. See the red cells.');
  const [line = []] = (sheets.find(({ name }) => name === 'Summary')?.rows ?? []).filter(
    ([first]) => first?.value === 'A1001',
  );
  expect(line[1]?.value).toBe('did not tie out');
  expect(said('Summary').join('\n')).toMatch(
    /did not tie out: .*unexplained money of A1001 in EUR/,
  );
  expect((await verifyWorkbook({ db: house.db }, path)).kind).toBe('as_made');
  const { config, version } = await house.open();
  if (run === null) throw new Error('no run');
  const worked = await verifyRun({ db: house.db, config, version, progress: () => {} }, run);
  expect(worked.differences).toEqual([]);
});

test('a night that is gone on with knows what it has given back itself', async () => {
  let isAway = true;
  house = await buildHouse({
    inLedger: kinds({ partial_refund_due: 1 }),
    fault: ({ operation }) =>
      isAway && operation === 'retrievalTrans'
        ? { kind: 'status', status: 503, when: 'before' }
        : null,
  });
  expect((await house.run()).summary.state).toBe('incomplete');
  isAway = false;
  const { summary } = await house.run();
  expect(summary.accounts.flatMap(({ totals }) => totals).map(({ refunded }) => refunded)).toEqual(
    expect.arrayContaining([expect.not.stringMatching(/^0\.00$/)]),
  );
  expect((summary.notices ?? []).filter(({ kind }) => kind === 'unexplained')).toEqual([]);
  expect(summary.state).toBe('tied_out');
});
