// Facts of settlement as a night and an import write them, in a database of their own, and what is made
// of them. Neighbours: matching.test.ts and fees.test.ts.

import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { SettlementSettings } from '../../src/config/settlement.js';
import { addAmounts } from '../../src/core/money.js';
import type { Database, Db } from '../../src/database/db.js';
import { settleAccounts, settledAccounts } from '../../src/settlement/settlement.js';
import type { OpenItem, SettlementDocument } from '../../src/settlement/settlementStore.js';
import { openItems, settlementFigures } from '../../src/settlement/settlementStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';

export let db: Database;

/** Said once by each file: a database for all of its tests, empty before each of them. */
export function ownFacts(): void {
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase();
    db = fresh.db;
  });
  afterAll(() => fresh.drop());
  beforeEach(emptied);
}

async function emptied(): Promise<void> {
  await db.transaction(async (tx) => {
    // Facts are never removed, save by whoever owns the server.
    await tx.query('set local session_replication_role = replica');
    await tx.query(`truncate tieout.movements, tieout.movement_amounts, tieout.settlement_files,
      tieout.settlement_batches, tieout.settlement_lines, tieout.settlement_matches,
      tieout.settlement_looks, tieout.settlement_unmatched, tieout.settlement_awaited, tieout.breaks, tieout.break_events,
      tieout.runs, tieout.run_accounts, ledger.orders, tieout.day_sums cascade`);
  });
  runId = await aRun('2026-11-20');
}

let runId = 0n;

/** A night that looked at all orders. */
export async function aRun(date: string): Promise<bigint> {
  const { rows } = await db.query<{ run_id: bigint }>(
    `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
       settings, settings_sha256, version, created_at, finished_at, summary)
     values ($1, array[$1::date], $1, $1::date + 1, 'tied_out', 'test', '{}', 's', '0', now(), now(),
       '{}') returning run_id`,
    [date],
  );
  const id = rows[0]?.run_id ?? 0n;
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of,
       events_until)
     values ($1, 'A1', $2, 'M1', 'tied_out', now(), 0)`,
    [id, date],
  );
  return id;
}

/** The night's look: one page that asks for these orders, and what it shows of them. */
export async function look(
  page: 'answered' | 'failed',
  shown: readonly { order: string; state: string }[],
): Promise<void> {
  const orders = JSON.stringify(shown);
  const { rows } = await db.query<{ pull_id: bigint }>(
    `insert into tieout.pulls (run_id, kind, as_of, is_sealed)
     select max(run_id), 'night', now(), true from tieout.runs returning pull_id`,
  );
  const pullId = rows[0]?.pull_id ?? 0n;
  await db.query(
    `insert into tieout.pages (pull_id, account_id, page_no, state, orders, entries, unasked,
       attempts, reason, answered_at)
     select $1, 'A1', 1, $2, 1, case $2 when 'answered' then 1 end, 0, 1,
       case $2 when 'failed' then 'no answer' end, case $2 when 'answered' then now() end`,
    [pullId, page],
  );
  await db.query(
    `insert into tieout.asked_orders (pull_id, account_id, order_no, page_no, in_ledger)
     select $1, 'A1', o."order", 1, true from jsonb_to_recordset($2::jsonb) as o ("order" text)`,
    [pullId, orders],
  );
  if (page === 'answered') {
    await db.query(
      `insert into tieout.look_entries (pull_id, account_id, page_no, position, order_no, is_extra,
         is_asked, transaction_id, currency, amount, state, found, fraud_rejected)
       select $1, 'A1', 1, 1, o."order", false, true, 'T' || o."order", 'EUR', 10, o.state, true,
         false
       from jsonb_to_recordset($2::jsonb) as o ("order" text, state text)`,
      [pullId, orders],
    );
  }
  await db.query(
    `update tieout.run_accounts set pull_id = $1
     where run_id = (select max(run_id) from tieout.runs)`,
    [pullId],
  );
}

export interface Given {
  order: string;
  kind?: 'captured' | 'refunded';
  amount: string | null;
  on?: string;
  transaction?: string;
  reference?: string;
  currency?: string;
  history?: boolean;
}

export async function moved(...given: Given[]): Promise<void> {
  for (const one of given) {
    await db.query(
      `insert into tieout.movements (account_id, order_no, transaction_id, kind, currency, amount,
         made, reference, business_date, run_id, is_history)
       values ('A1', $1, $2, $3, $4, $5, 'elsewhere', $6, $7, $8, $9)`,
      [
        ...[one.order, one.transaction ?? `T${one.order}`, one.kind ?? 'captured'],
        ...[one.currency ?? 'EUR', one.amount, one.reference ?? null, one.on ?? '2026-11-18'],
        ...[runId, one.history ?? false],
      ],
    );
  }
}

export interface Line {
  type?: string;
  order?: string | null;
  transaction?: string;
  reference?: string;
  amount: string;
  fee?: string;
  currency?: string;
  on?: string;
  account?: string;
}

let batches = 0;

/** A batch as the import keeps it: without a payout line it pays out its sum. */
export async function settled(...lines: Line[]): Promise<string> {
  batches += 1;
  const batch = `B${batches}`;
  const rows = JSON.stringify(lines.map((line, at) => ({ fee: '0.00', ...line, at: at + 1 })));
  await db.query(
    `with line as (
       select * from jsonb_to_recordset($2::jsonb) as l (at int, type text, "order" text,
         transaction text, reference text, amount numeric, fee numeric, currency text, "on" text)
     ), file as (
       insert into tieout.settlement_files (name, sha256, map_sha256, accounts, batches, lines, totals)
       select 'f', $1, '', '{A1}', 1, sum(lines), jsonb_object_agg(currency, jsonb_build_object(
         'lines', lines, 'gross', gross::text, 'fees', fees::text, 'payout', payout::text))
       from (
         select coalesce(currency, 'EUR') as currency, count(*) as lines, sum(amount) as gross,
           sum(fee) as fees,
           coalesce(-sum(amount) filter (where type = 'payout'), sum(amount - fee)) as payout
         from line group by 1
       ) totals
       returning file_id
     ), batch as (
       insert into tieout.settlement_batches (account_id, batch, currency, file_id, lines, gross,
         fees, payout, has_payout, first_booked_at, last_booked_at, digest)
       select 'A1', $1, coalesce(currency, 'EUR'), min(file_id), count(*), sum(amount),
         sum(fee), coalesce(-sum(amount) filter (where type = 'payout'), sum(amount - fee)),
         coalesce(bool_or(type = 'payout'), false), min(coalesce("on", '2026-11-19')::timestamptz),
         max(coalesce("on", '2026-11-19')::timestamptz), ''
       from line cross join file group by coalesce(currency, 'EUR')
     )
     insert into tieout.settlement_lines (account_id, batch, line_id, line_no, type, booked_at,
       order_no, transaction_id, reference, currency, amount, settle_currency, gross, fee, net)
     select 'A1', $1, at::text, at, coalesce(type, 'captured'),
       coalesce("on", '2026-11-19')::timestamptz, "order", transaction, reference,
       coalesce(currency, 'EUR'), amount, coalesce(currency, 'EUR'), amount, fee, amount - fee
     from line order by line.at`,
    [batch, rows],
  );
  return batch;
}

const settings: SettlementSettings = {
  ...{ from: '2026-11-01', settleDays: 5, arriveDays: 3, holidays: [], reference: null },
  ...{ counterparty: null, bankAccounts: [], tariff: [], inbox: null, files: [] },
};
export const rules = {
  settings,
  times: { from: '2026-11-01', cutOff: '00:00', timezone: 'UTC' },
  fees: { tariff: [], coarse: { JPY: 0 } },
};
export const ACCOUNTS = ['A1'];

export async function settle(
  over: Partial<typeof rules> | object = {},
  run = runId,
): Promise<number> {
  const now = new Date('2026-11-21T02:30:00Z');
  return settleAccounts(db, { ...rules, ...over }, ACCOUNTS, { now, runId: run });
}

export async function breaks(state = 'open'): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', order_no, kind, amount, currency) as line from tieout.breaks
     where state = $1 order by order_no, kind`,
    [state],
  );
  return rows.map(({ line }) => line);
}

export async function matches(): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', m.order_no, m.kind, m.amount, '=', l.amount, x.by) as line
     from tieout.settlement_matches x join tieout.settlement_lines l using (settlement_line_id)
     join tieout.movements_now m using (movement_id) order by m.order_no, l.settlement_line_id`,
  );
  return rows.map(({ line }) => line);
}

export async function figures(): Promise<SettlementDocument> {
  const accounts = await settledAccounts(db, rules, ACCOUNTS, null);
  return settlementFigures(db, accounts, rules.times);
}

/** The identities of the contract, whatever the facts are. */
export async function checkIdentities(): Promise<OpenItem[]> {
  const document = await figures();
  const items: OpenItem[] = [];
  for await (const chunk of openItems(db, ACCOUNTS, rules.times)) items.push(...chunk);
  const [account] = document.accounts;
  for (const book of ['atGateway', 'bank'] as const) {
    for (const { currency, closing } of account?.[book] ?? []) {
      const listed = items.filter((item) => item.book === book && item.currency === currency);
      expect(listed.map((item) => item.amount).reduce(addAmounts, '0.00'), book).toBe(closing);
    }
  }
  for (const { closing } of account?.payable ?? []) expect(closing).toBe('0.00');
  const counted = Object.values(account?.movements ?? {}).reduce((all, one) => all + one, 0);
  const { rows } = await db.query<{ n: bigint }>(
    `select count(*) as n from tieout.movements_now
     where not is_history and amount is distinct from 0`,
  );
  expect(counted).toBe(Number(rows[0]?.n));
  expect(await doubtfulMatches(db)).toEqual([]);
  return items;
}

/** What `verify` says of matches. */
export async function doubtfulMatches(tx: Db): Promise<string[]> {
  const { disagreements } = await checkChain(tx, () => {});
  return disagreements
    .filter(({ what }) => what.startsWith('match of'))
    .map(({ orderNo, state, history }) => `${orderNo}: ${state}: ${history}`);
}
