// Approving in the console: bound to what was seen, by a second person, once, and sent once however
// often it is pressed. Row 113 of the list of faults, and resolving an unknown one.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendApproved } from '../../src/night/sendApproved.js';
import { waitingRows } from '../../src/report/reportRowsStore.js';
import { FRESH_MS } from '../../src/web/visitor/session.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, PASSWORD, refusalOf, signIn } from './consoleHouse.js';

interface Held {
  id: string;
  account: string;
  order: string;
  asked: string | null;
}

/** No real one; its check digit is right. */
const CARD = '4111111111111111';

let console: ConsoleHouse;
let approver: Visitor;

beforeAll(async () => {
  console = await openConsole({
    orders: 300,
    settings: {
      operations: { capture: 'auto', cancel: 'auto', refund: 'approve', review: 'approve' },
    },
  });
  approver = await console.withRole('approver');
});
afterAll(() => console.end());

async function held(): Promise<Held[]> {
  const { rows } = await console.app.db.query<Held>(
    `select instruction_id::text as id, account_id as account, order_no as order,
       asked_by[1] as asked
     from tieout.instructions where state = 'held' and operation = 'refund'
     order by instruction_id`,
  );
  return rows;
}

async function stateOf(id: string): Promise<string> {
  const { rows } = await console.app.db.query<{ state: string }>(
    'select state from tieout.instructions where instruction_id = $1',
    [id],
  );
  return rows[0]?.state ?? 'none';
}

/** What the page offers to tick for an instruction: its number and the digest of what it shows. */
async function pickOf(visitor: Visitor, id: string): Promise<string> {
  const { body } = await visitor.get('/approvals');
  return new RegExp(`value="(${id}:[0-9a-f]{64})"`).exec(body)?.[1] ?? 'not on the page';
}

describe('approving (row 113)', () => {
  it('shows what will be sent and what it rests on', async () => {
    const [one] = await held();
    const { body } = await approver.get('/approvals');
    expect(body).toContain(one?.order);
    expect(body).toMatch(/Ledger: captured [\d,.]+ [A-Z]{3}/);
    expect(body).toMatch(/Gateway: (captured|partially refunded)/);
    // The money of each request has the currency that it is asked in.
    const { rows } = await console.app.db.query<{ said: string }>(
      `select 'Refund ' || r.refund_id || ': ' || to_char(r.refund_amount, 'FM999,999,990.00') || ' '
         || o.currency || ', asked by' as said
       from tieout.instructions i
       join ledger.refund_requests r using (account_id, order_no)
       join ledger.orders o using (account_id, order_no)
       where i.state = 'held' and i.operation = 'refund' and o.currency <> 'JPY'`,
    );
    const currencies = new Set(rows.map(({ said }) => / ([A-Z]{3}), /.exec(said)?.[1]));
    expect(currencies.size).toBeGreaterThan(1);
    for (const { said } of rows) expect(body).toContain(said);
    const sheet = await approver.get(`/instructions/${one?.id}`);
    const ofOne = /is bound to.*<fieldset.*>Approve [\d,.]+ [A-Z]{3}: it will be sent<\/button>/s;
    expect(sheet.body).toMatch(ofOne);
    expect(body).toMatch(/What waits for approval.*<fieldset.*>Reject/s);
    // Who may only look ticks nothing, and is sent nowhere to reject.
    const looking = await (await console.withRole('finance')).get('/approvals');
    expect(looking.body).toContain(one?.order);
    expect(looking.body).not.toMatch(/type="checkbox"|: reject</);
  });

  it('says times of a reason in the zone of the schedule, as all others', async () => {
    const { db } = console.app;
    const id = await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      const { rows } = await tx.query<{ id: bigint }>(
        `update tieout.instructions set reason = 'liveFrom: 2026-11-01T02:03:04.000Z before'
         where instruction_id = (
           select min(instruction_id) from tieout.instructions where state = 'confirmed')
         returning instruction_id as id`,
      );
      return rows[0]?.id;
    });
    for (const path of [`/instructions/${id}`, '/instructions?state=confirmed']) {
      const { body } = await approver.get(path);
      expect(body).toContain('liveFrom: 2026-11-01 02:03:04 UTC before');
    }
  });

  it('is void when something changed since the page was shown', async () => {
    const [one] = await held();
    if (!one) throw new Error('nothing is held');
    const pick = await pickOf(approver, one.id);
    await console.app.db.query(
      `update ledger.refund_requests set reason = 'changed meanwhile'
       where account_id = $1 and order_no = $2`,
      [one.account, one.order],
    );
    const { body } = await approver.post('/approvals/approve', { id: pick });
    expect(body).toContain('no longer what you saw');
    expect(await stateOf(one.id)).toBe('held');
  });

  it('is not for who asked, however the name is written', async () => {
    const [, one] = await held();
    if (!one?.asked) throw new Error('nobody asked for it');
    const name = one.asked.toUpperCase();
    const self = await console.visitor([{ role: 'approver', accountId: null }], name);
    // It cannot be ticked, and a form that was made by hand is refused.
    expect(await pickOf(self, one.id)).toBe('not on the page');
    const own = (await self.get(`/instructions/${one.id}`)).body;
    expect(own).toContain('somebody else approves it');
    expect(own).not.toContain(': it will be sent');
    const pick = await pickOf(approver, one.id);
    const { body } = await self.post('/approvals/approve', { id: pick });
    expect(body).toContain('cannot approve it');
    expect(await stateOf(one.id)).toBe('held');
  });

  it('asks for the password again first', async () => {
    const [, , one] = await held();
    const before = console.clock.now;
    const pick = await pickOf(approver, one?.id ?? '');
    console.clock.now = new Date(before.getTime() + FRESH_MS + 1_000);
    const answer = await approver.post('/approvals/approve', { id: pick });
    const location = `/confirm?next=${encodeURIComponent(`/approvals?ticked=${one?.id}`)}`;
    expect([answer.statusCode, answer.headers.location]).toEqual([303, location]);
    expect((await approver.get('/approvals')).body).toContain('Password, to approve');
    const referer = 'http://localhost/approvals?page=1';
    const there = await approver.post('/approvals/approve', { id: pick }, { referer });
    expect(decodeURIComponent(String(there.headers.location))).toBe(
      `/confirm?next=/approvals?page=1&ticked=${one?.id}`,
    );
    for (const foreign of ['https://evil.example//evil', 'nonsense', '/confirm?next=/']) {
      const from = await approver.post('/approvals/approve', { id: pick }, { referer: foreign });
      expect(from.headers.location).toBe(location);
    }
    // The tick is there again, on what the page shows now; of no other row.
    const again = await approver.get(`/approvals?ticked=${one?.id}.0.x`);
    expect(again.body.match(/<input[^>]*checked[^>]*>/g)).toEqual([
      expect.stringContaining(`value="${pick}"`),
    ]);
    console.clock.now = before;
    expect(await stateOf(one?.id ?? '')).toBe('held');
  });

  it('gives back what was typed before the password was asked for, once and nowhere else', async () => {
    const [, , one] = await held();
    const before = console.clock.now;
    await console.addPerson('paula', [{ role: 'approver', accountId: null }]);
    const paula = console.signedOut();
    await signIn(paula, 'paula');
    const id = await pickOf(paula, one?.id ?? '');
    console.clock.now = new Date(before.getTime() + FRESH_MS + 1_000);
    const words = `"><b>spoken with Nkechi, card ${CARD}`;
    const asked = await paula.post('/approvals/approve', { id, words });
    const question = String(asked.headers.location);
    expect(question).not.toContain('Nkechi');
    expect((await approver.get('/approvals')).body).not.toContain('Nkechi');
    const wrong = await paula.post('/confirm', { password: 'not hers', next: '/approvals' });
    expect([wrong.statusCode, wrong.body.includes('Nkechi')]).toEqual([401, false]);
    const next = new URL(question, 'http://none').searchParams.get('next') ?? '';
    const there = await paula.post('/confirm', { password: PASSWORD, next });
    expect(there.headers.location).toBe(next);
    expect((await paula.get('/breaks')).body).not.toContain('Nkechi');
    const shown = await paula.get(next);
    expect(shown.body).toContain('value="&quot;>&lt;b>spoken with Nkechi, card 411111******1111"');
    expect((await paula.get(next)).body).not.toContain('Nkechi');
    console.clock.now = before;
    expect(await stateOf(one?.id ?? '')).toBe('held');
  });

  it('happens once when a hundred press at once, and is sent once', async () => {
    const [, , one] = await held();
    if (!one) throw new Error('nothing is held');
    const other = await console.withRole('approver');
    const picks = { id: await pickOf(approver, one.id), _csrf: await approver.token() };
    const theirs = { id: picks.id, _csrf: await other.token() };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        n % 2 === 0
          ? approver.raw('/approvals/approve', picks)
          : other.raw('/approvals/approve', theirs),
      ),
    );
    const done = answers.filter(({ body }) => body.includes('1 of 1 done'));
    expect(done).toHaveLength(1);
    const { rows } = await console.app.db.query(
      `select 1 from tieout.decisions where instruction_id = $1 and decision = 'approve'`,
      [one.id],
    );
    expect(rows).toHaveLength(1);
    const accounts = console.app.config.accounts.map(({ accountId }) => accountId);
    await sendApproved(await console.app.sendDeps(), accounts, await console.app.workforce());
    expect(await stateOf(one.id)).toBe('confirmed');
    const again = await approver.raw('/approvals/approve', picks);
    expect(again.body).toContain('0 of 1 done');
    const effects = await console.house.effects();
    const refunds = effects.filter(
      ({ operation, order_no }) => operation === 'refund' && order_no === one.order,
    );
    expect(refunds).toHaveLength(1);
  });

  it('is answered row by row, and a rejection needs a reason', async () => {
    const rows = (await held()).slice(0, 2);
    const picks = await Promise.all(rows.map(({ id }) => pickOf(approver, id)));
    const silent = await approver.post('/approvals/reject', { id: picks });
    expect(await refusalOf(approver, silent)).toContain('the reason');
    const ids = [...picks, '999999999'];
    const form = { id: ids, words: 'goods kept' };
    const shown = await approver.post('/approvals/reject', form);
    expect(shown.body).toContain('Nothing is done yet: 2 of 3 will be rejected');
    expect(await stateOf(rows[0]?.id ?? '')).toBe('held');
    const { body } = await approver.post('/approvals/reject', { ...form, confirmed: 'yes' });
    expect(body).toContain('2 of 3 done');
    expect(await Promise.all(rows.map(({ id }) => stateOf(id)))).toEqual([
      'withdrawn',
      'withdrawn',
    ]);
    const { body: sheet } = await approver.get(`/instructions/${rows[0]?.id}`);
    expect(sheet).toContain('goods kept');
    expect(sheet).toContain(approver.name);
  });
});

describe('a long list', () => {
  it.each([
    ['/approvals?sort=amount', 'Amount'],
    ['/instructions?state=confirmed&sort=amount', 'Amount'],
    ['/authorisations?show=all&sort=amount', 'Amount'],
    ['/days?sort=captured', 'Captured'],
  ])('%s has the largest amount of each currency first', async (path, head) => {
    const viewer = await console.withRole('viewer');
    const { body } = await viewer.get(path);
    expect(body).toMatch(
      new RegExp(`aria-sort="descending"><a class="by" href="[^"]*sort=\\w+[^"]*">${head}<`),
    );
    const row =
      head === 'Amount'
        ? /<td class="figure">(-?[\d,.]+)<\/td><td>([A-Z]{3})<\/td>/g
        : /<td data-name="Currency">([A-Z]{3})<\/td>.*?data-name="Captured">(-?[\d,.]+)<\/td>/g;
    const rows = [...body.matchAll(row)].map(([, a = '', b = '']): [string, number] => {
      const [amount, currency] = head === 'Amount' ? [a, b] : [b, a];
      return [currency, Number(amount.replaceAll(',', ''))];
    });
    expect(rows.length).toBeGreaterThan(1);
    const sorted = rows.toSorted((a, b) => a[0].localeCompare(b[0]) || b[1] - a[1]);
    expect(rows).toEqual(sorted);
  });
});

describe('a business day', () => {
  it('is closed by finance, with who and why; a locked one stays', async () => {
    const { db } = console.app;
    const { rows } = await db.query<{ account: string; date: string }>(
      'select account_id as account, business_date as date from tieout.run_accounts limit 1',
    );
    const day = rows[0] ?? { account: '', date: '' };
    const finance = await console.withRole('finance');
    const form = { ...day, words: 'month end' };
    const shown = async () => {
      const page = await finance.get(`/days/${day.account}/${day.date}`);
      return /name="seen" value="([0-9a-f]{64})"/.exec(page.body)?.[1] ?? '';
    };
    for (const [verb, done] of [
      ['lock', 0],
      ['close', 1],
      ['close', 0],
      ['reopen', 1],
      ['close', 1],
      ['lock', 1],
      ['reopen', 0],
    ] as const) {
      const { body } = await finance.post(`/days/${verb}`, { ...form, seen: await shown() });
      expect([verb, body.includes(`${done} of 1 done`)]).toEqual([verb, true]);
    }
    const { body } = await finance.get(`/days/${day.account}/${day.date}`);
    expect(body).toContain('month end');
    expect(body).toContain(finance.name);
    expect((await finance.get('/days')).body).toContain('locked');
  });
});

describe('the audit page', () => {
  it('finds a decision by any word of it', async () => {
    const auditor = await console.withRole('finance');
    const all = await auditor.get('/audit');
    expect(all.body).toContain('goods kept');
    const found = await auditor.get('/audit?text=GOODS%20kept');
    expect(found.body).toContain('reject refund');
    expect(found.body).not.toContain('month end');
    expect((await auditor.get('/audit?text=nowhere')).body).toContain('Nothing fits these words');
  });

  it('says that the chain is whole, and where it is broken', async () => {
    const { db } = console.app;
    const auditor = await console.withRole('approver');
    expect((await auditor.post('/audit/check', {})).body).toMatch(/Whole: \d+ links in 3 chains/);
    // Done twice, everything stands as it was.
    const alter = () =>
      db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(`update tieout.decisions set reason = reverse(reason)
          where decision = 'reject'`);
      });
    await alter();
    const both = await Promise.all([1, 2].map(() => auditor.post('/audit/check', {})));
    await alter();
    for (const { body } of both) {
      expect(body).toContain('Not whole: 1 of 3 chains are broken');
      expect(body).toMatch(/<td[^>]*>decision<\/td>[\s\S]*at least one was changed/);
    }
    expect((await auditor.post('/audit/check', {})).body).toContain('Whole');
    expect((await auditor.get('/activity?text=check')).body).toContain('1 broken');
  });
});

describe('an unknown one', () => {
  it('says what to look for, and is resolved with reason and reference', async () => {
    const { db } = console.app;
    const { rows } = await db.query<{ id: string }>(
      `select instruction_id::text as id from tieout.instructions
       where state = 'confirmed' and operation = 'refund' limit 1`,
    );
    const id = rows[0]?.id ?? '';
    await db.query('alter table tieout.instructions disable trigger user');
    await db.query(
      `update tieout.instructions set state = 'unknown', settled_at = null, settled_run_id = null,
         reason = 'no answer' where instruction_id = $1`,
      [id],
    );
    await db.query('alter table tieout.instructions enable trigger user');
    const operator = await console.withRole('operator');
    const { body } = await operator.get(`/instructions/${id}`);
    expect(body).toContain('What to look for in the merchant portal');
    // What the gateway called it, under both of its names, here and in the workbook.
    expect(body).toMatch(/It is T\d+-01 at the gateway, its refund reference RT\d+\./);
    const [run] = (await db.query<{ id: bigint }>('select max(run_id) as id from tieout.runs'))
      .rows;
    const waiting = [];
    for await (const some of waitingRows(db, run?.id ?? 0n)) waiting.push(...some);
    const refunds = waiting.filter(({ instructionId }) => instructionId === id);
    expect(refunds).toHaveLength(1);
    for (const one of refunds) expect(one.refundReference).toBe(`R${one.transactionId}`);
    const pick = new RegExp(`value="(${id}:[0-9a-f]{64})"`).exec(body)?.[1] ?? '';
    const form = { id: pick, finding: 'happened', words: 'seen in the portal' };
    const short = await operator.post('/instructions/resolve', form);
    // It comes back to where the form stands, which says what is missing and has what was typed.
    expect(short.headers.location).toBe(`/instructions?ticked=${id}`);
    const place = { referer: `http://here/instructions/${id}` };
    const again = await operator.post('/instructions/resolve', form, place);
    expect(again.headers.location).toMatch(new RegExp(`^/instructions/${id}\\?`));
    const page = await operator.get(again.headers.location as string);
    expect(page.body).toMatch(/role="alert"[^>]*>Nothing was changed: the reference/);
    expect(page.body).toContain('value="seen in the portal"');
    expect((await operator.get(`/instructions/${id}`)).body).not.toContain('role="alert"');
    const done = await operator.post('/instructions/resolve', { ...form, reference: 'P-77' });
    expect(done.body).toContain('1 of 1 done');
    expect(await stateOf(id)).toBe('confirmed');
    expect((await operator.get(`/instructions/${id}`)).body).toContain('P-77');
  });
});

describe('the first page', () => {
  it('names a report that could not be written, until it is', async () => {
    const add = (revision: number, state: string): Promise<unknown> =>
      console.app.db.query(
        `insert into tieout.reports (run_id, kind, format, revision, state, created_at, reason,
           written_at, path, sha256, bytes)
         select run_id, 'orders', 'xlsx', $1, $2, now(), case $2 when 'failed' then 'no room' end,
           w.at, case $2 when 'written' then '/none' end, case $2 when 'written' then 'x' end, 1
         from tieout.runs, (select case $2 when 'written' then now() end as at) w`,
        [revision, state],
      );
    const told = async (): Promise<boolean> =>
      (await approver.get('/')).body.includes('report could not be written');
    expect(await told()).toBe(false);
    await add(801, 'failed');
    expect(await told()).toBe(true);
    await add(802, 'written');
    expect(await told()).toBe(false);
  });
});
