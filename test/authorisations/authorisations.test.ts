// Which money is reserved and not taken, as the snapshots of a real database show it: pages that
// were not answered, looks after sending, entries that come twice, orders that nobody wants.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accountAuthorisations,
  atRiskOfNight,
  shownAuthorisations,
} from '../../src/authorisations/authorisations.js';
import type { AuthorisationOrder } from '../../src/authorisations/authorisationsStore.js';
import { AUTHORISATION_ORDERS } from '../../src/authorisations/authorisationsStore.js';
import { accountSentences, riskSentences } from '../../src/authorisations/authorisationWords.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText, StoredOrder } from '../support/orders.js';
import { orderOf, SNAPSHOT_AT } from '../support/orders.js';
import { storeInstructions, storeRun, storeSnapshot } from '../support/snapshotStore.js';

const HOUR_MS = 3_600_000;
const AT = { now: SNAPSHOT_AT, nextNight: new Date(SNAPSHOT_AT.getTime() + 24 * HOUR_MS) };
const WEEK = { validHours: 168, warnHours: 24 };

const orders = (cases: Readonly<Record<string, OrderText>>): StoredOrder[] =>
  Object.entries(cases).map(([orderNo, text]) => orderOf(orderNo, text));

let fresh: FreshDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(() => fresh.drop());

/** A night of an account with these orders; the run that it is of. */
async function night(accountId: string, cases: Readonly<Record<string, OrderText>>) {
  const runId = await storeRun(fresh.db, accountId);
  const all = orders(cases);
  const { pullId } = await storeSnapshot(fresh.db, runId, accountId, all);
  await storeInstructions(fresh.db, runId, accountId, all);
  await fresh.db.query(
    'update tieout.run_accounts set pull_id = $3, as_of = $4 where run_id = $1 and account_id = $2',
    [runId, accountId, pullId, SNAPSHOT_AT],
  );
  return runId;
}

/** The reservations of an account, a line each. */
async function listed(
  accountId: string,
  { rule = WEEK as typeof WEEK | null, isAll = true, order = 'hours' as AuthorisationOrder } = {},
): Promise<string[]> {
  const config = { authorisations: rule === null ? {} : { [accountId]: rule } };
  const page = { isAll, order, limit: 100, offset: 0 };
  const rows = await shownAuthorisations(fresh.db, config, [accountId], AT, page);
  const text = rows.map((row) =>
    [row.orderNo, row.standing, row.hoursLeft, row.amount, row.wanted, row.obstacle].join(' | '),
  );
  // What is asked for alone is the same as what stands among all.
  if (!isAll) {
    const all = await shownAuthorisations(fresh.db, config, [accountId], AT, {
      ...page,
      isAll: true,
    });
    expect(all.filter(({ standing }) => standing !== 'in_time').map((row) => row.orderNo)).toEqual(
      rows.map((row) => row.orderNo),
    );
  }
  return text;
}

describe('reservations', () => {
  it('are what is authorised and wanted, the first to lapse first', async () => {
    await night('A1', {
      fresh: { ledger: 'captured 1.00 EUR', gateway: ['T1 authorised 1.00 EUR'] },
      soon: {
        ledger: 'captured 10.00 EUR',
        gateway: ['T1 authorised 10.00 EUR age=150h'],
        did: ['capture T1 held'],
      },
      reserve: { ledger: 'authorised 20.00 EUR', gateway: ['T1 authorised 20.00 EUR age=130h'] },
      lapsed: { ledger: 'captured 5.00 USD', gateway: ['T1 authorised 5.00 USD age=170h'] },
      taken: { ledger: 'captured 3.00 EUR', gateway: ['T1 captured 3.00 EUR age=160h'] },
      letGo: { ledger: 'cancelled 4.00 EUR', gateway: ['T1 authorised 4.00 EUR age=160h'] },
      refused: { ledger: 'declined 4.00 EUR', gateway: ['T1 authorised 4.00 EUR age=160h'] },
      notThere: {
        ledger: 'captured 4.00 EUR',
        gateway: ['T1 authorised 4.00 EUR age=160h found=0'],
      },
      stranger: { ledger: null, gateway: ['T1 authorised 7.00 EUR age=140h'] },
      twice: {
        ledger: 'captured 8.00 EUR',
        gateway: ['T1 authorised 8.00 EUR age=145h', 'T1 authorised 8.00 EUR age=145h'],
      },
      again: {
        ledger: 'captured 9.00 EUR',
        gateway: ['T1 declined 9.00 EUR age=160h', 'T2 authorised 9.00 EUR age=125h'],
      },
    });
    expect(await listed('A1')).toEqual([
      'soon | at_risk | 18 | 10.00 | capture | ' +
        'capture waiting for approval: the operation needs approval',
      'twice | at_risk | 23 | 8.00 | capture | no capture is planned',
      'stranger | at_risk | 28 | 7.00 | not in the ledger | the ledger does not have it',
      'reserve | at_risk | 38 | 20.00 | nothing yet | the ledger does not ask for it yet',
      'again | at_risk | 43 | 9.00 | capture | no capture is planned',
      'fresh | in_time | 138 | 1.00 | capture | no capture is planned',
      'lapsed | lapsed | -2 | 5.00 | capture | no capture is planned',
    ]);
    expect((await listed('A1', { isAll: false })).map((line) => line.split(' ')[0])).toEqual([
      ...['soon', 'twice', 'stranger', 'reserve', 'again', 'lapsed'],
    ]);
    expect((await listed('A1', { order: 'amount' })).map((line) => line.split(' ')[0])).toEqual([
      ...['reserve', 'soon', 'again', 'twice', 'stranger', 'fresh', 'lapsed'],
    ]);
  });

  it('stand in the order that was asked for, each once over the pages', async () => {
    const config = { authorisations: { A1: WEEK } };
    const page = { isAll: true, limit: 100, offset: 0 };
    const pageOf = (order: AuthorisationOrder, part = {}) =>
      shownAuthorisations(fresh.db, config, ['A1'], AT, { ...page, order, ...part });
    for (const order of AUTHORISATION_ORDERS) {
      const whole = await pageOf(order);
      // As a page is shown: one row more is asked for, and left off.
      const paged = [];
      for (let offset = 0; offset < whole.length; offset += 3) {
        paged.push(...(await pageOf(order, { limit: 4, offset })).slice(0, 3));
      }
      expect(paged, order).toEqual(whole);
    }
    const [byNumber, bySince] = [await pageOf('order'), await pageOf('since')];
    const numbers = byNumber.map(({ orderNo }) => orderNo);
    expect(numbers).toEqual(numbers.toSorted());
    const times = bySince.map(({ since }) => since?.getTime() ?? 0);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it('come to sums that their rows have, in each currency, and to a sentence', async () => {
    const config = { authorisations: { A1: WEEK } };
    const accounts = await accountAuthorisations(fresh.db, config, ['A1', 'A0'], AT, true);
    expect(accounts[0]?.sums).toMatchObject([
      { currency: 'EUR', orders: 6, amount: '55.00', atRisk: 5, atRiskAmount: '54.00', lapsed: 0 },
      { currency: 'USD', orders: 1, amount: '5.00', atRisk: 0, lapsed: 1, lapsedAmount: '5.00' },
    ]);
    expect(accounts.flatMap(accountSentences)).toEqual([
      'A1: 55.00 EUR is reserved for 6 orders; 54.00 EUR of 5 orders will soon lapse; ' +
        'the next lapses at 2026-11-20T21:00Z.',
      'A1: 5.00 USD is reserved for 1 order; 5.00 USD of 1 order has lapsed.',
      'A0: nothing is reserved.',
    ]);
    expect(riskSentences(accounts).map(({ text }) => text)).toEqual([
      'money is reserved and not taken: 54.00 EUR of 5 orders will soon lapse; ' +
        '5.00 USD of 1 order has lapsed; the next lapses at 2026-11-20T21:00Z',
    ]);
  });

  it('of one order are one order, though it has two transactions', async () => {
    const both = { ledger: 'captured 3.00 EUR', gateway: ['T1 authorised 1.00 EUR age=150h'] };
    both.gateway.push('T2 authorised 2.00 EUR age=169h');
    await night('A6', { both });
    const config = { authorisations: { A6: WEEK } };
    const accounts = await accountAuthorisations(fresh.db, config, ['A6'], AT, true);
    expect(accounts[0]?.sums).toMatchObject([{ orders: 1, reservations: 2, amount: '3.00' }]);
    expect(accounts.flatMap(accountSentences)).toEqual([
      'A6: 3.00 EUR is reserved for 1 order; 1.00 EUR of 1 order will soon lapse; ' +
        '2.00 EUR of 1 order has lapsed; the next lapses at 2026-11-20T21:00Z.',
    ]);
  });

  it('of an amount that cannot be read are no zero in a sum', async () => {
    const ledger = 'captured 3.00 EUR';
    await night('A7', {
      read: { ledger, gateway: ['T1 authorised 3.00 EUR age=150h'] },
      unread: { ledger, gateway: ['T1 authorised 3.x EUR age=150h'] },
      dinar: { ledger: 'captured 3.00 KWD', gateway: ['T1 authorised 3.0001 KWD age=150h'] },
      over: { ledger: 'captured 3.00 KWD', gateway: ['T1 authorised 3.0001 KWD age=169h'] },
    });
    const config = { authorisations: { A7: WEEK } };
    const accounts = await accountAuthorisations(fresh.db, config, ['A7'], AT, true);
    expect(accounts[0]?.sums).toMatchObject([
      { currency: 'EUR', amount: '3.00', unread: 1, atRiskAmount: '3.00', lapsedAmount: '0.00' },
      { currency: 'KWD', amount: null, unread: 2, atRiskAmount: null, lapsedAmount: null },
    ]);
    expect(accounts.flatMap(accountSentences)).toEqual([
      'A7: 3.00 EUR is reserved for 2 orders (the amount of 1 cannot be read); 3.00 EUR of ' +
        '2 orders (the amount of 1 cannot be read) will soon lapse; the next lapses at ' +
        '2026-11-20T21:00Z.',
      'A7: money in KWD is reserved for 2 orders whose amount cannot be read; money in KWD of ' +
        '1 order whose amount cannot be read will soon lapse; money in KWD of 1 order whose ' +
        'amount cannot be read has lapsed; the next lapses at 2026-11-20T21:00Z.',
    ]);
  });

  it('lapse at no time that nobody gave: the key is named, and nothing is at risk', async () => {
    const lines = await listed('A1', { rule: null });
    expect(lines).toHaveLength(7);
    expect(lines.every((line) => /^\w+ \| {2}\| {2}\| /.test(line))).toBe(true);
    const accounts = await accountAuthorisations(
      fresh.db,
      { authorisations: {} },
      ['A1'],
      AT,
      true,
    );
    expect(accountSentences(accounts[0] as (typeof accounts)[number]).join()).toContain(
      'give authorisation.validHours to the account',
    );
    expect(riskSentences(accounts)).toEqual([]);
  });

  it('stand since the order was placed where the gateway names no time, else since nobody knows', async () => {
    await night('A2', {
      placed: {
        ledger: 'captured 1.00 EUR age=160h',
        gateway: ['T1 authorised 1.00 EUR age=-'],
      },
      stranger: { ledger: null, gateway: ['T1 authorised 2.00 EUR age=-'] },
      young: { ledger: 'captured 3.00 EUR age=2h', gateway: ['T1 authorised 3.00 EUR age=-'] },
    });
    expect(await listed('A2', { isAll: false })).toEqual([
      'placed | at_risk | 8 | 1.00 | capture | no capture is planned',
      'stranger | undated |  | 2.00 | not in the ledger | the ledger does not have it',
    ]);
  });

  it('of a page that was not answered are those of the night before, until it is seen', async () => {
    const entry = { ledger: 'captured 1.00 EUR', gateway: ['T1 authorised 1.00 EUR age=150h'] };
    const failed = { ledger: entry.ledger, page: 'failed' } as const;
    await night('A3', { seen: entry, gap: entry, gone: entry, older: entry });
    await night('A3', {
      seen: entry,
      gap: failed,
      gone: { ledger: entry.ledger, gateway: ['T1 captured 1.00 EUR'] },
      older: failed,
    });
    const gap = 'not shown by the newest snapshot';
    expect(await listed('A3')).toEqual([
      `gap | at_risk | 18 | 1.00 | capture | ${gap}`,
      `older | at_risk | 18 | 1.00 | capture | ${gap}`,
      'seen | at_risk | 18 | 1.00 | capture | no capture is planned',
    ]);
    await night('A3', {
      seen: failed,
      gap: { ledger: entry.ledger, gateway: ['T1 captured 1.00 EUR'] },
      older: failed,
    });
    expect(await listed('A3')).toEqual([
      `older | at_risk | 18 | 1.00 | capture | ${gap}`,
      `seen | at_risk | 18 | 1.00 | capture | ${gap}`,
    ]);
    await night('A3', { seen: entry, older: { ledger: entry.ledger } });
    expect(await listed('A3')).toEqual([
      'seen | at_risk | 18 | 1.00 | capture | no capture is planned',
    ]);
  });

  it('are for the workbook of a night what that night saw, whenever it is written', async () => {
    const { rows: nights } = await fresh.db.query<{ date: string }>(
      `select business_date::text as date from tieout.run_accounts where account_id = 'A3'
       order by business_date`,
    );
    const config = { authorisations: { A3: WEEK } };
    const seen: string[] = [];
    for (const { date: businessDate } of nights) {
      const rows = atRiskOfNight(fresh.db, config, ['A3', 'A0'], {
        businessDate,
        asOf: SNAPSHOT_AT,
        nextNight: null,
      });
      for await (const chunk of rows?.() ?? []) {
        seen.push(chunk.map(({ orderNo, hoursLeft }) => `${orderNo} ${hoursLeft}`).join(', '));
      }
    }
    expect(seen).toEqual([
      'gap 18, gone 18, older 18, seen 18',
      'gap 18, older 18, seen 18',
      'older 18, seen 18',
      'seen 18',
    ]);
    const night = { businessDate: '2026-11-19', asOf: SNAPSHOT_AT, nextNight: null };
    expect(atRiskOfNight(fresh.db, { authorisations: {} }, ['A3'], night)).toBeNull();
  });

  it('are gone as soon as a look after sending shows them taken', async () => {
    const entry = { ledger: 'captured 1.00 EUR', gateway: ['T1 authorised 1.00 EUR age=150h'] };
    const runId = await night('A4', { sent: entry, silent: entry, other: entry });
    await storeSnapshot(
      fresh.db,
      runId,
      'A4',
      orders({
        sent: { ledger: entry.ledger, gateway: ['T1 captured 1.00 EUR age=150h'] },
        silent: entry,
      }),
      'confirm',
    );
    expect((await listed('A4')).map((line) => line.split(' ')[0])).toEqual(['other', 'silent']);
  });

  it('are gone as soon as they are taken, and on the sheet of the night that saw them it says so', async () => {
    const due = {
      ledger: 'captured 1.00 EUR',
      gateway: ['T1 authorised 1.00 EUR age=150h'],
      did: ['capture T1 confirmed'],
    };
    await night('A5', { since: due, before: due, waits: { ...due, did: ['capture T1 held'] } });
    const settled = (order: string, at: string) =>
      fresh.db.query(
        `update tieout.instructions set settled_at = $2
         where account_id = 'A5' and order_no = $1`,
        [order, at],
      );
    await settled('since', '2026-11-20T20:00:00Z');
    await settled('before', '2026-11-19T20:00:00Z');
    const held = 'capture waiting for approval: the operation needs approval';
    expect(await listed('A5')).toEqual([
      'before | at_risk | 18 | 1.00 | capture | no capture is planned',
      `waits | at_risk | 18 | 1.00 | capture | ${held}`,
    ]);
    const config = { authorisations: { A5: WEEK } };
    const [account] = await accountAuthorisations(fresh.db, config, ['A5'], AT, true);
    expect(account?.sums).toMatchObject([{ orders: 2, amount: '2.00' }]);
    const { rows: nights } = await fresh.db.query<{ date: string }>(
      `select business_date::text as date from tieout.run_accounts where account_id = 'A5'`,
    );
    const of = { businessDate: nights[0]?.date ?? '', asOf: SNAPSHOT_AT, nextNight: null };
    const onSheet: string[] = [];
    for await (const some of atRiskOfNight(fresh.db, config, ['A5'], of)?.() ?? []) {
      onSheet.push(...some.map(({ orderNo, obstacle }) => `${orderNo}: ${obstacle}`));
    }
    expect(onSheet).toEqual([
      'before: no capture is planned',
      'since: capture confirmed since',
      `waits: ${held}`,
    ]);
  });
});
