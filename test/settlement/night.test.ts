// Settlement from end to end: nights at the sandbox, the acquirer's file through the built program, and
// a night later what does not fit is a break that ties, is listed and can be worked out again.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAmounts } from '../../src/core/money.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import type { OpenItem, SettlementDocument } from '../../src/settlement/settlementStore.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx } from '../reports/openXlsx.js';
import { readPlainly } from '../reports/plainReader.js';
import { ensureBuilt, tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf, rewriteSettings } from '../support/night.js';
import {
  byCurrency,
  linesNotSettled,
  NOT_YET_SETTLED,
  newestWorkbook,
  saidNotSettled,
  withLateRefund,
  writtenOnceMore,
} from './writtenWorkbooks.js';

/** The nights, so many days ago: more than settleDays of any week lie between them. */
const [FIRST, SECOND] = [10, 1] as const;

let house: House;
let csv: string;
/** Orders of which we captured all and refunded nothing. */
let ours: Record<'account_id' | 'order_no' | 'transaction_id' | 'amount' | 'currency', string>[];
beforeAll(async () => {
  await ensureBuilt();
  house = await buildHouse({ orders: 800, seed: 3, daysAgo: FIRST });
  // Without payouts a batch pays out its sum, so that a line may be changed alone.
  const map = `table: settlement
leaveOutWhen: { Type: [payout, carried] }
columns: { account_id: { from: Account }, batch: { from: Batch }, line_id: { from: Line },
  type: { from: Type }, booked_at: { from: Booked }, order_no: { from: Order },
  transaction_id: { from: Transaction }, reference: { from: Reference },
  currency: { from: Currency }, amount: { from: Amount }, fee: { from: Fee }, net: { from: Net } }
`;
  writeFileSync(join(house.folder, 'map.yaml'), map);
});
afterAll(() => house.end());

const night = (daysAgo: number) =>
  house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
/** As it was built, in a process of its own. */
const built = (...args: string[]) => tieout(args, { cwd: house.folder });
const cli = (...args: string[]) => tieoutHere(args, { cwd: house.folder });
const take = (file: string, ...more: string[]) =>
  cli('import', 'settlement', file, '--map', 'map.yaml', ...more);

async function json<Answer>(...args: string[]): Promise<Answer> {
  const ended = await cli(...args, '--json');
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout) as Answer;
}

/** Each closing is the sum of its open items, and nothing of the acquirer is left over. */
async function checkClosings(): Promise<SettlementDocument> {
  const document = await json<SettlementDocument>('settlement');
  const { items } = await json<{ items: OpenItem[] }>('settlement', 'open');
  for (const account of document.accounts) {
    for (const book of ['atGateway', 'bank'] as const) {
      for (const { currency, closing } of account[book]) {
        const listed = items.filter((item) => {
          return (
            [item.accountId, item.book, item.currency].join() ===
            [account.accountId, book, currency].join()
          );
        });
        expect(listed.map(({ amount }) => amount).reduce(addAmounts, '0.00')).toBe(closing);
      }
    }
    expect(account.payable.map(({ closing }) => closing)).toEqual(
      account.payable.map(() => '0.00'),
    );
  }
  return document;
}

/** A part of the last of them goes back at the portal: no look shows how much. */
async function refundByPortal(): Promise<void> {
  const answer = await fetch(`${house.sandboxUrl}/_sandbox/portal/refund`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ours.at(-1), refund_amount: '0.50' }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

describe('settlement', () => {
  it('is not kept where nobody asked for it: exit code 2, and the key', async () => {
    writeFileSync(join(house.folder, 'any.csv'), 'x\n');
    const report = await cli('report', dateOf(FIRST), '--kind', 'settlement');
    for (const ended of [await take('any.csv'), await cli('settlement'), report]) {
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('settlement: must be given');
    }
  });

  it('takes the file of a night, and every movement of ours is settled', async () => {
    rewriteSettings(house, {
      settlement: { from: dateOf(12) },
      // Nobody listens there; what is told stands in the outbox.
      notify: { webhook: 'http://127.0.0.1:9/' },
    });
    await night(FIRST);
    const { rows } = await house.db.query<(typeof ours)[number]>(
      `select account_id, order_no, transaction_id, amount::text as amount, currency from tieout.movements_now m
       where kind = 'captured' and made = 'here' and not exists (
         select from tieout.movements r
         where r.account_id = m.account_id and r.order_no = m.order_no and r.kind = 'refunded')
       order by currency, account_id, order_no`,
    );
    ours = rows;
    expect(ours.length).toBeGreaterThan(6);
    await refundByPortal();
    const answer = await fetch(`${house.sandboxUrl}/_sandbox/settlement?until=${dateOf(0)}`);
    csv = await answer.text();
    writeFileSync(join(house.folder, 'day.csv'), csv);
    const check = await take('day.csv', '--check');
    expect(check.stdout).toContain('check only, nothing was written');
    expect((await json<SettlementDocument>('settlement')).batches).toEqual([]);
  });

  it('shows what does not fit as breaks a night later, and what fits as settled', async () => {
    const [lost, twice, other, unknown, charged] = ours;
    const lineOf = (one: (typeof ours)[number] | undefined): string =>
      csv.split('\n').find((line) => {
        const [account, , , type, , order] = line.split(',');
        return account === one?.account_id && order === one?.order_no && type === 'captured';
      }) ?? '';
    const changed = (line: string, change: Record<number, (text: string) => string>): string =>
      line
        .split(',')
        .map((cell, at) => change[at]?.(cell) ?? cell)
        .join(',');
    const more = (cell: string): string => addAmounts(cell, '1.00');
    const renamed = (cell: string): string => `${cell}X`;
    const text = csv
      .replace(`${lineOf(lost)}\n`, '')
      .replace(lineOf(other), (line) => changed(line, { 9: more, 11: more }))
      .concat(`${changed(lineOf(twice), { 2: renamed })}\n`)
      .concat(
        `${changed(lineOf(unknown), {
          ...{ 2: renamed, 5: renamed, 6: renamed, 7: renamed },
          4: () => `${dateOf(SECOND)}T10:00:00Z`,
        })}\n`,
      )
      .concat(
        `${changed(lineOf(charged), {
          2: renamed,
          3: () => 'chargeback',
          9: (cell) => `-${cell}`,
          10: () => '15.00',
          11: () => addAmounts(`-${lineOf(charged).split(',')[9]}`, '-15.00'),
        })}\n`,
      );
    writeFileSync(join(house.folder, 'spoilt.csv'), text);
    const taken = await take('spoilt.csv');
    expect(taken.stderr + taken.stdout).toContain('lines inserted');
    expect(taken.code).toBe(0);
    const again = await json<{ inserted: number }>(
      ...['import', 'settlement', 'spoilt.csv', '--map', 'map.yaml'],
    );
    expect(again.inserted).toBe(0);
    // The file as the acquirer wrote it says something else of batches that were taken.
    expect((await take('day.csv')).code).toBe(1);

    const { summary } = await night(SECOND);
    const document = await checkClosings();
    const { rows } = await house.db.query<{ kind: string; order_no: string }>(
      `select kind, order_no from tieout.breaks
       where state = 'open' and tieout.is_settlement_kind(kind)
       order by kind`,
    );
    expect(rows.filter((row) => row.kind !== 'settled_not_captured')).toEqual([
      { kind: 'charged_back', order_no: charged?.order_no },
      { kind: 'not_settled', order_no: lost?.order_no },
      { kind: 'settled_twice', order_no: twice?.order_no },
      { kind: 'settled_unknown', order_no: `${unknown?.order_no}X` },
      { kind: 'settlement_amount', order_no: other?.order_no },
    ]);
    const told = document.accounts.flatMap(({ breaks }) => Object.entries(breaks));
    for (const [kind, count] of told) {
      const inSummary = summary?.accounts.reduce((all, { breaks }) => {
        return all + ((breaks as Record<string, number>)[kind] ?? 0);
      }, 0);
      expect(inSummary, kind).toBeGreaterThanOrEqual(count);
    }
    const movements = document.accounts.map((account) => account.movements);
    expect(movements.reduce((all, { overdue }) => all + overdue, 0)).toBe(1);
    expect(movements.reduce((all, { differs }) => all + differs, 0)).toBe(2);
    const words = await built('settlement');
    expect(words.stdout).toMatch(/without a settlement line since .*, 1 overdue/);
    const listed = await cli('breaks', 'list', '--kind', 'not_settled');
    expect(listed.stdout).toContain('is in no settlement file yet');
    const known = await house.db.query<{ line: string }>(
      `select concat_ws(' ', order_no, made, amount, known_by) as line from tieout.movements_now
       where known_by = 'settlement' and not is_history`,
    );
    // Others had gone back in part before the first night.
    expect(known.rows).toContainEqual({
      line: `${ours.at(-1)?.order_no} elsewhere 0.50 settlement`,
    });
    // The gateway does not say how much; its break says what the acquirer has of it.
    const { breaks } = await json<{ breaks: { orderNo: string; sentence: string }[] }>(
      ...['breaks', 'list', '--kind', 'refund_mismatch'],
    );
    const given = breaks.find(({ orderNo }) => orderNo === ours.at(-1)?.order_no);
    expect(given?.sentence).toMatch(/; the acquirer settled as refunded 0\.50 [A-Z]{3} \(batch /);
    const verified = await cli('verify', summary?.businessDate ?? '');
    expect(verified.stdout).toContain('every figure is the same');
  });

  it('shows with an order what moved of it, and the lines that settle it', async () => {
    const [lost, twice] = ours;
    interface Shown {
      settlement?: {
        movements: { kind: string; made: string; amount: string; batches: string[] }[];
        lines: { type: string; matchedBy: string | null }[];
      };
    }
    const shown = (one: typeof lost) =>
      json<Shown>('order', one?.account_id ?? '', one?.order_no ?? '');
    const { settlement: money } = await shown(twice);
    expect(money?.movements).toEqual([
      expect.objectContaining({ kind: 'captured', made: 'here', amount: twice?.amount }),
    ]);
    expect(money?.movements[0]?.batches).toHaveLength(2);
    expect(money?.lines.map(({ type }) => type)).toEqual(['captured', 'captured']);
    expect(money?.lines.map(({ matchedBy }) => matchedBy)).not.toContain(null);
    expect((await shown(lost)).settlement?.lines).toEqual([]);
    const words = await cli('order', twice?.account_id ?? '', twice?.order_no ?? '');
    expect(words.stdout).toMatch(
      /Movements\n {2}\S+ {2}captured {2}\S+ \w+ {2}by instruction #\d+ {2}.*settled in/,
    );
    expect(words.stdout).toMatch(
      /Settlement lines\n {2}.* batch .* captured .* settles what moved on/,
    );
  });

  it('lists batches, their lines and the fees', async () => {
    const { batches } = await json<SettlementDocument>('settlement', 'batches');
    const [first] = batches;
    const { lines } = await json<{ lines: unknown[] }>('settlement', 'show', first?.batch ?? '');
    expect(lines.length).toBeGreaterThanOrEqual(first?.lines ?? 1);
    expect(await cli('settlement', 'show', 'no', '--json')).toMatchObject({ code: 2, stdout: '' });
    const { fees } = await json<{ fees: { type: string }[] }>('settlement', 'fees');
    expect(fees.map(({ type }) => type)).toContain('captured');
    expect((await cli('settlement', 'fees', 'May')).code).toBe(2);
  });

  it('tells once that a batch is late, of which account and how much', async () => {
    const { rows } = await house.db.query<{ subject: string; orders: number; text: string }>(
      `select subject, (body ->> 'orders')::int as orders, body ->> 'text' as text
       from tieout.outbox where event = 'batch_late'`,
    );
    const [lost] = ours;
    expect(rows.map(({ subject, orders }) => ({ subject, orders }))).toEqual([
      { subject: lost?.account_id, orders: 1 },
    ]);
    expect(rows[0]?.text).toContain(`${lost?.amount} ${lost?.currency} of 1 order became overdue`);
    const doctor = await cli('doctor');
    expect(doctor.stdout).toMatch(/settlement \S+.*1 overdue, the oldest since/);
  });

  it('says in the nightly workbook what is in transit, and since when', async () => {
    const book = await readPlainly(await newestWorkbook(house, dateOf(SECOND)));
    const said = book.sheets.flatMap(({ rows: of }) => of.flat().map(({ value }) => value));
    const lines = said.filter((value) => NOT_YET_SETTLED.test(value));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toMatch(/: -?[\d,]+\.\d\d [A-Z]{3}, the oldest since \d{4}-\d\d-\d\d\./);
    expect(said.join()).not.toContain('not reconciled to bank');
  });

  it('leads in the statement from what the gateway shows to the closing of the report', async () => {
    for (const daysAgo of [FIRST, SECOND]) {
      const date = dateOf(daysAgo);
      // The file came after the first night: its workbook is written once more.
      await writtenOnceMore(house, date);
      const { rows } = await house.db.query<{
        account_id: string;
        currency: string;
        unexplained: string;
        lines: string;
        closing: string;
      }>(
        `select s.account_id, s.currency,
           concat_ws(' ', books -> 'unexplained' ->> 'captured',
             books -> 'unexplained' ->> 'refunded') as unexplained,
           (select sum((i ->> 'lines')::int) filter (where i ->> 'item' <> 'settled')
             from jsonb_array_elements(books -> 'bridge' || (books -> 'other')) i)::text as lines,
           ((books -> 'closing' ->> 'captured')::numeric
             - (books -> 'closing' ->> 'refunded')::numeric)::text as closing
         from tieout.statements s join tieout.reports p using (report_id)
         join tieout.runs r using (run_id)
         where r.business_date = $1 and p.revision = (select max(revision) from tieout.reports n
           where n.run_id = r.run_id and n.kind = 'reconciliation')
         order by 1, 2`,
        [date],
      );
      expect(rows.length).toBeGreaterThan(2);
      expect(rows.map(({ unexplained }) => unexplained)).toEqual(rows.map(() => '0.00 0.00'));
      expect(rows.some(({ lines }) => Number(lines) > 0)).toBe(true);
      const listed = await cli('report', date, '--kind', 'settlement', '--format', 'ndjson');
      const closings = new Map<string, string>();
      for (const line of listed.stdout.trim().split('\n')) {
        const item = JSON.parse(line) as Record<'book' | 'account_id' | 'currency', string> & {
          amount: string;
        };
        if (item.book !== 'atGateway') continue;
        const key = [item.account_id, item.currency].join();
        closings.set(key, addAmounts(closings.get(key) ?? '0.00', item.amount));
      }
      expect(await saidNotSettled(house, date), `Summary of ${date}`).toEqual(byCurrency(rows));
      const kept = rows.filter(({ closing }) => closing !== '0.00');
      expect(
        new Map(kept.map((one) => [[one.account_id, one.currency].join(), one.closing])),
        date,
      ).toEqual(new Map([...closings].filter(([, closing]) => closing !== '0.00')));
    }
  });

  it('tells what counts on a later business date from what differs, and on which', async () => {
    // As a refund that is sent after its day was closed.
    const { book, orderNo } = await withLateRefund(house, dateOf(FIRST), dateOf(FIRST - 1));
    const lines = linesNotSettled(book, orderNo);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[4]).toMatch(/^Counts on a later business date/);
    expect(lines[0]?.[8]).toEqual(new Date(`${dateOf(FIRST - 1)}T00:00:00Z`));
    expect(evaluateAll(book).filter((one) => one.stored !== one.workedOut)).toEqual([]);
  });

  it('writes the settlement report of a date and of its month, and their open items', async () => {
    const date = dateOf(SECOND);
    const written = await json<{ path: string; kind: string; revision: number }>(
      ...['report', date, '--kind', 'settlement'],
    );
    expect(written).toMatchObject({ kind: 'settlement', revision: 1 });
    const wrong = evaluateAll(await openXlsx(written.path));
    expect(wrong.filter((one) => one.stored !== one.workedOut)).toEqual([]);
    const book = await readPlainly(written.path);
    const values = book.sheets[0]?.rows.flat().map(({ value }) => value) ?? [];
    expect(values).toContain('All checks on this sheet tie');
    expect((await cli('report', date.slice(0, 7), '--kind', 'settlement')).code).toBe(0);
    const listed = await cli('report', date, '--kind', 'settlement', '--format', 'ndjson');
    const closings = new Map<string, string>();
    for (const line of listed.stdout.trim().split('\n')) {
      const item = JSON.parse(line) as Record<
        'book' | 'account_id' | 'currency' | 'amount',
        string
      >;
      const key = [item.book, item.account_id, item.currency].join();
      closings.set(key, addAmounts(closings.get(key) ?? '0.00', item.amount));
    }
    expect(closings.size).toBeGreaterThan(2);
    for (const closing of closings.values()) expect(values).toContain(String(Number(closing)));
    expect((await cli('report', dateOf(40), '--kind', 'settlement')).code).toBe(2);
  });

  it('taken out of tieout.yaml leaves its breaks open, counted and told by name, until each is waived', async () => {
    rewriteSettings(house, { settlement: null });
    const ended = await cli('run', '--date', dateOf(SECOND), '--json');
    const { accounts, notices } = JSON.parse(ended.stdout) as RunSummary;
    const counted = accounts.reduce((all, { breaks }) => all + (breaks.not_settled ?? 0), 0);
    expect([counted, ended.code]).toEqual([1, 3]);
    const told = (notices ?? []).filter(({ kind }) => kind === 'settlement_not_kept');
    expect(told.map(({ text }) => text).join()).toMatch(
      /1 not settled.*; such as .*put the section/i,
    );
    const words = /breaks? of settlement (is|are) open .*no section settlement any more/;
    for (const command of ['doctor', 'status']) {
      expect((await cli(command)).stdout, command).toMatch(words);
    }
    const status = await json<{ settlementNotKept: { accountId: string }[] }>('status');
    expect(status.settlementNotKept.map(({ accountId }) => accountId)).toEqual(
      told.map(({ accountId }) => accountId),
    );
    const { rows } = await house.db.query<{ break_id: bigint }>(
      `select break_id from tieout.breaks where state = 'open' and tieout.is_settlement_kind(kind)`,
    );
    for (const { break_id } of rows) {
      const waived = await cli('breaks', 'waive', `${break_id}`, '--reason', 'looked at by hand');
      expect(waived.code, waived.stderr).toBe(0);
    }
    expect((await cli('status')).stdout).not.toMatch(words);
    const unkept = await json('order', ours[0]?.account_id ?? '', ours[0]?.order_no ?? '');
    expect(unkept).not.toHaveProperty('settlement');
    const again = JSON.parse((await cli('run', '--date', dateOf(SECOND), '--json')).stdout);
    expect(((again as RunSummary).notices ?? []).map(({ kind }) => kind)).not.toContain(
      'settlement_not_kept',
    );
  });
});
