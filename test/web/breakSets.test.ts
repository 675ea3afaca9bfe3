// Breaks by cause, and one decision about all that match: 20,000 equal breaks in few presses, bound
// to what was shown, each with its own line in the trail; waivers beyond the limit take two people.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, refusalOf, shownBreak } from './consoleHouse.js';

const SMALL = 20_000;
const LARGE = 30;

let place: ConsoleHouse;
let anna: Visitor;
let bert: Visitor;
beforeAll(async () => {
  place = await openConsole();
  anna = await place.withRole('finance');
  bert = await place.withRole('finance');
  await place.app.db.query(`update tieout.breaks set state = 'resolved'`);
  await openBreaks('SMALL', SMALL, '0.10');
  await openBreaks('LARGE', LARGE, '900.00');
}, 180_000);
afterAll(() => place.end());

/** So many orders with one difference, or each with a larger one. */
async function openBreaks(name: string, count: number, delta: string, step = '0'): Promise<void> {
  await place.app.db.query(
    `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
       last_run_id, expected, actual, fingerprint, currency, amount)
     select account_id, $1::text || n, 'amount_mismatch', 'open', $4::timestamptz, run_id, run_id,
       '{"state": "captured", "amount": "1000.00", "currency": "EUR"}', jsonb_build_object('state',
         'captured', 'currency', 'EUR', 'amount', (1000 + $3::numeric + (n - 1) * $5::numeric)::numeric(20,2)::text),
       $1::text || n, 'EUR', $3::numeric + (n - 1) * $5::numeric
     from (select * from tieout.run_accounts where account_id = 'A1001' limit 1) a
     cross join generate_series(1, $2::int) n`,
    [name, count, delta, new Date(place.clock.now.getTime() - 60_000), step],
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

const seenOf = (body: string): string => /name="seen" value="([0-9a-f]{64})"/.exec(body)?.[1] ?? '';
const sentence = (body: string): string =>
  (/<p class="sentence"[^>]*>(.*?)<\/p>/.exec(body)?.[1] ?? '').replaceAll(/<[^>]+>/g, '');

/** The link to waive all of the cause that the page of causes names so. */
async function linkOf(visitor: Visitor, cause: string, label = 'waive all'): Promise<string> {
  const { body } = await visitor.get('/breaks/causes');
  const row = body.split('<tr>').find((one) => one.includes(`>${cause}<`)) ?? '';
  const href = new RegExp(`<a href="([^"]+)">${label}</a>`).exec(row)?.[1] ?? '';
  return href.replaceAll('&amp;', '&');
}

describe('breaks by cause', () => {
  it('shows count and money of each, those with most first', async () => {
    const { body } = await anna.get('/breaks/causes');
    const text = body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(sentence(body)).toBe('20,030 breaks, 2 causes, those with most EUR first.');
    // 27,000.00 of 30 breaks stand above 2,000.00 of 20,000; by number it is the other way.
    expect(body.indexOf('900.00 EUR more')).toBeLessThan(body.indexOf('0.10 EUR more'));
    const { body: byNumber } = await anna.get('/breaks/causes?sort=breaks');
    expect(sentence(byNumber)).toContain('those with most breaks first');
    expect(byNumber.indexOf('0.10 EUR more')).toBeLessThan(byNumber.indexOf('900.00 EUR more'));
    expect(text).toContain('amount mismatch, 0.10 EUR more at the gateway 20,000 2,000.00 EUR');
    expect(text).toContain('amount mismatch, 900.00 EUR more at the gateway 30 27,000.00 EUR');
    const viewer = await place.withRole('viewer');
    expect((await viewer.get('/breaks/causes')).body).not.toContain('waive all');
  });
});

it('says of each cause when its oldest was first seen, and how many days ago', async () => {
  await openBreaks('OLD', 3, '7.00');
  // A day's age is one of dates: twelve whole days, whatever o'clock it is.
  const seen = new Date(place.clock.now.getTime() - 12 * 86_400_000);
  await place.app.db.query(`update tieout.breaks set first_seen = $1 where order_no = 'OLD2'`, [
    seen,
  ]);
  const { body } = await anna.get('/breaks/causes?text=OLD');
  const [, row = ''] = body.split('<tbody>')[1]?.split('<tr>') ?? [];
  const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
    cell.replaceAll(/<[^>]+>/g, '').trim(),
  );
  const [day = '', time = ''] = seen.toISOString().split(/[T.]/);
  expect(cells.slice(0, 4)).toEqual(['3', '21.00 EUR', `${day} ${time.slice(0, 5)}`, '12']);
  await place.app.db.query(
    `update tieout.breaks set state = 'resolved' where order_no like 'OLD%'`,
  );
});

it('counts all causes where a page shows some, and goes on to their end', async () => {
  await openBreaks('CAUSE', 203, '1.00', '1.00');
  const money = (203 * 204) / 2;
  const first = (await anna.get('/breaks/causes?text=CAUSE')).body;
  const all = `203 breaks, 203 causes, those with most EUR first. In all \
${money.toLocaleString('en')}.00 EUR. Causes`;
  expect(sentence(first)).toBe(`${all} 1 to 200, and 3 more follow.`);
  expect(first).toContain('amount mismatch, 4.00 EUR more at the gateway');
  const next = /<a href="([^"]+)">Next page/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = (await anna.get(next)).body;
  expect(sentence(second)).toBe(`${all} 201 to 203.`);
  expect(second.match(/more at the gateway</g)).toHaveLength(3);
  await place.app.db.query(
    `update tieout.breaks set state = 'resolved' where order_no like 'CAUSE%'`,
  );
});

it('puts what is missing on one side together, whichever requests asked for it', async () => {
  const { db } = place.app;
  await db.query(
    `insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
       last_run_id, expected, actual, fingerprint, currency, amount)
     select a.account_id, min(o.order_no), 'missing_at_gateway', 'open', $1, a.run_id, a.run_id,
       '{"state": "captured", "amount": "12.50", "currency": "EUR"}', '{}', 'asked', 'EUR', 12.50
     from tieout.run_accounts a join tieout.asked_orders o using (pull_id, account_id)
     where not exists (select from tieout.breaks b where b.account_id = o.account_id
       and b.order_no = o.order_no)
     group by a.account_id, a.run_id`,
    [place.clock.now],
  );
  const { body } = await anna.get('/breaks/causes?kind=missing_at_gateway');
  expect(sentence(body)).toBe('2 breaks, 1 cause, those with most EUR first.');
  expect(body).toContain('>not at the gateway</a>');
  await db.query(`update tieout.breaks set state = 'resolved' where fingerprint = 'asked'`);
});

describe('the list', () => {
  it('goes on to its end beyond what is counted, in the order of any of its heads', async () => {
    const page = async (query: string) => (await anna.get(`/breaks?${query}`)).body;
    const rowsOf = (body: string) => body.match(/type="checkbox" name="id"/g)?.length ?? 0;
    const [last, before] = [await page('page=401'), await page('page=400')];
    expect([rowsOf(before), before.includes('/breaks?page=401')]).toEqual([50, true]);
    expect([rowsOf(last), last.includes('/breaks?page=402')]).toEqual([30, false]);
    expect(sentence(last)).toContain('More than 10,000 breaks.');
    const link = /<a class="by" href="([^"]+)">At stake</.exec(last)?.[1]?.replaceAll('&amp;', '&');
    expect(link).toBe('/breaks?sort=amount');
    const byMoney = (await anna.get(link ?? '')).body;
    expect(byMoney).toContain('aria-sort="descending"');
    expect(/<tbody><tr>.*?<a[^>]*>(LARGE|SMALL)/s.exec(byMoney)?.[1]).toBe('LARGE');
    const byOrder = (await anna.get('/breaks?sort=order')).body;
    const orders = [...byOrder.matchAll(/>((?:LARGE|SMALL)\d+)<\/a>/g)].map(([, no]) => no);
    expect(orders).toEqual(orders.toSorted());
    expect(orders).toHaveLength(50);
  });
});

describe('a filter that cannot be chosen', () => {
  it.each([
    ['account=A9999', '"A9999" is no account to choose here: nothing matches.'],
    ['kind=nonsense', '"nonsense" is no kind to choose here: nothing matches.'],
    ['age=forever', '"forever" is no age to choose here: nothing matches.'],
    [`currency=${'E'.repeat(65)}`, ' is no currency to choose here: nothing matches.'],
  ])('matches nothing, where it matched everything: %#', async (filter, words) => {
    const list = await anna.get(`/breaks?${filter}`);
    expect(list.body.replaceAll('&quot;', '"')).toContain(words);
    expect(list.body).not.toMatch(/name="id"/);
    const all = await anna.get(`/breaks/all/waive?${filter}`);
    expect(all.statusCode).toBe(400);
    expect(all.body.replaceAll('&quot;', '"')).toContain(words);
  });
});

describe('all that match', () => {
  it('is refused and shown again when it changed since it was shown', async () => {
    const link = await linkOf(anna, 'amount mismatch, 900.00 EUR more at the gateway');
    const seen = seenOf((await anna.get(link)).body);
    const { rows } = await place.app.db.query<{ id: bigint }>(
      `select break_id as id from tieout.breaks where order_no = 'LARGE7'`,
    );
    const one = await shownBreak(bert, rows[0]?.id ?? '');
    await bert.post('/breaks/note', { id: one, note: 'I ask the shop first' });
    const answer = await anna.post(link, { seen, words: 'rounding' });
    expect(answer.statusCode).toBe(409);
    expect(answer.body).toContain('has changed since it was shown: nothing was done');
    expect(answer.body).toContain('value="rounding"');
    expect(seenOf(answer.body)).not.toBe(seen);
    expect(await states('LARGE')).toEqual({ open: LARGE });
  });

  it('keeps four eyes for each beyond the limit', async () => {
    const link = await linkOf(anna, 'amount mismatch, 900.00 EUR more at the gateway');
    const preview = (await anna.get(link)).body;
    const seen = seenOf(preview);
    expect(preview).toMatch(/will wait for a second person.*LARGE1<\/a>.* and 20 more/s);
    // An approver asks for none, and agrees to what finance asked for.
    const carl = await place.withRole('approver');
    const early = (await carl.get(link)).body;
    expect(early).toContain('left as they are: nobody has asked for a waiver');
    const one = await shownBreak(carl, /\/breaks\/(\d+)"/.exec(early)?.[1] ?? '');
    const alone = await carl.post('/breaks/waive', { id: one, words: 'why not' });
    expect(await refusalOf(carl, alone)).toContain('nobody has asked');
    const asked = await anna.post(link, { seen, words: 'the shop pays' });
    expect(sentence(asked.body)).toBe('30 waiting for a second person: 27,000.00 EUR.');
    expect(await states('LARGE')).toEqual({ asked: LARGE });
    expect((await anna.get(link)).body).toContain('Nothing would be changed.');
    expect(sentence((await anna.get('/breaks?state=waiver_asked')).body)).toMatch(/^30 breaks\./);
    expect((await anna.get('/breaks?state=waiver_asked')).body).toContain('the shop pays');
    expect((await bert.get('/')).body).toContain(
      '<strong>30</strong> <a href="/breaks?state=waiver_asked">waivers wait for a second person</a>' +
        ': 27,000.00 EUR',
    );
    const again = seenOf((await carl.get(link)).body);
    const done = await carl.post(link, { seen: again, words: 'agreed' });
    expect(sentence(done.body)).toBe('30 waived, agreed to as the second person: 27,000.00 EUR.');
    expect(await states('LARGE')).toEqual({ waived: LARGE });
  });

  it('works 20,000 equal breaks off in ten clicks, each with its line', async () => {
    // Breaks, by cause, waive all.
    let clicks = 3;
    const link = await linkOf(anna, 'amount mismatch, 0.10 EUR more at the gateway');
    for (;;) {
      const { body } = await anna.get(link);
      if (seenOf(body) === '') break;
      const { statusCode } = await anna.post(link, { seen: seenOf(body), words: 'rounding' });
      expect(statusCode).toBe(200);
      clicks += 2;
    }
    expect(clicks).toBeLessThanOrEqual(10);
    expect(await states('SMALL')).toEqual({ waived: SMALL });
    // The pages of breaks are planned by what is so now, not by what was before.
    const { rows: planned } = await place.app.db.query(
      `select most_common_vals::text like '{waived%' as "isCounted" from pg_stats
       where schemaname = 'tieout' and tablename = 'breaks' and attname = 'state'`,
    );
    expect(planned).toEqual([{ isCounted: true }]);
    const { rows } = await place.app.db.query<{ events: bigint; by: string; decisions: bigint }>(
      `select count(*) as events, min(by) as by, count(distinct decision_id) as decisions
       from tieout.break_events e join tieout.breaks b using (break_id)
       where b.order_no like 'SMALL%' and e.event = 'waived' and e.reason = 'rounding'
         and e.decided_over like 'cause amount_mismatch%'`,
    );
    expect(rows).toEqual([{ events: BigInt(SMALL), by: anna.name, decisions: 2n }]);
  }, 180_000);

  it('assigns to a person who was picked, and reopens', async () => {
    const page = await anna.get('/breaks/all/reopen?state=waived&text=large');
    const { body } = await anna.post('/breaks/all/reopen?state=waived&text=large', {
      seen: seenOf(page.body),
      words: 'the shop did not pay',
    });
    expect(sentence(body)).toBe('30 open again: 27,000.00 EUR.');
    const assign = `/breaks/all/assign?text=large&whom=${bert.name}`;
    expect((await anna.get('/breaks/all/assign?text=large')).body).toContain(
      `<option value="${bert.name}">`,
    );
    const seen = seenOf((await anna.get(assign)).body);
    expect(sentence((await anna.post(assign, { seen })).body)).toBe('30 assigned: 27,000.00 EUR.');
  });
});

describe('several that were ticked', () => {
  it('are shown with their totals first, and decided as they were shown', async () => {
    await openBreaks('TICKED', 3, '0.10');
    const id = await idsOf('TICKED');
    const page = (await anna.post('/breaks/waive', { id, words: 'rounding' })).body;
    expect(sentence(page)).toBe('Nothing is done yet: the button decides about 3 of 3.');
    expect(page).toMatch(/will be waived.*TICKED1<\/a>.*0\.30 EUR/s);
    expect(await states('TICKED')).toEqual({ open: 3 });
    const one = await shownBreak(bert, id[0] ?? '');
    await bert.post('/breaks/note', { id: one, note: 'I ask the shop first' });
    const late = await anna.post('/breaks/waive', { id, words: 'rounding', seen: seenOf(page) });
    expect([late.statusCode, await states('TICKED')]).toEqual([409, { open: 3 }]);
    expect(late.body).toContain('has changed since it was shown: nothing was done');
    expect(late.body).toContain('name="words" value="rounding"');
    const seen = seenOf(late.body);
    const done = await anna.post('/breaks/waive', { id, words: 'rounding', seen });
    expect(done.body).toContain('3 of 3 done');
    expect(await states('TICKED')).toEqual({ waived: 3 });
  });

  it('and one by itself is decided at once', async () => {
    await openBreaks('ALONE', 1, '0.10');
    const id = await shownBreak(anna, (await idsOf('ALONE'))[0] ?? '');
    expect((await anna.post('/breaks/waive', { id, words: 'rounding' })).body).toContain(
      '1 of 1 done',
    );
  });

  describe('and one by itself, on its page or in the list,', () => {
    /** As a run finds it: the money at the gateway is another now. */
    const grows = (id: string, amount: string) =>
      place.app.db.query(
        `with grown as (
           update tieout.breaks set actual = actual || jsonb_build_object('amount', $2::text),
             fingerprint = fingerprint || $2 where break_id = $1
           returning break_id, last_run_id, currency, amount, expected, actual)
         insert into tieout.break_events (break_id, run_id, at, event, from_state, by, currency,
           amount, expected, actual)
         select break_id, last_run_id, now(), 'changed', 'open', 'tieout', currency, amount,
           expected, actual from grown`,
        [id, amount],
      );

    it('is bound to what was shown: what changed is said, and the page is kept', async () => {
      await openBreaks('MOVED', 1, '0.10');
      const number = (await idsOf('MOVED'))[0] ?? '';
      await grows(number, '1000.20');
      const list = '/breaks?text=MOVED1&sort=amount';
      const ticked = /name="id" value="([^"]+)"/.exec((await anna.get(list)).body)?.[1] ?? '';
      const shown = await shownBreak(anna, number);
      expect(shown).toMatch(/^\d+:[0-9a-f]{64}-\d+$/);
      expect(ticked).toBe(shown);
      await grows(number, '1000.30');
      const changed = `Nothing was done. amount mismatch of MOVED1 (A1001): refused: it has changed since it was seen: the amount at the gateway was 1,000.20 and is 1,000.30.`;
      for (const from of [`/breaks/${number}`, list]) {
        const press = { id: ticked, words: 'rounding' };
        const referer = { referer: `https://tieout.test${from}` };
        const late = await anna.post('/breaks/waive', press, referer);
        expect(String(late.headers.location)).toContain(from);
        const { body } = await anna.get(String(late.headers.location));
        expect(body).toContain(`role="alert">${changed}`);
        expect(body).toContain('value="rounding"');
      }
      expect(await states('MOVED')).toEqual({ open: 1 });
    });

    it('is not decided over what another person decided, nor by a form that says nothing', async () => {
      await openBreaks('TAKEN', 1, '0.10');
      const number = (await idsOf('TAKEN'))[0] ?? '';
      const id = await shownBreak(anna, number);
      await bert.post('/breaks/note', { id, note: 'I ask the shop first' });
      const over = await anna.post('/breaks/note', { id, note: 'paid twice' });
      expect(await refusalOf(anna, over)).toContain('it was decided meanwhile: noted by');
      await bert.post('/breaks/waive', { id: await shownBreak(bert, number), words: 'agreed' });
      const again = await anna.post('/breaks/reopen', { id, words: 'no' });
      expect(await refusalOf(anna, again)).toContain('it was decided meanwhile: waived by');
      const unseen = await anna.post('/breaks/reopen', { id: number, words: 'no' });
      expect(await refusalOf(anna, unseen)).toContain('Look at the break first');
      expect(await states('TAKEN')).toEqual({ waived: 1 });
    });
  });
});
