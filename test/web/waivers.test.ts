// A waiver of two persons on the console: who asks for one, who agrees, refuses or takes it back is
// told apart on every list, page, button and record, with how many and how much money.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf, shownBreak } from './consoleHouse.js';

let place: ConsoleHouse;
let anna: Visitor;
let bert: Visitor;
let approver: Visitor;
beforeAll(async () => {
  place = await openConsole();
  anna = await place.withRole('finance');
  bert = await place.withRole('finance');
  approver = await place.withRole('approver');
  await place.app.db.query(`update tieout.breaks set state = 'resolved'`);
}, 180_000);
afterAll(() => place.end());

/** So many orders with one difference. */
async function openBreaks(name: string, count: number, delta: string | null): Promise<void> {
  await place.app.db.query(
    `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
       last_run_id, expected, actual, fingerprint, currency, amount)
     select account_id, $1::text || n, 'amount_mismatch', 'open', $4::timestamptz, run_id, run_id,
       '{"state": "captured", "amount": "1000.00", "currency": "EUR"}', jsonb_build_object('state',
         'captured', 'currency', 'EUR', 'amount', (1000 + $3::numeric)::numeric(20,2)::text),
       $1::text || n, 'EUR', $3::numeric
     from (select * from tieout.run_accounts where account_id = 'A1001' limit 1) a
     cross join generate_series(1, $2::int) n`,
    [name, count, delta, new Date(place.clock.now.getTime() - 60_000)],
  );
}

async function states(name: string): Promise<Record<string, number>> {
  const { rows } = await place.app.db.query<{ key: string; count: bigint }>(
    `select case when waiver_asked_for = fingerprint and state = 'open' then 'asked'
       else state end as key, count(*) as count
     from tieout.breaks where order_no like $1 || '%' group by 1`,
    [name],
  );
  return Object.fromEntries(rows.map(({ key, count }) => [key, Number(count)]));
}

const idsOf = async (name: string): Promise<string[]> => {
  const { rows } = await place.app.db.query<{ id: string }>(
    `select break_id::text as id from tieout.breaks where order_no like $1 || '%' order by 1`,
    [name],
  );
  return rows.map(({ id }) => id);
};

/** What was done, and what came of it, newest first. */
const recordedBy = async (who: string): Promise<string[]> => {
  const { rows } = await place.app.db.query<{ action: string; outcome: string }>(
    `select action, outcome from tieout.console_events where who = $1
     order by event_id desc limit 2`,
    [who],
  );
  return rows.map(({ action, outcome }) => `${action}: ${outcome}`);
};

const ask = async (name: string): Promise<string[]> => {
  const ids = await idsOf(name);
  for (const id of ids) {
    await anna.post('/breaks/waive', { id: await shownBreak(anna, id), words: 'paid by bank' });
  }
  return ids;
};

const seenOf = (body: string): string => /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';
const sentence = (body: string): string =>
  (/<p class="sentence"[^>]*>(.*?)<\/p>/.exec(body)?.[1] ?? '').replaceAll(/<[^>]+>/g, '');
const plain = (body: string) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('asking and agreeing', () => {
  it('are two decisions, before and after the press and in the record', async () => {
    await openBreaks('BOTH-OLD', 2, '900.00');
    await ask('BOTH-OLD');
    expect((await recordedBy(anna.name))[0]).toBe(
      'ask for waivers: 1 of 1; 1 waiting for a second person: 900.00 EUR',
    );
    await openBreaks('BOTH-NEW', 3, '800.00');
    await openBreaks('BOTH-TINY', 1, '0.10');
    const link = '/breaks/all/waive?text=BOTH';
    const preview = (await bert.get(link)).body;
    expect(plain(preview)).toMatch(/will be waived BOTH-TINY1 1 0\.10 EUR/);
    expect(plain(preview)).toMatch(
      /will be waived, agreed to as the second person BOTH-OLD1 , BOTH-OLD2 2 1,800\.00 EUR/,
    );
    expect(plain(preview)).toMatch(/will wait for a second person: above .* 3 2,400\.00 EUR/);
    const done = await bert.post(link, { seen: seenOf(preview), words: 'known' });
    const outcome =
      '1 waived: 0.10 EUR; 2 waived, agreed to as the second person: 1,800.00 EUR; ' +
      '3 waiting for a second person: 2,400.00 EUR';
    expect(sentence(done.body)).toBe(`${outcome}.`);
    expect((await recordedBy(bert.name))[0]).toBe(
      `waive breaks, agree to waivers, ask for waivers: ${outcome}`,
    );
    // Of what was picked as of all that match.
    await openBreaks('PICKED', 2, '700.00');
    const [one = '', other = ''] = await idsOf('PICKED');
    await anna.post('/breaks/waive', { id: await shownBreak(anna, one), words: 'by bank' });
    const id = [one, other];
    const seen = seenOf((await bert.post('/breaks/waive', { id, words: 'known' })).body);
    const picked = await bert.post('/breaks/waive', { id, words: 'known', seen });
    const sums =
      '1 waived, agreed to as the second person: 700.00 EUR; ' +
      '1 waiting for a second person: 700.00 EUR';
    expect(plain(picked.body)).toContain(`2 of 2 done. ${sums}.`);
    expect((await recordedBy(bert.name))[0]).toBe(
      `agree to waivers, ask for waivers: 2 of 2; ${sums}`,
    );
    expect(plain((await anna.get(`/breaks/${one}`)).body)).toContain(
      `waived as the second person ${bert.name}`,
    );
    // Where all of it only asks, that is what the button says.
    await openBreaks('ASKS', 2, '700.00');
    const asks = (await anna.post('/breaks/waive', { id: await idsOf('ASKS'), words: 'x' })).body;
    expect(asks).toContain('<h1>Ask for a waiver of what was picked</h1>');
    expect(asks).toMatch(/class="danger"[^>]*>ask for a waiver of 2<\/button>/);
  });

  it('who takes back what was asked for by oneself refuses nothing', async () => {
    await openBreaks('BACK', 1, '900.00');
    const [id = ''] = await ask('BACK');
    const shown = await shownBreak(bert, id);
    const done = await anna.post('/breaks/reopen', {
      id: await shownBreak(anna, id),
      words: 'a mistake',
    });
    expect(plain(done.body)).toContain('the request for a waiver is taken back');
    expect((await recordedBy(anna.name))[0]).toMatch(/^take back requests for waivers: 1 of 1; /);
    for (const path of [`/breaks/${id}`, '/orders/A1001/BACK1']) {
      const text = plain((await anna.get(path)).body);
      expect(text).toMatch(new RegExp(`request for a waiver taken back (by )?${anna.name}`));
      expect(text).not.toContain('waiver refused');
    }
    const late = await bert.post('/breaks/waive', { id: shown, words: 'agreed' });
    expect(await refusalOf(bert, late)).toContain(
      `it was decided meanwhile: request for a waiver taken back by ${anna.name}`,
    );
  });

  it('who only agrees finds nothing to press where no waiver waits', async () => {
    await openBreaks('IDLE', 2, '900.00');
    const list = async (visitor: Visitor) => (await visitor.get('/breaks?text=IDLE')).body;
    expect(await list(anna)).toContain('>waive all</a>');
    const idle = await list(approver);
    expect(idle).not.toMatch(/waive all|agree|Refuse waiver|type="checkbox" name="id"/i);
    expect((await approver.get('/breaks/causes?text=IDLE')).body).not.toContain('waive all');
    const [first = ''] = await idsOf('IDLE');
    await anna.post('/breaks/waive', { id: await shownBreak(anna, first), words: 'by bank' });
    const one = await list(approver);
    expect(one.match(/type="checkbox" name="id"/g)).toHaveLength(1);
    expect(one).toMatch(/Agree to waiver.*Refuse waiver/s);
    expect((await approver.get('/breaks?state=waiver_asked&text=IDLE')).body).toContain(
      '>agree to all</a>',
    );
    expect((await list(await place.withRole('viewer'))).match(/name="id"/g)).toBeNull();
  });

  it('a waiver without an amount is among what waits on the first page', async () => {
    await openBreaks('UNKNOWN', 1, null);
    await ask('UNKNOWN');
    const { rows } = await place.app.db.query<{ waits: number }>(
      `select count(*)::int as waits from tieout.breaks
       where state = 'open' and waiver_asked_for = fingerprint`,
    );
    expect(plain((await anna.get('/')).body)).toMatch(
      new RegExp(
        ` ${rows[0]?.waits} waivers wait for a second person : [\\d,.]+ EUR, 1 without an amount`,
      ),
    );
  });

  it('so is a payout of which nobody knows the amount, nor whether it happened', async () => {
    await place.app.db.query(
      `insert into tieout.instructions (run_id, account_id, order_no, operation, state, from_state,
         done_states, transaction_id, currency, amount, is_in_totals, payload, created_at)
       select run_id, account_id, '', 'payout', 'planned', 'none', '{paid}', 'NO-UNIT', 'EUR',
         150000, false, '{}', $1
       from tieout.run_accounts where account_id = 'A1001' limit 1`,
      [place.clock.now],
    );
    await place.app.db.query(
      `update tieout.instructions set state = 'unknown', reason = 'no answer'
       where transaction_id = 'NO-UNIT'`,
    );
    expect(plain((await anna.get('/')).body)).toMatch(
      /instructions? (is|are) unknown : ([\d,.]+ EUR, )?1 without an amount/,
    );
  });
});

it('an order is explained in words, and not in codes of the program', async () => {
  const { rows } = await place.app.db.query<{ account: string; order: string }>(
    `select account_id as account, order_no as order from ledger.orders
     where expected = 'captured' limit 1`,
  );
  const [{ account, order } = { account: '', order: '' }] = rows;
  const text = plain((await anna.get(`/orders/${account}/${order}`)).body);
  expect(text).toMatch(/What the ledger expects The order is to be captured: [\d,.]+ [A-Z]{3}/);
  expect(text).toMatch(/\d{4}-\d\d-\d\d, at its beginning asked and answered/);
});

describe('a waiver that waits for its second person', () => {
  const TRAY = 'state=waiver_asked&text=WAITING';
  it('is agreed to or refused in the same words on every page, button and record', async () => {
    await openBreaks('WAITING', 4, '700.00');
    const [one = '', ...others] = await ask('WAITING');
    await bert.post('/breaks/reopen', { id: await shownBreak(bert, one), words: 'no' });
    expect((await recordedBy(bert.name))[0]).toBe(
      'refuse waivers: 1 of 1; 1 open still, the waiver refused: 700.00 EUR',
    );
    const picked = await bert.post('/breaks/reopen', { id: others.slice(0, 2), words: 'no' });
    expect(picked.body).toContain('<h1>Refuse the waivers that were picked</h1>');
    expect(picked.body).toMatch(/class="danger"[^>]*>refuse 2<\/button>/);
    const agree = (await bert.get(`/breaks/all/waive?${TRAY}`)).body;
    expect(agree).toContain('<h1>Agree to all waivers that match</h1>');
    expect(agree).toContain('<legend>Agree to all waivers that match</legend>');
    expect(agree).toMatch(/class="main"[^>]*>agree to 3<\/button>/);
    const refuse = (await bert.get(`/breaks/all/reopen?${TRAY}`)).body;
    expect(refuse).toContain('<h1>Refuse all waivers that match</h1>');
    expect(refuse).toContain('Chosen: state waits for a second person, text WAITING.');
    expect(refuse).toContain('<legend>Refuse all waivers that match</legend>');
    expect(refuse).toMatch(/class="main"[^>]*>refuse 3<\/button>/);
    expect(refuse.toLowerCase()).not.toContain('reopen all that');
    const seen = seenOf(refuse);
    await bert.post(`/breaks/all/reopen?${TRAY}`, { seen, words: 'not by bank' });
    expect((await recordedBy(bert.name))[0]).toBe(
      'refuse waivers: 3 open still, the waiver refused: 2,100.00 EUR',
    );
    expect(await states('WAITING')).toEqual({ open: 4 });
  });

  it('is of what is at stake now, and says what the limit counts where that is more', async () => {
    await openBreaks('SHRUNK', 2, '900.00');
    await place.app.db.query(
      `update tieout.breaks set actual = actual || '{"amount": "1000.10"}' where order_no like 'SHRUNK%'`,
    );
    const list = (await anna.get('/breaks?text=SHRUNK&sort=amount')).body;
    expect(list.split('<tr>').find((row) => row.includes('SHRUNK1'))).toContain('>0.10<');
    const link = '/breaks/all/waive?text=SHRUNK';
    const preview = (await anna.get(link)).body;
    expect(preview).toMatch(/will wait for a second person.*SHRUNK1<\/a>.*0\.20 EUR/s);
    const done = await anna.post(link, { seen: seenOf(preview), words: 'settled' });
    expect(sentence(done.body)).toBe('2 waiting for a second person: 0.20 EUR.');
    const [id = ''] = await idsOf('SHRUNK');
    const box = (await bert.get(`/breaks/${id}`)).body.replaceAll(/<[^>]+>/g, '');
    expect(box).toContain(`${anna.name} asked for a waiver of 0.10 EUR on`);
    expect(box).toContain('The limit for one person counts the 900.00 EUR that it opened with.');
    const [other = ''] = await idsOf('WAITING');
    await anna.post('/breaks/waive', { id: await shownBreak(anna, other), words: 'by bank' });
    expect((await bert.get(`/breaks/${other}`)).body).not.toContain('that it opened with');
  });

  it('names the newest asking, however long the life of the break is', async () => {
    await openBreaks('ASKED', 1, '700.00');
    const [id = ''] = await idsOf('ASKED');
    await place.app.db.query(
      `insert into tieout.break_events (break_id, at, event, from_state, by, reason, expected, actual)
       select $1, '2001-02-03T04:05:06Z'::timestamptz + n * interval '1 second',
         case n when 0 then 'waiver_asked' else 'noted' end, 'open', 'test', 'long ago', '{}', '{}'
       from generate_series(0, 500) n`,
      [id],
    );
    await ask('ASKED');
    const box = (await bert.get(`/breaks/${id}`)).body.replaceAll(/<[^>]+>/g, '');
    const [, asked] = /asked for a waiver of 700\.00 EUR on (\d{4})/.exec(box) ?? [];
    expect(Number(asked)).toBeGreaterThan(2001);
  });
});
