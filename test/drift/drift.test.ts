// The gateway's answers change between nights: the first night that sees it tells it, in the
// summary, the workbook's words and the console's notices, and no other does.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { findRun } from '../../src/runs/runsStore.js';
import { verifyRun } from '../../src/verify/verifyRun.js';
import { unzip } from '../reports/openXlsx.js';
import { buildHouse, dateOf, kinds, rewriteSettings } from '../support/night.js';

type Entry = Record<string, unknown>;

/** What the acquirer makes of each entry of an answer, by path. */
const rules = new Map<string, (entry: Entry) => void>();
/** And of what stands beside the entries. */
const headRules = new Map<string, (head: Entry) => void>();

/** A server before the sandbox that answers by the rules. */
async function front(target: string) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': request.headers['content-type'] ?? '' },
      body: Buffer.concat(parts),
    });
    const page = (await answer.json()) as Record<string, unknown>;
    headRules.get(request.url ?? '')?.(page);
    for (const entries of Object.values(page)) {
      if (!Array.isArray(entries)) continue;
      for (const entry of entries) rules.get(request.url ?? '')?.(entry as Entry);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${port}`, close };
}

async function workbookText({ reports }: RunSummary): Promise<string> {
  const book = reports.find(({ kind }) => kind === 'reconciliation');
  return [...(await unzip(book?.path ?? '')).values()].join('\n');
}

test('a field that goes, comes or changes its type is told by one night', async () => {
  const house = await buildHouse({
    orders: 10_000,
    inLedger: kinds({ plain: 29, capture_due: 44 }, 'A1001'),
    through: front,
    daysAgo: 3,
  });
  // A database that knows no earlier run sends nothing that is asked for since longer ago.
  const liveFrom = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const accounts = house.accounts.map((account) => ({ ...account, liveFrom }));
  rewriteSettings(house, { accounts });
  // Half of the captures are for the second night: so many say that a field is gone.
  await house.db.query('create table public.later as select * from ledger.orders');
  const due = house.seeded.filter(({ kind }) => kind === 'capture_due').slice(0, 22);
  await house.db.query(`delete from public.later where not order_no = any ($1)`, [
    due.map(({ ledger }) => ledger.order_no),
  ]);
  await house.db.query(
    'delete from ledger.orders where order_no in (select order_no from public.later)',
  );
  const night = async (daysAgo: number): Promise<RunSummary> => {
    const { summary } = await house.run({ date: dateOf(daysAgo) });
    const run = await findRun(house.db, dateOf(daysAgo));
    if (!run) throw new Error('no run');
    const { config, version } = await house.open();
    const deps = { db: house.db, config, version, progress: () => {} };
    expect((await verifyRun(deps, run)).differences).toEqual([]);
    return summary;
  };
  const drift = ({ drift: told = [] }: RunSummary) =>
    told.flatMap(({ accountId, answer, changes }) =>
      changes.map(({ change, path }) => `${accountId} ${answer}: ${change} ${path}`),
    );
  try {
    expect((await night(3)).drift).toBeUndefined();
    rules.set('/v1/retrievalTrans', (entry) => {
      delete entry.is3ds;
      entry.reference_no = 17;
      entry.contact = { mail: 'jo@example.com' };
    });
    await house.db.query('insert into ledger.orders select * from public.later');
    rules.set('/v1/capture', (entry) => {
      entry.holder = { name: 'Jo Public' };
    });
    headRules.set('/v1/capture', (head) => {
      delete head.return_message;
      head.encryption_data = 7;
    });
    // Nothing is sent in a dry run, and nothing is remembered of it.
    const told = [
      'A1001 query: type orders_list[].reference_no',
      'A1001 query: appeared orders_list[].contact',
      'A1001 query: vanished orders_list[].is3ds',
    ];
    expect(drift((await house.run({ date: dateOf(2), isDry: true })).summary)).toEqual(told);
    const changed = await night(2);
    const toldOfBatches = [
      'A1001 capture: appeared capture_orders[].holder',
      'A1001 capture: type encryption_data',
      'A1001 capture: vanished return_message',
    ];
    expect(drift(changed).sort()).toEqual([...toldOfBatches, ...told].sort());
    const words = (changed.notices ?? []).filter(({ kind }) => kind === 'answer_changed');
    expect(words).toHaveLength(2);
    const sent = words.find(({ text }) => text.includes('answers to a capture'))?.text ?? '';
    expect(sent).toContain('return_message was always there (text) and is in none of 22');
    expect(sent).toContain('encryption_data was text and is now also number, such as 9');
    expect(sent).toContain('capture_orders[].holder is new (object), in 22 of 22');
    expect(JSON.stringify(changed)).not.toContain('Jo Public');
    expect(await workbookText(changed)).toContain('return_message was always there (text)');
    const notice = changed.notices?.find(({ kind }) => kind === 'answer_changed');
    expect(notice?.text).toContain('orders_list[].is3ds was always there (text) and is in none of');
    expect(JSON.stringify(changed)).not.toContain('jo@example.com');
    // The same date again says the same, the next one nothing.
    const again = drift((await house.run({ date: dateOf(2) })).summary);
    expect(again.sort()).toEqual([...toldOfBatches, ...told].sort());
    expect((await night(1)).drift).toBeUndefined();
    expect(await shapesKept()).toEqual({ capture: 2, query: 2 });
  } finally {
    await house.end();
  }

  /** Rows by kind of answer. */
  async function shapesKept(): Promise<Record<string, number>> {
    const { rows } = await house.db.query<{ answer: string; kept: bigint }>(
      'select answer, count(*) as kept from tieout.answer_shapes group by answer order by answer',
    );
    return Object.fromEntries(rows.map(({ answer, kept }) => [answer, Number(kept)]));
  }
});

test('where nobody can say whether an answer changed, that is told, and the night is whole', async () => {
  const house = await buildHouse({ orders: 600, inLedger: kinds({ plain: 20 }) });
  try {
    await house.db.query(`alter table tieout.answer_shapes add constraint odd
      check (account_id <> 'A1001')`);
    const { summary } = await house.run();
    expect(summary.state).toBe('tied_out');
    const told = (summary.notices ?? []).filter(({ kind }) => kind === 'answer_changed');
    expect(told.map(({ accountId }) => accountId)).toEqual(['A1001']);
    expect(told[0]?.text).toMatch(/to a query could not be found out: .*"odd"/);
    const { rows } = await house.db.query<{ account: string }>(
      'select distinct account_id as account from tieout.answer_shapes',
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ account }) => account)).not.toContain('A1001');
  } finally {
    await house.end();
  }
});
