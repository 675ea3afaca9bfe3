// People and breaks on a real database: notes, owners, waivers and the second person, in bulk with a
// verdict a row; by what a break went away; that figures still tie while somebody decides.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditTrail } from '../../src/audit/auditTrailStore.js';
import { letBrakeGo, pullBrake } from '../../src/brake/brake.js';
import { saidSince } from '../../src/breaks/breakDecisionsStore.js';
import type { BreakFilter } from '../../src/breaks/breaksStore.js';
import { breakLife, countBreaks, findBreaks } from '../../src/breaks/breaksStore.js';
import { decideBreaks } from '../../src/breaks/decideBreaks.js';
import { clearVerdicts, judgeOrders, updateBreaks } from '../../src/compare/verdictsStore.js';
import type { BreakAction } from '../../src/core/breaks/breakDecision.js';
import { eventLabels } from '../../src/core/breaks/outcome.js';
import type { Hundredths } from '../../src/core/money.js';
import type { Database } from '../../src/database/db.js';
import type { FreshDatabase } from '../support/database.js';
import { freshDatabase } from '../support/database.js';
import type { OrderText } from '../support/orders.js';
import { orderOf, plainRules, SNAPSHOT_AT } from '../support/orders.js';
import {
  compareRulesOf,
  storeInstructions,
  storeLedger,
  storeRun,
  storeSnapshot,
} from '../support/snapshotStore.js';

let fresh: FreshDatabase;
let db: Database;
let accountId = '';
let accounts = 0;
let runId = 0n;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  accounts += 1;
  accountId = `A${accounts}`;
});

const CHEAPER = { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 9.00'] };
const DEARER = { ledger: 'captured 1000.00 EUR', gateway: ['T1 captured 100.00'] };
const SETTLED = { ledger: 'captured 1000.00 EUR', gateway: ['T1 captured 1000.00'] };
const CHANGED = { ledger: 'captured 1000.00 EUR', gateway: ['T1 captured 200.00'] };

describe('a decision', () => {
  test('notes and owners stay on the break, each an event with its name', async () => {
    await night({ O1: CHEAPER });
    expect(await decide({ kind: 'note', text: 'asked the bank' })).toEqual(['O1 noted']);
    expect(await decide({ kind: 'assign', owner: 'bert' })).toEqual(['O1 assigned']);
    await night({ O1: CHEAPER });
    const [found] = await find({});
    expect(found).toMatchObject({ note: 'asked the bank', owner: 'bert', state: 'open' });
    const life = await breakLife(db, found?.breakId ?? '');
    expect(life.map(({ event, by, isClaim, reason }) => ({ event, by, isClaim, reason }))).toEqual([
      { event: 'opened', by: 'tieout', isClaim: false, reason: null },
      { event: 'noted', by: 'anna', isClaim: true, reason: 'asked the bank' },
      { event: 'assigned', by: 'anna', isClaim: true, reason: 'to bert' },
    ]);
  });

  test('no card number is stored of what people type, nor found by a search for it', async () => {
    const card = '4111.1111.1111.1111';
    const shown = '4111.11**.****.1111';
    await night({ [card]: CHEAPER, '4111111111111111': CHEAPER });
    const typed = `paid with 4111/1111/1111/1111, order ${card}`;
    await decide({ kind: 'note', text: typed });
    await decide({ kind: 'assign', owner: card });
    const [found] = await find({});
    expect(found?.note).toBe(`paid with 4111/11**/****/1111, order ${card}`);
    const who = { name: 'anna', isClaim: true };
    await pullBrake({ db }, { accountId, reason: `card ${card}`, who });
    await letBrakeGo({ db }, { accountId, reason: `card ${card}`, who });
    const { rows } = await db.query<{ reason: string }>(
      'select distinct reason from tieout.brakes where account_id = $1',
      [accountId],
    );
    expect(rows).toEqual([{ reason: `card ${shown}` }]);
    // What an older version stored is not spelled out by a search either.
    await db.query(
      `insert into tieout.day_events (account_id, business_date, event, by, is_claim, reason,
         figures, open_items)
       values ($1, '2026-11-19', 'closed', 'anna', true, 'told 5555555555554444', '[]', '[]')`,
      [accountId],
    );
    const searched = (text: string) => auditTrail(db, text, 10, 0);
    expect(await searched('told')).toHaveLength(1);
    expect(await searched('5555555555554444')).toEqual([]);
    expect(await searched('55555555555')).toEqual([]);
  });

  test('a small waiver takes one person, and reopens when what it says changes', async () => {
    await night({ O1: CHEAPER });
    expect(await decide({ kind: 'waive', reason: 'a cent' })).toEqual(['O1 waived']);
    await night({ O1: CHEAPER });
    expect(await find({ states: ['waived'] })).toHaveLength(1);
    await night({ O1: { ...CHEAPER, gateway: ['T1 captured 8.00'] } });
    const [found] = await find({});
    expect(found).toMatchObject({ state: 'open', waivedBy: null, waivedReason: null });
  });

  test('a large one takes two, and the second has to see what the first saw', async () => {
    await night({ O1: DEARER });
    const waive: BreakAction = { kind: 'waive', reason: 'settled by bank transfer' };
    expect(await decide(waive)).toEqual(['O1 waiver_asked']);
    expect(await decide(waive, { who: 'ANNA ' })).toEqual([
      'O1 refused: a waiver of this size needs a second person, and you asked for it yourself',
    ]);
    await night({ O1: CHANGED });
    // What Anna asked for is no longer what the break says.
    expect(await decide(waive, { who: 'bert' })).toEqual(['O1 waiver_asked']);
    expect(await decide(waive, { who: 'anna' })).toEqual(['O1 waiver_agreed']);
    const [found] = await find({ states: ['waived'] });
    expect(found).toMatchObject({ waivedBy: 'anna', waivedReason: 'settled by bank transfer' });
  });

  test('a second person may say no, and who asked may take it back', async () => {
    await night({ O1: DEARER });
    const waive: BreakAction = { kind: 'waive', reason: 'settled by bank transfer' };
    const refuse: BreakAction = { kind: 'reopen', reason: 'no such transfer' };
    expect(await decide(refuse)).toEqual(['O1 unchanged: it is open already']);
    expect(await decide(waive)).toEqual(['O1 waiver_asked']);
    expect(await decide(refuse, { who: 'bert' })).toEqual(['O1 waiver_refused']);
    const [found] = await find({});
    expect(found).toMatchObject({ state: 'open', waiverAskedBy: null, waiverAskedReason: null });
    expect(await find({ states: ['waiver_asked'] })).toEqual([]);
    const life = await breakLife(db, found?.breakId ?? '');
    expect(life.map(({ event, by, reason }) => [event, by, reason])).toEqual([
      ['opened', 'tieout', null],
      ['waiver_asked', 'anna', 'settled by bank transfer'],
      ['waiver_refused', 'bert', 'no such transfer'],
    ]);
    // Nobody agreed: the next one asks anew, and takes it back by the same operation.
    expect(await decide(waive, { who: 'bert' })).toEqual(['O1 waiver_asked']);
    expect(await decide(refuse, { who: 'bert' })).toEqual(['O1 waiver_taken_back']);
    const after = await breakLife(db, found?.breakId ?? '');
    expect(eventLabels(after).slice(2)).toEqual([
      'waiver refused',
      'waiver asked',
      'request for a waiver taken back',
    ]);
    const trail = (await auditTrail(db, accountId, 50, 0)).map(({ what }) => what);
    expect(trail).toContain('request for a waiver taken back: amount mismatch');
    expect(trail).toContain('waiver refused: amount mismatch');
  });

  test.each([
    ['waive', 'bert', 'waiver_agreed', 'waived as the second person'],
    ['reopen', 'anna', 'waiver_taken_back', 'request for a waiver taken back'],
  ] as const)(
    'a waiver waits again with its difference: %s by %s',
    async (kind, who, is, label) => {
      for (const between of [SETTLED, CHANGED]) {
        await night({ O1: DEARER });
        await decide({ kind: 'waive', reason: 'by bank' });
        const [shown] = await find({});
        await night({ O1: between });
        await night({ O1: DEARER });
        expect(await decide({ kind, reason: 'known' }, { who })).toEqual([`O1 ${is}`]);
        const id = shown?.breakId ?? '';
        expect(eventLabels(await breakLife(db, id)).at(-1)).toBe(label);
        const seen = new Map([[id, { last: shown?.last ?? '' }]]);
        const said = await db.transaction((tx) => saidSince(tx, seen));
        expect(said.get(id)?.map((word) => word.label)).toEqual([label]);
        const found = await auditTrail(db, label.slice(-9).toUpperCase(), 50, 0);
        expect(found.find((row) => row.id === id)?.what).toBe(`${label}: amount mismatch`);
        accountId = `${accountId}x`;
      }
    },
  );

  test('the limit is that of refunds where the configuration gives one', async () => {
    await night({ O1: CHEAPER });
    const waive: BreakAction = { kind: 'waive', reason: 'x' };
    expect(await decide(waive, { approveAbove: { EUR: 50n } })).toEqual(['O1 waiver_asked']);
  });

  test('the database holds the second person by itself', async () => {
    await night({ O1: DEARER, O2: CHEAPER });
    const waive = (by: string, limit: string) =>
      db.query(
        `update tieout.breaks set state = 'waived', waived_by = $2, waived_reason = 'x',
           waived_limit = $3 where account_id = $1 and order_no = 'O1'`,
        [accountId, by, limit],
      );
    await expect(waive('anna', '500.00')).rejects.toThrow('needs a second person');
    await db.query(
      `update tieout.breaks set waiver_asked_by = 'Anna', waiver_asked_for = fingerprint
       where account_id = $1`,
      [accountId],
    );
    await expect(waive(' anna', '500.00')).rejects.toThrow('needs a second person');
    await expect(waive('', '500.00')).rejects.toThrow('names who, why');
    await waive('bert', '500.00');
    await expect(
      db.query(`update tieout.breaks set state = 'waived' where account_id = $1`, [accountId]),
    ).rejects.toThrow('names who, why');
  });

  test('in bulk there is a verdict a row, and one number in the trail', async () => {
    await night({ O1: CHEAPER, O2: DEARER, O3: CHEAPER });
    await decide({ kind: 'waive', reason: 'first' }, { filter: { orderNo: 'O1' } });
    const all = { filter: { states: ['open', 'waived'] } } as const;
    expect(await decide({ kind: 'waive', reason: 'all' }, { ...all, check: true })).toHaveLength(3);
    expect(await find({})).toHaveLength(2);
    expect(await decide({ kind: 'waive', reason: 'all' }, all)).toEqual([
      'O1 unchanged: it is waived already',
      'O2 waiver_asked',
      'O3 waived',
    ]);
    const { rows } = await db.query(
      `select count(*) as events, count(distinct decision_id) as decisions,
         min(decided_over) as over
       from tieout.break_events join tieout.breaks using (break_id)
       where account_id = $1 and reason = 'all'`,
      [accountId],
    );
    expect(rows).toEqual([{ events: 2n, decisions: 1n, over: 'all of them' }]);
  });

  test('refuses words that cannot be kept', async () => {
    await night({ O1: CHEAPER });
    await expect(decide({ kind: 'note', text: ' ' })).rejects.toThrow('the note must not be empty');
    await expect(decide({ kind: 'waive', reason: '' })).rejects.toThrow('the reason must not be');
    await expect(decide({ kind: 'note', text: 'x' }, { who: '' })).rejects.toThrow('who decides');
  });
});

describe('by what a break went away', () => {
  test.each<[string, OrderText, OrderText, string]>([
    ['a change of the ledger', CHEAPER, { ...CHEAPER, ledger: 'captured 9.00 EUR' }, 'ledger'],
    ['an outside action', CHEAPER, { ...CHEAPER, gateway: ['T1 captured 10.00'] }, 'outside'],
    [
      'another break in its place',
      CHEAPER,
      { ...CHEAPER, gateway: ['T1 refunded 10.00'] },
      'other_break',
    ],
    [
      'an entry that is gone',
      { ledger: null, page: 'unasked', gateway: ['T1 captured 10.00'] },
      { ledger: null },
      'gone',
    ],
    [
      'it turned up at the gateway',
      { ledger: 'captured 10.00 EUR' },
      { ledger: 'captured 10.00 EUR', gateway: ['T1 captured 10.00'] },
      'outside',
    ],
  ])('%s', async (_name, before, after, cause) => {
    await night({ O1: before });
    await night({ O1: after });
    expect(await resolvedBy()).toEqual([cause]);
  });

  test('the tolerance', async () => {
    await night({ O1: CHEAPER });
    await night({ O1: CHEAPER }, { below: 200n });
    expect(await resolvedBy()).toEqual(['tolerance']);
  });

  test('what we sent', async () => {
    const uncaptured = { ledger: 'captured 10.00 EUR', gateway: ['T1 authorised 10.00 8d'] };
    await night({ O1: uncaptured });
    const confirmed = {
      ...uncaptured,
      gateway: ['T1 captured 10.00'],
      did: ['capture T1 confirmed'],
    };
    await storeInstructions(db, runId, accountId, [orderOf('O1', confirmed)]);
    await db.query(`update tieout.instructions set settled_run_id = $2 where account_id = $1`, [
      accountId,
      runId,
    ]);
    await night({ O1: confirmed });
    expect(await resolvedBy()).toEqual(['instruction']);
  });
});

describe('finding breaks', () => {
  test('by amount, owner, text, kind and cause; in groups with their money', async () => {
    const gone = { ledger: 'captured 20.00 EUR' };
    await night({ O1: CHEAPER, O2: DEARER, O3: CHEAPER, O4: gone });
    await decide({ kind: 'assign', owner: 'bert' }, { filter: { orderNo: 'O2' } });
    const orders = async (filter: BreakFilter) => (await find(filter)).map((one) => one.orderNo);
    expect(await orders({ minAmount: '20.00' })).toEqual(['O2', 'O4']);
    expect(await orders({ maxAmount: '19.99' })).toEqual(['O1', 'O3']);
    expect(await orders({ owner: 'bert' })).toEqual(['O2']);
    expect(await orders({ owner: null })).toEqual(['O1', 'O3', 'O4']);
    expect(await orders({ text: 'o4' })).toEqual(['O4']);
    expect(await orders({ kinds: ['missing_at_gateway'] })).toEqual(['O4']);
    expect(await orders({ currency: 'USD' })).toEqual([]);
    const cause = 'amount_mismatch, delta -1.00 EUR';
    expect(await orders({ cause })).toEqual(['O1', 'O3']);
    const clock = { at: new Date(SNAPSHOT_AT.getTime() + 9 * 86_400_000), timezone: 'UTC' };
    const groups = await countBreaks(db, { accountIds: [accountId] }, 'cause', clock, 10);
    expect(groups.map(({ key, breaks, money }) => ({ key, breaks, money }))).toEqual([
      { key: cause, breaks: 2, money: { EUR: '2.00' } },
      { key: 'amount_mismatch, delta -900.00 EUR', breaks: 1, money: { EUR: '900.00' } },
      { key: 'missing_at_gateway', breaks: 1, money: { EUR: '20.00' } },
    ]);
    // Which requests they came with is told apart.
    const pages = await countBreaks(db, { accountIds: [accountId] }, 'page', clock, 10);
    expect(pages.map(({ breaks }) => breaks)).toEqual([1, 1, 1, 1]);
    expect(pages[0]?.key).toMatch(/^A\d+ of 20\d\d-\d\d-\d\d no \d+$/);
    const ages = await countBreaks(db, { accountIds: [accountId] }, 'age', clock, 10);
    expect(ages.map(({ key, breaks }) => `${key}: ${breaks}`)).toEqual(['8-30: 4']);
    const [all] = await countBreaks(db, { accountIds: [accountId] }, null, clock, 1);
    expect(all).toMatchObject({ key: null, breaks: 4, orders: 4, money: { EUR: '922.00' } });
  });

  test('what was refused as ambiguous shows all candidates, and a new one reopens a waiver', async () => {
    const twice = {
      ledger: 'captured 10.00 EUR',
      gateway: ['T1 captured 10.00', 'T2 authorised 10.00'],
    };
    await night({ O1: twice });
    const [found] = await find({});
    expect(found?.actual.candidates?.map((one) => `${one.transaction} ${one.state}`)).toEqual([
      expect.stringMatching(/O1\/T1 captured/),
      expect.stringMatching(/O1\/T2 authorised/),
    ]);
    await decide({ kind: 'waive', reason: 'known' });
    await night({ O1: { ...twice, gateway: [...twice.gateway, 'T3 authorised 10.00'] } });
    expect((await find({}))[0]?.actual.candidates).toHaveLength(3);
  });
});

/** One night over these orders, after the other ones. */
async function night(
  texts: Record<string, OrderText>,
  tolerance: { below?: Hundredths } = {},
): Promise<void> {
  const orders = Object.entries(texts).map(([orderNo, text]) => orderOf(orderNo, text));
  runId = await storeRun(db, accountId);
  await storeLedger(db, accountId, orders);
  const scope = await storeSnapshot(db, runId, accountId, orders);
  await db.query('update tieout.run_accounts set pull_id = $2 where run_id = $1', [
    runId,
    scope.pullId,
  ]);
  await clearVerdicts(db, runId, [accountId]);
  const rules = plainRules({
    tolerance: { below: 0n, above: 0n, partsPerMillion: 0n, ...tolerance },
  });
  await judgeOrders(db, scope, compareRulesOf(rules, [accountId]));
  await updateBreaks(db, scope, SNAPSHOT_AT);
}

function find(filter: BreakFilter) {
  const whole = { states: ['open'], accountIds: [accountId], ...filter } as const;
  return findBreaks(db, whole, { limit: 100, offset: 0 });
}

/** "O1 waived", "O2 refused: why"; over all open breaks of the account unless told otherwise. */
async function decide(
  action: BreakAction,
  options: {
    who?: string;
    filter?: BreakFilter;
    check?: boolean;
    approveAbove?: Record<string, Hundredths>;
  } = {},
): Promise<string[]> {
  const approveAbove = {
    capture: null,
    cancel: null,
    refund: options.approveAbove ?? null,
    review: null,
    payout: null,
  };
  const deps = {
    db,
    now: () => SNAPSHOT_AT,
    newId: randomUUID,
    config: { operations: { approveAbove } },
  };
  const ids = (await find(options.filter ?? {})).map((one) => one.breakId);
  const rows = await decideBreaks(deps, {
    ids,
    action,
    who: { name: options.who ?? 'anna', isClaim: true },
    over: 'all of them',
    check: options.check === true,
  });
  return rows.map((row) => `${row.orderNo} ${row.kind}${'reason' in row ? `: ${row.reason}` : ''}`);
}

async function resolvedBy(): Promise<(string | null)[]> {
  const { rows } = await db.query<{ cause: string | null }>(
    `select cause from tieout.break_events join tieout.breaks using (break_id)
     where account_id = $1 and event = 'resolved' order by event_id`,
    [accountId],
  );
  return rows.map((row) => row.cause);
}
