// One decision about all instructions that match: what one press would do is shown first with its
// money, the press is bound to it, each instruction has its own decision, and what an approver has
// to look at by itself is left.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isApprovable } from '../../src/core/instructions/holdReasons.js';
import { FRESH_MS } from '../../src/web/visitor/session.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

/** In a unit that the profile does not say: nobody knows how much money it is. */
const PAYOUT = {
  payment_amount: '150000',
  payment_currency: 'EUR',
  reference: 'commission',
  beneficiary: { company_name: 'Nordlicht GmbH', bank_details: { iban: 'DE00123456780000000000' } },
};

let console: ConsoleHouse;
let approver: Visitor;
let operator: Visitor;

beforeAll(async () => {
  console = await openConsole({
    orders: 300,
    settings: {
      operations: { capture: 'approve', cancel: 'approve', refund: 'approve', payout: 'approve' },
    },
    before: async ({ db }) => {
      const ids = [1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
      await db.query(
        `insert into ledger.payout_requests (request_id, account_id, payload, requested_at)
         select id, 'A1001', $2, now() - interval '1 minute' from unnest($1::uuid[]) id`,
        [ids, JSON.stringify(PAYOUT)],
      );
    },
  });
  approver = await console.withRole('approver');
  operator = await console.withRole('operator');
}, 180_000);
afterAll(() => console.end());

interface Group {
  account: string;
  operation: string;
  why: string;
  currency: string;
  count: number;
  money: string;
}

async function groups(): Promise<Group[]> {
  const { rows } = await console.app.db.query<Group>(
    `select account_id as account, operation, hold_reason as why, currency, count(*)::int as count,
       coalesce(sum(coalesce(refund_amount, amount)) filter (where operation <> 'payout'), 0)::text
         as money
     from tieout.instructions where state = 'held'
     group by 1, 2, 3, 4 order by count(*) desc, 1, 2, 3, 4`,
  );
  return rows;
}

const all = (verb: string, { account, operation, why, currency }: Group): string =>
  `/instructions/all/${verb}?${new URLSearchParams({ account, operation, why, currency })}`;
const seenOf = (body: string): string => /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';
const textOf = (body: string): string => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const buttonOf = (body: string): string =>
  /<button type="submit" class="main"[^>]*>([^<]*)<\/button>(?!.*class="main")/s.exec(body)?.[1] ??
  '';
const sentence = (body: string): string =>
  textOf(/<p class="sentence"[^>]*>(.*?)<\/p>/.exec(body)?.[1] ?? '').trim();

async function statesOf({ account, operation, currency }: Group): Promise<Record<string, number>> {
  const { rows } = await console.app.db.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from tieout.instructions
     where account_id = $1 and operation = $2 and currency = $3 group by 1`,
    [account, operation, currency],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

async function largest(operation: string): Promise<Group> {
  const found = (await groups()).find((one) => one.operation === operation && one.count > 1);
  if (found === undefined) throw new Error(`nothing of ${operation} waits`);
  return found;
}

describe('a set of several reasons', () => {
  it('shows by each how many and how much, so that a dispute does not vanish in a sum', async () => {
    const waiting = await largest('refund');
    const { db } = console.app;
    const turn = (from: string, to: string, limit: number) =>
      db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(
          `update tieout.instructions set hold_reason = $3 where instruction_id in (
             select instruction_id from tieout.instructions where state = 'held' and hold_reason = $2
               and operation = 'refund' and account_id = $1 and currency = $4
             order by instruction_id limit $5)`,
          [waiting.account, from, to, waiting.currency, limit],
        );
      });
    const { account, operation, currency } = waiting;
    const path = `/instructions/all/approve?${new URLSearchParams({ account, operation, currency })}`;
    expect((await approver.get(path)).body).not.toContain('of these, waiting because');
    await turn('approval', 'second_capture', 1);
    const text = textOf((await approver.get(path)).body);
    expect(text).toMatch(
      /of these, waiting because the operation needs approval \d+ [\d,.]+ [A-Z]{3}/,
    );
    expect(text).toMatch(/of these, waiting because [^0-9]*captured[^0-9]* 1 [\d,.]+ [A-Z]{3}/);
    await turn('second_capture', 'approval', 1);
  });
});

describe('what waits for approval', () => {
  it('has the sum of the rows that wait for approval, and names apart what moves no money', async () => {
    const { body } = await approver.get('/approvals');
    const pages = [body];
    while (/<a href="[^"]+">Next page/.test(pages.at(-1) ?? '')) {
      pages.push((await approver.get(`/approvals?page=${pages.length + 1}`)).body);
    }
    const rows = pages
      .join('')
      .split('<tr>')
      .slice(1)
      .filter((row) => /href="\/instructions\/\d+"/.test(row));
    const sums = new Map<string, number>();
    let reviews = 0;
    for (const row of rows.filter((one) => !one.includes('Cannot be approved as it is'))) {
      if (row.includes('no money moves')) {
        reviews += 1;
        continue;
      }
      if (/>payout ?</.test(row)) continue;
      const [, amount = 'none', currency = ''] =
        /<td class="figure"[^>]*>([\d,.]+)<\/td><td>([A-Z]{3})</.exec(row) ?? [];
      sums.set(currency, (sums.get(currency) ?? 0) + Number(amount.replaceAll(',', '')));
    }
    const first = (await approver.get('/')).body.replaceAll(/<[^>]+>/g, '');
    const [, money = ''] =
      /instructions? waits? for approval: (.*?), 2 without an amount \(approvers\)/.exec(first) ??
      [];
    const said = money.split(', ').map((one): [string, number] => {
      const [amount = '', currency = ''] = one.split(' ');
      return [currency, Number(amount.replaceAll(',', ''))];
    });
    expect(new Map(said)).toEqual(
      new Map([...sums].map(([key, sum]) => [key, Number(sum.toFixed(2))])),
    );
    expect(first).toContain(`${reviews} fraud review`);
    expect(body).toContain(
      `, ${money}; ${reviews} fraud review${reviews === 1 ? '' : 's'} among them, without money; 2 payouts without a known amount.`,
    );
  });
});

describe('all instructions that match', () => {
  it('of payouts in a unit that nobody has set, say how many, and no money', async () => {
    const group = await largest('payout');
    const { body } = await approver.get(all('approve', group));
    expect(buttonOf(body)).toBe('approve 2 instructions: 2 without a known amount');
    const [done = ''] = body.split('<tr>').slice(2).map(textOf);
    expect(done).toContain(' 2 2 without an amount ');
    expect(body).not.toMatch(/[\d,.]+ EUR(?! as written)/);
    const { rows } = await console.app.db.query<{ id: string }>(
      `select instruction_id::text as id from tieout.instructions where operation = 'payout' limit 1`,
    );
    const page = (await approver.get(`/instructions/${rows[0]?.id}`)).body;
    expect(textOf(page)).toContain('payout 150000 EUR as written');
    expect(buttonOf(page)).toBe(
      'Approve the payout of 150000 EUR as written, in a unit nobody has set: it will be sent',
    );
    const list = (await approver.get('/instructions')).body;
    expect(textOf(list)).toContain(' 150000 as written EUR ');
    expect([page, list, (await approver.get('/approvals')).body].join()).not.toContain('150,000');
  });

  it('are put together on the list with count and money, and links for whoever may', async () => {
    const { body } = await approver.get('/approvals');
    for (const group of await groups()) {
      const approval = all('approve', group).replaceAll('&', '&amp;');
      expect(body.includes(approval)).toBe(isApprovable(group.why));
      const link = all('reject', group).replaceAll('&', '&amp;');
      const row = body.split('<tr>').find((one) => one.includes(link)) ?? '';
      expect(textOf(row)).toContain(` ${group.count} `);
      if (group.operation === 'payout') expect(row).not.toContain('300');
      if (group.operation === 'review' || group.operation === 'payout') continue;
      expect(textOf(row).replaceAll(',', '')).toContain(group.money.replace(/\.00$/, ''));
    }
    expect((await operator.get('/approvals')).body).not.toContain('/instructions/all/approve');
    expect((await operator.get('/instructions/all/approve')).statusCode).toBe(403);
  });

  it('are approved in one press, each with a decision of its own, bound to what was seen', async () => {
    const group = await largest('capture');
    const link = all('approve', group);
    const { body } = await approver.get(link);
    expect(sentence(body)).toContain(`${group.count} will be approved`);
    expect(buttonOf(body)).toMatch(
      new RegExp(`^approve ${group.count} instructions?: [\\d,.]+ [A-Z]`),
    );
    const pressed = await approver.post(link, { seen: seenOf(body), words: 'the goods left' });
    expect(sentence(pressed.body)).toBe(`${group.count} approved.`);
    const { rows } = await console.app.db.query<{ decided: number; kept: boolean }>(
      `select count(*)::int as decided, bool_and(d.decided_by = $4 and not d.is_claim
         and d.reason = 'the goods left' and d.seen_sha256 is not null) as kept
       from tieout.decisions d join tieout.instructions i using (instruction_id)
       where i.account_id = $1 and i.operation = $2 and i.currency = $3`,
      [group.account, group.operation, group.currency, approver.name],
    );
    expect(rows).toEqual([{ decided: group.count, kept: true }]);
    expect((await statesOf(group)).queued).toBe(group.count);
    const again = await approver.post(link, { seen: seenOf(body) });
    expect(again.statusCode).toBe(409);
  });

  it('or some that were ticked, are shown with their totals first, and what is left and why', async () => {
    const { rows } = await console.app.db.query<{ id: string; money: string; currency: string }>(
      `select instruction_id::text as id, refund_amount::text as money, currency
       from tieout.instructions where state = 'held' and operation = 'refund' order by 1 limit 3`,
    );
    const [first, second, own] = rows;
    await console.app.db.query(
      `update tieout.instructions set asked_by = array[$1::text] where instruction_id = $2`,
      [approver.name, own?.id],
    );
    const list = (await (await console.withRole('approver')).get('/approvals')).body;
    const id = rows.map((row) => new RegExp(`${row.id}:[0-9a-f]{64}`).exec(list)?.[0] ?? '');
    const { body } = await approver.post('/approvals/approve', { id, words: 'looked at' });
    expect(sentence(body)).toContain('Nothing is done yet: 2 of 3 will be approved');
    const [done = '', left = ''] = body.split('<tr>').slice(2).map(textOf);
    for (const currency of new Set([first?.currency, second?.currency])) {
      const mine = [first, second].filter((row) => row?.currency === currency);
      const sum = mine.reduce((total, row) => total + Number(row?.money), 0);
      expect(done.replaceAll(',', '')).toContain(`${sum.toFixed(2).replace(/\.00$/, '')}`);
    }
    expect(done).toMatch(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}/);
    expect(left).toMatch(/left as it is: who asked for it, .*?\( one of them \) 1 /);
    // The button says how many, and how much.
    const press = buttonOf(body);
    expect(press).toMatch(/^Approve 2 instructions: [\d,.]+ [A-Z]{3}/);
    for (const money of press.split(': ')[1]?.split(', ') ?? []) expect(done).toContain(money);
    // The second press carries what the first one did; it is not made here.
    expect(id.every((pick) => body.includes(`name="id" value="${pick}"`))).toBe(true);
    expect(body).toContain('name="words" value="looked at"');
    // Too late for it, the password is asked for, and the way back is the list with its ticks.
    const before = console.clock.now;
    console.clock.now = new Date(before.getTime() + FRESH_MS + 1_000);
    const form = { id, confirmed: 'yes' };
    const referer = 'http://localhost/approvals/approve';
    const late = await approver.post('/approvals/approve', form, { referer });
    const next = decodeURIComponent(String(late.headers.location));
    expect(next).toMatch(/^\/confirm\?next=\/approvals\?ticked=/);
    console.clock.now = before;
    await console.app.db.query(
      `update tieout.instructions set asked_by = '{}' where instruction_id = $1`,
      [own?.id],
    );
  });

  it('are left alone when one of them changed since it was shown', async () => {
    const group = await largest('refund');
    const link = all('reject', group);
    const { body } = await approver.get(link);
    const { rows } = await console.app.db.query<{ id: string }>(
      `select instruction_id::text as id from tieout.instructions where state = 'held'
       and account_id = $1 and operation = $2 and currency = $3 and hold_reason = $4 limit 1`,
      [group.account, group.operation, group.currency, group.why],
    );
    await approver.post('/approvals/reject', { id: rows[0]?.id ?? '', words: 'no' });
    const before = await statesOf(group);
    const pressed = await approver.post(link, { seen: seenOf(body), words: 'all of it' });
    expect([pressed.statusCode, pressed.body.includes('nothing was done')]).toEqual([409, true]);
    expect(await statesOf(group)).toEqual(before);
    const now = seenOf(pressed.body);
    expect((await approver.post(link, { seen: now })).statusCode).toBe(303);
    expect(await statesOf(group)).toEqual(before);
    const done = await approver.post(link, { seen: now, words: 'all of it' });
    expect(sentence(done.body)).toBe(`${group.count - 1} rejected.`);
  });

  it('leave what the approver asked for, with the reason and a way to it', async () => {
    const group = await largest('review');
    const { rows } = await console.app.db.query<{ id: string }>(
      `update tieout.instructions set asked_by = array[$4::text] where instruction_id in (
         select instruction_id from tieout.instructions where state = 'held' and account_id = $1
           and operation = 'review' and currency = $2 and hold_reason = $3
         order by instruction_id limit 1)
       returning instruction_id::text as id`,
      [group.account, group.currency, group.why, approver.name],
    );
    const { body } = await approver.get(all('approve', group));
    expect(sentence(body)).toContain(`${group.count - 1} will be approved`);
    expect(textOf(body)).toMatch(/left as it is: who asked for it, .*?\( one of them \) 1 /);
    expect(body).toContain(`href="/instructions/${rows[0]?.id}"`);
  });

  it('of another account are neither shown nor decided about', async () => {
    const group = await largest('review');
    const other = await console.withRole('approver', group.account === 'A1001' ? 'A1002' : 'A1001');
    const { body } = await other.get(all('approve', group));
    // neither are those of the own account, which match in all else
    expect(sentence(body)).toContain('0 will be approved');
    expect(textOf(body)).toContain('is no account to choose here: nothing matches.');
    // who may only look at it is not led there
    const both = await console.visitor([
      { role: 'viewer', accountId: null },
      { role: 'approver', accountId: group.account === 'A1001' ? 'A1002' : 'A1001' },
    ]);
    const list = (await both.get('/approvals')).body;
    expect(list).toContain('/instructions/all/approve?account=');
    expect(list).not.toContain(`/instructions/all/approve?account=${group.account}&`);
  });

  it('each name on their page the open breaks of the same order, with money', async () => {
    const { db } = console.app;
    const { rows } = await db.query<{ id: bigint; order: string }>(
      `select instruction_id as id, order_no as "order" from tieout.instructions i
       where state = 'held' and operation = 'capture' and not exists (
         select from tieout.breaks b
         where b.account_id = i.account_id and b.order_no = i.order_no)
       order by 1 limit 1`,
    );
    const path = `/instructions/${rows[0]?.id}`;
    expect((await approver.get(path)).body).not.toContain('Open breaks of the same order');
    const open = await db.query<{ id: string }>(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, fingerprint, expected, actual, currency, amount)
       select account_id, order_no, 'amount_mismatch', 'open', now(), run_id, run_id, '',
         '{"amount": "107.25"}', '{"amount": "100.00"}', 'EUR', 7.25
       from tieout.instructions where instruction_id = $1 returning break_id::text as id`,
      [rows[0]?.id],
    );
    const shown = (await approver.get(path)).body;
    expect(shown).toMatch(/Open breaks of the same order.*7\.25 EUR at stake.*<h2>Decisions/s);
    expect(shown).toContain(`<a href="/breaks/${open.rows[0]?.id}">amount mismatch</a>`);
    await db.query('delete from tieout.breaks where break_id = $1', [open.rows[0]?.id]);
  });

  it('that are unknown are resolved in one press, by what was found and where', async () => {
    const { db } = console.app;
    await db.query('alter table tieout.instructions disable trigger user');
    const { rows } = await db.query<{ id: bigint }>(
      `update tieout.instructions set state = 'unknown', hold_reason = null, settled_at = null,
         settled_run_id = null, reason = 'no answer'
       where operation = 'cancel' and currency = 'EUR' returning instruction_id as id`,
    );
    await db.query('alter table tieout.instructions enable trigger user');
    expect(rows.length).toBeGreaterThan(1);
    const list = (await operator.get('/instructions?state=unknown')).body;
    const links = [...list.matchAll(/href="(\/instructions\/all\/resolve[^"]+)"/g)].map(
      ([, link = '']) => link.replaceAll('&amp;', '&'),
    );
    expect((await approver.get('/instructions?state=unknown')).body).not.toContain('resolve all');
    let resolved = 0;
    for (const link of links) {
      const seen = seenOf((await operator.get(link)).body);
      const fields = { seen, words: 'looked at each in the portal' };
      expect((await operator.post(link, fields)).statusCode).toBe(303);
      const found = { ...fields, finding: 'happened', reference: 'portal export 7' };
      const done = await operator.post(link, found);
      resolved += Number(/^(\d+) resolved/.exec(sentence(done.body))?.[1]);
    }
    expect(resolved).toBe(rows.length);
    const { rows: decided } = await db.query<{ count: number }>(
      `select count(*)::int as count from tieout.decisions
       where decision = 'resolve' and finding = 'happened' and reference = 'portal export 7'
         and decided_by = $1`,
      [operator.name],
    );
    expect(decided).toEqual([{ count: rows.length }]);
  });
});
