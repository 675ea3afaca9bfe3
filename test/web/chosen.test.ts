// A press decides about what was chosen and shown, and about nothing else: filters that do not fit,
// accounts that one may only look at, the way over the password, and which accounts are stopped.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRESH_MS } from '../../src/web/visitor/session.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

/** Both pass for card numbers. */
const ORDER = '4539578763621486';
const TRANSACTION = '4000001234567899';
const CARD = '4111111111111111';

let place: ConsoleHouse;
let viewer: Visitor;
/** May decide about A1001, and look at all. */
let part: Visitor;
beforeAll(async () => {
  place = await openConsole({ settings: { operations: { review: 'approve' } } });
  viewer = await place.withRole('viewer');
  part = await place.visitor([
    { role: 'viewer', accountId: null },
    { role: 'finance', accountId: 'A1001' },
  ]);
  await place.app.db.query(`update tieout.breaks set state = 'resolved'`);
  for (const [accountId, orderNo] of [
    ['A1001', ORDER],
    ['A1001', 'OURS'],
    ['A1001', 'OURS-2'],
    ['A1002', 'THEIRS'],
  ]) {
    await place.app.db.query(
      `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint, currency, amount)
       select account_id, $2, 'amount_mismatch', 'open', $3, run_id, run_id,
         '{"state": "captured", "amount": "1000.00", "currency": "EUR"}', jsonb_build_object(
           'state', 'captured', 'currency', 'EUR', 'amount', '1005.00', 'transaction', $4::text),
         $2, 'EUR', 5
       from tieout.run_accounts where account_id = $1 limit 1`,
      [accountId, orderNo, new Date(place.clock.now.getTime() - 60_000), TRANSACTION],
    );
  }
}, 120_000);
afterAll(() => place.end());

const textOf = (body: string): string =>
  body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ');
const seenOf = (body: string): string => /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';

async function breakIds(...orders: string[]): Promise<string[]> {
  const { rows } = await place.app.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks where order_no = any ($1) order by 1`,
    [orders],
  );
  return rows.map(({ id }) => id);
}

describe('a filter that does not fit', () => {
  it.each([
    ['/breaks?account=A9999', '"A9999" is no account'],
    ['/breaks?account=A1001&account=A1002', 'What was given for account cannot be read'],
    ['/breaks?to=12x', 'Amount to "12x" cannot be read as an amount, such as 1250.00'],
    ['/breaks/causes?kind=odd', '"odd" is no kind'],
    ['/instructions?state=odd', '"odd" is no state'],
    ['/instructions?account=A9999', '"A9999" is no account'],
    ['/approvals?account=A9999', '"A9999" is no account'],
    ['/authorisations?show=all&account=A9999', '"A9999" is no account'],
    ['/nights/DATE/changes?change=odd', '"odd" is no change'],
  ])('matches nothing, and %s says so', async (path, words) => {
    const { rows } = await place.app.db.query<{ date: string }>(
      'select max(business_date)::text as date from tieout.runs where not is_dry',
    );
    const { body } = await viewer.get(path.replace('DATE', rows[0]?.date ?? ''));
    expect(textOf(body)).toContain(words);
    expect(textOf(body)).toContain(': nothing matches.');
    expect(textOf(body)).not.toMatch(/waiting for approval:|nothing waits/i);
    expect(body).not.toMatch(/href="\/(orders\/|(instructions|breaks)\/\d)/);
  });
});

describe('accounts that one may only look at', () => {
  it('are left out of a decision about all, which says of which it is', async () => {
    const list = (await part.get('/breaks')).body;
    expect(textOf(list)).toContain('4 breaks.');
    const page = textOf((await part.get('/breaks/all/waive')).body);
    expect(page).toContain('of account A1001 alone: about others you may not decide this.');
    expect(page).toContain('3 breaks match');
    expect((await part.get('/breaks?account=A1002')).body).not.toContain('/breaks/all/');
  });

  it('are named where their breaks were ticked', async () => {
    const id = await breakIds('OURS', 'OURS-2', 'THEIRS');
    const shown = await part.post('/breaks/waive', { id, words: 'known' });
    expect(textOf(shown.body)).toContain('the button decides about 2 of 3');
    const not = 'your roles do not allow this for account A1002';
    expect(textOf(shown.body)).toContain(`left as they are: ${not} 1 5.00 EUR`);
    const fields = { id, words: 'known', seen: seenOf(shown.body) };
    const done = textOf((await part.post('/breaks/waive', fields)).body);
    expect(done).toContain('amount mismatch of THEIRS (A1002)');
    expect(done).toContain(not);
    expect(done).not.toContain('no such break');
    const { rows } = await place.app.db.query<{ state: string }>(
      `select state from tieout.breaks where break_id = any ($1) order by order_no`,
      [id],
    );
    expect(rows.map(({ state }) => state)).toEqual(['waived', 'waived', 'open']);
  });
});

describe('on the way over the password', () => {
  it('the rows stay those that were chosen, and ids in what was typed stay whole', async () => {
    const before = place.clock.now;
    const [id = ''] = await breakIds(ORDER);
    const path = "/breaks/all/waive?cause=amount_mismatch%2C+delta+%2B5.00+EUR&text=it's+(here)~";
    const words = `agreed for ${ORDER}, ${TRANSACTION}-01; not card ${CARD}`;
    place.clock.now = new Date(before.getTime() + FRESH_MS + 1_000);
    const referer = `http://localhost${path}`;
    const asked = await part.post('/breaks/all/waive', { seen: 'a', words }, { referer });
    place.clock.now = before;
    const next = new URL(String(asked.headers.location), referer).searchParams.get('next') ?? '';
    const [was, is] = [path, next].map((one) => new URL(one, referer));
    expect(is?.pathname).toBe(was?.pathname);
    expect([...(is?.searchParams ?? [])]).toEqual([...(was?.searchParams ?? [])]);
    const { rows } = await place.app.db.query<{ words: string }>(
      `select draft -> 'typed' ->> 'words' as words from tieout.sessions where draft is not null`,
    );
    const kept = `agreed for ${ORDER}, ${TRANSACTION}-01; not card 411111******1111`;
    expect(rows).toEqual([{ words: kept }]);
    const pick = /name="id" value="([^"]*)"/.exec((await part.get(`/breaks/${id}`)).body)?.[1];
    await part.post('/breaks/waive', { id: pick ?? '', words });
    const stored = await place.app.db.query<{ reason: string }>(
      'select waived_reason as reason from tieout.breaks where break_id = $1',
      [id],
    );
    expect(stored.rows).toEqual([{ reason: kept }]);
  });
});

it('a review that was decided about is told without money, which it does not move', async () => {
  const approver = await place.withRole('approver');
  const { rows } = await place.app.db.query<{ id: string; order: string }>(
    `select instruction_id::text as id, order_no as "order" from tieout.instructions
     where state = 'held' and operation = 'review' order by 1 limit 1`,
  );
  const done = await approver.post('/approvals/reject', { id: rows[0]?.id ?? '', words: 'no' });
  expect(textOf(done.body)).toContain(`review of ${rows[0]?.order} (`);
});

describe('stopping', () => {
  it('one account is not told as stopping all, and two at once stop none', async () => {
    const operator = await place.withRole('operator');
    const both = await operator.post('/brake/on', { account: ['A1001', 'A1002'], words: 'x' });
    expect(both.statusCode).toBe(303);
    expect(textOf((await operator.get('/brake')).body)).toContain('Sending is not stopped.');
    await operator.post('/brake/on', { account: 'A1001', words: 'look first' });
    const { body } = await operator.get('/brake');
    expect(textOf(body)).toContain('Sending is stopped for A1001. Snapshots go on.');
    expect(body).not.toContain('Stop all sending');
    expect((await operator.get('/')).body).not.toContain('sending is stopped');
    const approver = await place.withRole('approver');
    const held = /value="(\d+:[0-9a-f]{64})"/.exec(
      (await approver.get('/approvals?account=A1001')).body,
    )?.[1];
    await approver.post('/approvals/approve', { id: held ?? '' });
    // What is approved now waits for the brake, and for nobody's eyes elsewhere.
    expect(textOf((await operator.get('/')).body)).toMatch(
      /1 instr.* is on its way \( ?see below ?\) .*A1001: sending is stopped for .* 1 instruction waits/,
    );
    await operator.post('/brake/off', { account: 'A1001', words: 'looked' });
    expect(textOf((await operator.get('/')).body)).toMatch(
      /A1001: 1 instruction waits to be sent: nothing stops/,
    );
  });
});

describe('a card number that stands among the filters', () => {
  it('is in no record of a list that was taken, and the number of an order is', async () => {
    for (const text of [CARD, ORDER]) {
      expect((await part.get(`/breaks.csv?text=${text}`)).statusCode).toBe(200);
    }
    const { rows } = await place.app.db.query<{ subject: string }>(
      `select subject from tieout.console_events where subject like 'breaks: %' order by event_id`,
    );
    const subjects = rows.map(({ subject }) => subject);
    expect(subjects).toEqual(['breaks: text 411111******1111', `breaks: text ${ORDER}`]);
  });

  it('is not shown on the page of all that match, and the number of an order is', async () => {
    const page = async (text: string) => (await part.get(`/breaks/all/waive?text=${text}`)).body;
    expect(textOf(await page(CARD))).toContain('Chosen: text 411111******1111');
    expect(textOf(await page(ORDER))).toContain(`Chosen: text ${ORDER}`);
  });
});
