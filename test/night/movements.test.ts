// The book of movements over whole nights: a seeded night and three after it, in which people move
// money at the gateway's portal. What is booked is what the gateway really took and gave back,
// whoever did it; an unchanged night adds nothing; the chain is whole and the days tie.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workedOutClosing } from '../../src/core/runs/businessDay.js';
import { closeDay } from '../../src/days/days.js';
import { dayFigures } from '../../src/days/daysStore.js';
import { findRun } from '../../src/runs/runsStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { evaluateAll } from '../reports/evaluate.js';
import { openXlsx } from '../reports/openXlsx.js';
import { readPlainly } from '../reports/plainReader.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, dateOf } from '../support/night.js';

const READ = new URL('../../proof/auditor/readBooks.mjs', import.meta.url).href;
const FIND = new URL('../../proof/auditor/findViolations.mjs', import.meta.url).href;

let house: House;
beforeAll(async () => {
  house = await buildHouse({
    orders: 160,
    seed: 5,
    daysAgo: 4,
    settings: { settlement: { from: dateOf(4) } },
  });
});
afterAll(() => house.end());

async function night(daysAgo: number): Promise<void> {
  await house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
}

interface Transaction {
  account_id: string;
  order_no: string;
  transaction_id: string;
  currency: string;
  amount: string;
  state: string;
  refunded: string;
}

async function audit(): Promise<{ words: string[]; transactions: Transaction[] }> {
  const { readDatabase, readGateway } = (await import(READ)) as {
    readDatabase: (client: unknown) => Promise<object>;
    readGateway: (url: string, journal: null) => Promise<{ transactions: Transaction[] }>;
  };
  const { findViolations } = (await import(FIND)) as {
    findViolations: (books: object) => { violations: { invariant: string; words: string }[] };
  };
  const client = await house.db.pool.connect();
  const ours = await readDatabase(client).finally(() => client.release());
  const theirs = await readGateway(house.sandboxUrl, null);
  const { violations } = findViolations({ ...ours, ...theirs });
  const words = violations.filter(({ invariant }) => invariant === 'I15').map((one) => one.words);
  return { words, transactions: theirs.transactions };
}

async function byPortal(action: string, one: Transaction, refund?: string): Promise<void> {
  const answer = await fetch(`${house.sandboxUrl}/_sandbox/portal/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...one, amount: one.amount, ...(refund && { refund_amount: refund }) }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

async function booked(): Promise<Record<string, number>> {
  const { rows } = await house.db.query<{ what: string; n: number }>(
    `select made || ' ' || kind || case when is_history then ', history' else '' end
       || case when amount is null then ', suspense' else '' end as what, count(*)::int as n
     from tieout.movements_now group by 1`,
  );
  return Object.fromEntries(rows.map(({ what, n }) => [what, n]));
}

describe('four nights', () => {
  test('the first one books what stood there, of orders from before as history', async () => {
    await night(4);
    expect((await audit()).words).toEqual([]);
    const first = await booked();
    expect(first['elsewhere captured, history']).toBeGreaterThan(20);
    expect(first['elsewhere captured']).toBeGreaterThan(0);
    expect(first['here captured']).toBeGreaterThan(0);
    const { rows } = await house.db.query<{
      is_history: boolean;
      is_before: boolean;
      order_no: string;
    }>(
      `select is_history, o.placed_at < r.starts_at as is_before, m.order_no
       from tieout.movements m join ledger.orders o using (account_id, order_no)
       join tieout.runs r using (run_id)
       where m.made = 'elsewhere' and m.kind = 'captured'`,
    );
    expect(rows.filter((one) => one.is_history !== one.is_before)).toEqual([]);
  });

  test('nothing new adds nothing', async () => {
    const before = await booked();
    await night(4);
    expect(await booked()).toEqual(before);
  });

  test('what people do at the portal is booked as made elsewhere', async () => {
    const { transactions } = await audit();
    const asked = new Set(house.seeded.map(({ ledger }) => ledger.order_no));
    const known = transactions.filter(({ order_no }) => asked.has(order_no));
    const captured = known.filter(
      ({ state, amount }) => state === 'captured' && Number(amount) > 2,
    );
    const [whole, part, twice, told] = captured;
    if (!whole || !part || !twice || !told) throw new Error('too few orders');
    await byPortal('refund', whole);
    for (const one of [part, twice, told]) await byPortal('refund', one, '1.00');
    const before = await booked();
    await night(3);
    expect((await audit()).words).toEqual([]);
    const after = await booked();
    expect(after['elsewhere refunded']).toBe(1);
    expect(after['elsewhere refunded, suspense']).toBe(
      (before['elsewhere refunded, suspense'] ?? 0) + 3,
    );
    await closed(told, dateOf(3));
    await refundSettled(told, '1.00');
    await byPortal('refund', twice);
    await byPortal('refund', told);
    await night(2);
    expect((await audit()).words).toEqual([]);
    expect((await booked())['elsewhere refunded']).toBe(4);
  });

  async function closed({ account_id: accountId }: Transaction, date: string): Promise<void> {
    const order = { accountId, date, who: { name: 'anna', isClaim: true }, reason: 'done' };
    const verdict = await closeDay(house.db, { ...order, withEarlier: true });
    expect(verdict).toMatchObject({ kind: 'done' });
  }

  /** What the acquirer tells of it stands in the open day, before the night of that day. */
  async function refundSettled(one: Transaction, amount: string): Promise<void> {
    const line = {
      ...{ account_id: one.account_id, batch: 'B1', type: 'refunded', currency: one.currency },
      ...{ booked_at: `${dateOf(2)}T06:00:00Z`, transaction_id: one.transaction_id },
      ...{ amount: `-${amount}`, net: `-${amount}` },
    };
    const names = Object.keys(line);
    const columns = Object.fromEntries(names.map((name) => [name, { from: name }]));
    writeFileSync(join(house.folder, 'told.csv'), `${names}\n${Object.values(line)}\n`);
    writeFileSync(join(house.folder, 'map.json'), JSON.stringify({ table: 'settlement', columns }));
    const importing = ['import', 'settlement', 'told.csv', '--map', 'map.json'];
    const taken = await tieoutHere(importing, { cwd: house.folder });
    expect(taken.code, taken.stderr).toBe(0);
    const { rows } = await house.db.query(
      `select business_date::text as on from tieout.movement_amounts where known_by = 'settlement'`,
    );
    expect(rows).toEqual([{ on: dateOf(2) }]);
  }

  test('the chain is whole, and days come to what their movements do', async () => {
    const chain = await checkChain(house.db, () => {});
    expect(chain.broken).toEqual([]);
    expect(chain.disagreements).toEqual([]);
    const accountIds = house.accounts.map(({ accountId }) => accountId);
    const days = await dayFigures(house.db, accountIds, '0001-01-01', '9999-12-31');
    for (const day of days) {
      expect(day.elsewhere?.since).toBe(dateOf(4));
      expect(day.closing).toBe(workedOutClosing(day));
      const before = days.findLast(
        (one) =>
          one.accountId === day.accountId &&
          one.currency === day.currency &&
          one.businessDate < day.businessDate,
      );
      expect(day.opening).toBe(before?.closing ?? '0.00');
    }
    const refunded = days.filter(({ elsewhere }) => elsewhere?.refunded !== '0.00');
    const dates = [...new Set(refunded.map(({ businessDate }) => businessDate))].sort();
    expect(dates).toEqual([dateOf(3), dateOf(2)]);
    const suspense = days.filter(({ businessDate }) => businessDate === dateOf(2));
    expect(suspense.reduce((sum, { elsewhere }) => sum + (elsewhere?.suspense ?? 0), 0)).toBe(1);
  });

  test('`tieout verify DATE` works it out again, and finds what was booked otherwise', async () => {
    const app = await house.open();
    const verified = async (daysAgo: number) => {
      const run = await findRun(house.db, dateOf(daysAgo));
      if (run === null) throw new Error('no such run');
      const deps = { db: house.db, config: app.config, version: 'now', progress: () => {} };
      return (await verifyRun(deps, run)).differences;
    };
    for (const daysAgo of [4, 3, 2]) expect(await verified(daysAgo)).toEqual([]);
    const tampered = async (daysAgo: number, statement: string) => {
      await house.db.query('create table kept as select * from tieout.movements');
      await asNobodyMay(statement);
      const found = await verified(daysAgo);
      await asNobodyMay('delete from tieout.movements');
      await asNobodyMay(
        'insert into tieout.movements overriding system value select * from kept; drop table kept',
      );
      expect(await verified(daysAgo)).toEqual([]);
      return found.map(({ what }) => what);
    };
    const isElsewhere = `made = 'elsewhere' and kind = 'captured'`;
    const one = `movement_id = (select min(movement_id) from tieout.movements where`;
    expect(
      await tampered(4, `update tieout.movements set amount = 1 where ${one} ${isElsewhere})`),
    ).toEqual([expect.stringMatching(/^movements of /)]);
    expect(await tampered(4, `delete from tieout.movements where ${one} ${isElsewhere})`)).toEqual([
      expect.stringMatching(/^movements of /),
    ]);
    expect(
      await tampered(4, `update tieout.movements set amount = 1 where ${one} made = 'here')`),
    ).toEqual(['movement of ours']);
  });

  async function asNobodyMay(statement: string): Promise<void> {
    await house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(statement);
    });
  }

  test('`tieout days` and the activity statement show it', async () => {
    const listed = await tieoutHere(['days'], { cwd: house.folder });
    expect(listed.stdout).toContain('capt. elsewhere');
    expect(listed.stdout).toContain(`A1001 from ${dateOf(4)}`);
    const out = join(house.folder, 'activity.xlsx');
    const month = dateOf(2).slice(0, 7);
    const written = await tieoutHere(['report', month, '--kind', 'activity', '--out', out], {
      cwd: house.folder,
    });
    expect(written.code, written.stderr).toBe(0);
    const { sheets } = await readPlainly(out);
    const said = sheets.flatMap(({ rows }) => rows.flat()).map(({ value }) => value);
    expect(said).toContain('All checks on this sheet tie');
    expect(said).toContain('Captured elsewhere');
    const formulas = evaluateAll(await openXlsx(out));
    expect(formulas.length).toBeGreaterThan(10);
    expect(formulas.filter(({ stored, workedOut }) => stored !== workedOut)).toEqual([]);
  });
});
