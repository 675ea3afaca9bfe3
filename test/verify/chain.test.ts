// The chain of what was recorded (law 8 of ARCHITECTURE.md): sealed by the night itself, whole
// after it, and broken by every change that somebody with all rights makes behind the program's
// back.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealAccounts } from '../../src/runs/runRecordStore.js';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const of = (name: string): string => new URL(`../../proof/auditor/${name}`, import.meta.url).href;
let house: House;
const check = () => checkChain(house.db, () => {});

beforeAll(async () => {
  house = await buildHouse({ orders: 240, seed: 3 });
  await house.run();
});
afterAll(() => house.end());

describe('after a night', () => {
  test('everything is sealed, and nothing differs', async () => {
    const found = await check();
    expect(found).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
    expect(found.chains).toBe(house.accounts.length + 1);
    const { rows } = await house.db.query<{ what: string }>(
      'select distinct what from tieout.chain_links order by what',
    );
    expect(rows.map((row) => row.what)).toEqual([
      ...['answer', 'attempt', 'break', 'end', 'instruction', 'look', 'movement', 'profile'],
      ...['report', 'settings', 'working'],
    ]);
    // Of later nights none of these snapshots is asked about again.
    const open = await house.db.query('select 1 from tieout.pulls where not is_sealed');
    expect(open.rows).toEqual([]);
  });

  test('the auditor, who shares no code with the program, digests the same', async () => {
    const { chainUnbroken, SEALED_KINDS } = await import(of('chain.mjs'));
    const { readDatabase } = await import(of('readBooks.mjs'));
    const client = await house.db.pool.connect();
    const { links, heads, sealed } = await readDatabase(client);
    client.release();
    expect(chainUnbroken({ links, heads, sealed })).toEqual([]);
    const kinds = new Set(sealed.map(({ what }: { what: string }) => what));
    // Nobody has decided anything yet.
    expect([...kinds, 'decision'].sort()).toEqual(SEALED_KINDS);
    const [first] = sealed as { line: string }[];
    if (first) first.line += ' ';
    expect(chainUnbroken({ links, heads, sealed })).toHaveLength(1);
  });

  test('a second run of the night adds links and changes none', async () => {
    const before = await house.db.query('select * from tieout.chain_links order by link_id');
    await house.run();
    const after = await house.db.query('select * from tieout.chain_links order by link_id');
    expect(after.rows.length).toBeGreaterThan(before.rows.length);
    expect(after.rows.slice(0, before.rows.length)).toEqual(before.rows);
    expect(await check()).toMatchObject({ broken: [], unsealed: [], disagreements: [] });
  });

  test('a dry run leaves nothing to seal', async () => {
    const before = await check();
    await house.run({ isDry: true });
    expect(await check()).toEqual(before);
  });

  test('tieout verify says so, and where the chains end', async () => {
    const ended = await tieoutHere(['verify'], { cwd: house.folder });
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(
      /^The chain is whole: \d+ links in 3 chains\. It ends in \w{64}\./,
    );
    const { stdout } = await tieoutHere(['verify', '--json'], { cwd: house.folder });
    expect(JSON.parse(stdout)).toMatchObject({ whole: true, broken: [], unsealed: [] });
    expect(house.lines.some((line) => /^sealed; the chains end in \w{64}$/.test(line))).toBe(true);
  });
});

/** Statements as somebody runs them who has switched the guards off. */
const TAMPERED: readonly (readonly [string, string, string])[] = [
  ['an attempt is gone', 'answer', 'delete from tieout.attempts where ctid = $1'],
  ['an answer is gone', 'answer', 'delete from tieout.answers where ctid = $1'],
  ['an answer is another', 'answer', `update tieout.answers set body = 'OK' where ctid = $1`],
  [
    'a request is another',
    'attempt',
    `update tieout.attempts set request_gzip = 'x' where ctid = $1`,
  ],
  [
    'a host is another',
    'attempt',
    `update tieout.attempts set host = 'somebody-else' where ctid = $1`,
  ],
  [
    'a move happened at another time',
    'instruction',
    `update tieout.instruction_events set at = at + interval '1 microsecond' where ctid = $1`,
  ],
  ['a move is gone', 'instruction', 'delete from tieout.instruction_events where ctid = $1'],
  [
    'the amount of an instruction is another',
    'instruction',
    'update tieout.instructions set amount = amount + 0.01 where ctid = $1',
  ],
  [
    'a break was told otherwise',
    'break',
    `update tieout.break_events set reason = 'it was nothing' where ctid = $1`,
  ],
  [
    'a ledger row a look was compared with is another',
    'look',
    'update tieout.asked_orders set amount = amount + 1 where ctid = $1',
  ],
  ['an order was never asked', 'look', 'delete from tieout.asked_orders where ctid = $1'],
  [
    'a refund request is another',
    'look',
    'update tieout.asked_refunds set refund_amount = refund_amount + 1 where ctid = $1',
  ],
  [
    'the raw page is another',
    'look',
    `update tieout.pages set body_gzip = body_gzip || '\\x00' where ctid = $1`,
  ],
  ['a page is gone', 'look', 'delete from tieout.pages where ctid = $1'],
  [
    'the settings are others',
    'settings',
    `update tieout.run_settings set settings = settings || '{"a": 1}' where ctid = $1`,
  ],
  [
    'the profile is another',
    'profile',
    `update tieout.profiles set profile = profile || ' ' where ctid = $1`,
  ],
  [
    'the summary is another',
    'end',
    `update tieout.run_ends set summary = jsonb_set(summary, '{state}', '"tied_out"')
     where ctid = $1`,
  ],
  [
    'a movement stands in another day',
    'movement',
    'update tieout.day_movements set posted_to = posted_to + 1 where ctid = $1',
  ],
  [
    'the workbook is another',
    'report',
    `update tieout.reports set sha256 = reverse(sha256) where ctid = $1`,
  ],
  [
    'what a night began with is another',
    'working',
    'update tieout.workings set last_break_event = last_break_event + 1 where ctid = $1',
  ],
];

describe('with the guards switched off', () => {
  test.each(TAMPERED)('%s: found', async (_name, what, statement) => {
    const table = /tieout\.(\w+)/.exec(statement)?.[1];
    await tampered(async (query) => {
      const { rows } = await query(`select ctid from tieout.${table} order by random() limit 1`);
      expect(rows.length).toBe(1);
      await query(statement, [(rows[0] as { ctid: string }).ctid]);
      const found = await checkChain({ query } as never, () => {});
      expect(found.broken.length).toBeGreaterThan(0);
      expect(found.broken.map((one) => one.what)).toContain(what);
    });
  });

  test.each([
    ['a link is gone', 'delete from tieout.chain_links where link_no = 2', /not there/],
    [
      'the last link is gone',
      `delete from tieout.chain_links l
       where link_no = (select max(link_no) from tieout.chain_links m
         where m.account_id = l.account_id)`,
      /was sealed up to/,
    ],
    [
      'a link is another',
      'update tieout.chain_links set facts_sha256 = reverse(facts_sha256) where link_no = 2',
      /link itself was changed/,
    ],
    [
      'a link was made anew',
      `update tieout.chain_links l set previous_sha256 = '',
         sha256 = tieout.link_sha256(row(l.account_id, l.link_no, l.link_id, l.business_date,
           l.what, l.facts, l.facts_sha256, '', '', l.sealed_at)::tieout.chain_links)
       where link_no = 3`,
      /does not follow/,
    ],
  ])('%s: found', async (_name, statement, reason) => {
    await tampered(async (query) => {
      await query(statement);
      const found = await checkChain({ query } as never, () => {});
      expect(found.broken[0]?.reason).toMatch(reason);
    });
  });

  test('a row that was added bears no link, or one that counts others', async () => {
    await tampered(async (query) => {
      await query(
        `insert into tieout.instruction_events (instruction_id, from_state, to_state, by)
         select instruction_id, state, 'confirmed', 'tieout' from tieout.instructions limit 1`,
      );
      const found = await checkChain({ query } as never, () => {});
      expect(found.unsealed).toMatchObject([{ what: 'instruction', facts: 1 }]);
      await query(
        `update tieout.instruction_events e set link_id = l.link_id
         from tieout.instructions i, tieout.chain_links l
         where e.link_id is null and i.instruction_id = e.instruction_id
           and l.account_id = i.account_id and l.what = 'instruction'`,
      );
      expect((await checkChain({ query } as never, () => {})).broken.length).toBe(1);
    });
  });

  test('a state that no move led to is named', async () => {
    await tampered(async (query) => {
      await query(
        `update tieout.instructions set state = 'withdrawn', reason = 'oops', hold_reason = null,
           settled_at = now(), settled_run_id = run_id
         where instruction_id = (select max(instruction_id) from tieout.instructions)`,
      );
      const { disagreements } = await checkChain({ query } as never, () => {});
      expect(disagreements).toMatchObject([{ state: 'withdrawn' }]);
    });
  });
});

describe('a business day', () => {
  test('that does not come to its movements is named', async () => {
    await tampered(async (query) => {
      await query(`update tieout.day_sums set amount = amount + 1
        where operation = 'capture' and currency = 'EUR'`);
      const { disagreements } = await checkChain({ query } as never, () => {});
      expect(disagreements.length).toBeGreaterThan(0);
      expect(disagreements[0]?.what).toMatch(/^day \d{4}-\d\d-\d\d, capture in EUR$/);
    });
  });
});

describe('what follows from sealed facts', () => {
  test.each([
    [
      'a movement that no instruction made',
      `insert into tieout.day_movements (instruction_id, account_id, order_no, operation, currency,
         amount, belongs_to, posted_to)
       select instruction_id, account_id, order_no, operation, currency, amount, now(), now()
       from tieout.instructions where state <> 'confirmed' and operation in ('capture', 'refund')
       limit 1`,
      /^movement \d+$/,
    ],
    [
      'an outcome for the shop that is none',
      `insert into tieout.outcome_rows (seq, instruction_id, account_id, order_no, operation, amount,
         currency, state, at)
       select 9999, instruction_id, account_id, order_no, operation, amount, currency, 'confirmed', now()
       from tieout.instructions where state <> 'confirmed' limit 1`,
      /^outcome \d+$/,
    ],
    ['one of another amount', 'update tieout.outcome_rows set amount = 1', /^outcome \d+$/],
    ['the end of a run', `update tieout.runs set state = 'tied_out'`, /^run of .*: state$/],
    ['its summary', `update tieout.runs set summary = '{}'`, /^run of .*: summary$/],
    ['its settings', `update tieout.runs set settings = '{}'`, /^run of .*: settings$/],
    ['what is at stake', 'update tieout.breaks set amount = 0.01', /^break .*: at stake$/],
    ['its age', `update tieout.breaks set first_seen = now()`, /^break .*: first seen$/],
  ])('%s, changed behind the back of its history, is named', async (_what, sql, named) => {
    await tampered(async (query) => {
      await query(sql);
      const { disagreements } = await checkChain({ query } as never, () => {});
      expect(disagreements.map(({ what }) => what)).toContainEqual(expect.stringMatching(named));
    });
  });
});

describe('with the guards on', () => {
  test.each([
    ['instruction_events', `by = 'somebody'`],
    ['answers', `body = ''`],
    ['break_events', `reason = ''`],
    ['run_settings', `version = ''`],
    ['run_ends', `state = ''`],
    ['workings', `last_break_event = 0`],
    ['day_movements', 'amount = 1'],
    ['day_sums', 'amount = 1'],
    ['profiles', `profile = ''`],
    ['asked_orders', 'amount = 1'],
    ['asked_refunds', 'refund_amount = 1'],
    ['pages', 'orders = 1'],
    ['look_entries', 'found = false'],
    ['chain_links', 'facts = 1'],
    ['carried_breaks', `state = 'open'`],
    ['reports', `sha256 = ''`],
    ['attempts', `host = ''`],
  ])('%s is refused any change', async (table, change) => {
    await expect(house.db.query(`update tieout.${table} set ${change}`)).rejects.toThrow(/history/);
    await expect(house.db.query(`delete from tieout.${table}`)).rejects.toThrow(/history|violates/);
  });

  test('a guard that is called only for what it guards names every column', async () => {
    const { rows } = await house.db.query<{ relation: string; loose: string[] }>(
      `select c.relname as relation, array_agg(a.attname::text) filter (where
         pg_get_triggerdef(t.oid) !~* format('\\mold\\.%I is', a.attname)) as loose
       from pg_trigger t
       join pg_class c on c.oid = t.tgrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where t.tgname in ('guard_fact', 'guard_outcome') and t.tgqual is not null
         and c.relname not in ('attempts', 'reports')
       group by c.relname order by c.relname`,
    );
    const seldom = [
      'break_events',
      'day_movements',
      'instruction_events',
      'movements',
      'outcome_rows',
    ];
    expect(rows).toEqual(seldom.map((relation) => ({ relation, loose: null })));
  });
});

describe('what a person decides', () => {
  test('has its link as soon as it is committed', async () => {
    const { rows } = await house.db.query(
      `with noted as (
         insert into tieout.break_events (break_id, at, event, by, reason, expected, actual)
         select break_id, clock_timestamp(), 'noted', 'anna', 'asked the shop', expected, actual
         from tieout.breaks order by break_id limit 1 returning event_id)
       select event_id from noted`,
    );
    expect(rows.length).toBe(1);
    const sealed = await house.db.query<{ what: string; facts: bigint }>(
      `select l.what, l.facts from tieout.break_events e join tieout.chain_links l using (link_id)
       where e.by = 'anna'`,
    );
    expect(sealed.rows).toEqual([{ what: 'break', facts: 1n }]);
    expect(await check()).toMatchObject({ broken: [], unsealed: [] });
  });

  test('keeps nobody waiting but for its own chain', async () => {
    const accountIds = house.accounts.map(({ accountId }) => accountId);
    const sealed: string[] = [];
    const { accountId, all } = await house.db.transaction(async (tx) => {
      const { rows } = await tx.query<{ account_id: string }>(
        `insert into tieout.break_events (break_id, at, event, by, reason, expected, actual)
         select break_id, clock_timestamp(), 'noted', 'ben', 'asked again', expected, actual
         from tieout.breaks order by break_id limit 1
         returning (select b.account_id from tieout.breaks b
           where b.break_id = break_events.break_id)`,
      );
      // At once instead of at the commit, so that its chain is held from here on.
      await tx.query('set constraints all immediate');
      const all = sealAccounts(house.db, accountIds, '2026-01-01').then(() => sealed.push('all'));
      await waitUntil(async () => (await waiting(house.db)) > 0);
      sealed.push('decision');
      return { accountId: rows[0]?.account_id, all };
    });
    await all;
    expect(accountIds).toContain(accountId);
    expect(sealed).toEqual(['decision', 'all']);
    expect(await check()).toMatchObject({ broken: [], unsealed: [] });
  });
});

/** How many sessions of this database wait for a lock. */
async function waiting(db: House['db']): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(rows[0]?.count);
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(10);
}

type Query = (text: string, values?: readonly unknown[]) => Promise<{ rows: object[] }>;

/** Does it in a transaction without triggers, which is rolled back. */
async function tampered(work: (query: Query) => Promise<void>): Promise<void> {
  const undo = new Error('undone');
  await house.db
    .transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await work((text, values) => tx.query(text, values));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}
