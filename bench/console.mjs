// `npm run bench -- --part console`: the main pages of the console at fifty requests at once, beside
// the statements that each of them asks, alone and at fifty at once too: what the program adds to
// its own SQL. On a real night of `--orders`, with ten thousand open breaks and three years of
// nights made of it by SQL. Neighbours: house.mjs (server, database, sandbox), stats.mjs (the lines).

import { randomUUID } from 'node:crypto';
import { newToken, tokenDigest } from '../dist/src/access/password.js';
import { openSession } from '../dist/src/access/sessionsStore.js';
import { addUser } from '../dist/src/access/usersStore.js';
import { openApp } from '../dist/src/app/compose.js';
import { loadConfig } from '../dist/src/config/config.js';
import { ROLES } from '../dist/src/core/access.js';
import { createWebServer } from '../dist/src/web/server.js';
import { localIdentity } from '../dist/src/web/visitor/identity.js';
import { measure } from './measure.mjs';
import { sized } from './sized.mjs';
import { line } from './stats.mjs';

const AT_ONCE = sized(50, 2);
const BREAKS = sized(10_000, 100);
const NIGHTS = sized(3 * 365, 10);
const MOVEMENTS_A_NIGHT = sized(1_000, 10);
/** Before the clock starts: plans, pages of the database, compiled code. */
const WARM_UPS = 2;
const GOAL = { atMost: 3 };
/** Addresses count their requests, so that a flood is refused; a bench comes from many. */
const ADDRESSES = 200;

export async function benchConsole(house, ledger, rounds) {
  const place = await house.openPlace(ledger);
  const file = house.writeConfig(place);
  await measure([house.program, 'run', '--json', '--config', file]);
  const talk = { log: () => {}, progress: () => {} };
  const app = await openApp(loadConfig({ file, env: {}, cwd: place.folder }), {
    talk,
    signal: new AbortController().signal,
  });
  try {
    await grow(app.db);
    const asked = [];
    const server = serverOf(app, asked);
    const cookies = { 'tieout-session': await signIn(app.db) };
    const lines = [];
    for (const [name, url] of await pagesOf(app.db)) {
      lines.push(...(await benchPage({ app, server, asked, cookies, name, url, rounds })));
    }
    await server.close();
    return lines;
  } finally {
    await app.close();
    await house.closePlace(place);
  }
}

async function benchPage({ app, server, asked, cookies, name, url, rounds }) {
  let visits = 0;
  const visit = async () => {
    visits += 1;
    const remoteAddress = `198.51.100.${visits % ADDRESSES}`;
    const { statusCode, body } = await server.inject({ url, cookies, remoteAddress });
    if (statusCode !== 200) throw new Error(`${url} answers ${statusCode}: ${body.slice(0, 200)}`);
  };
  asked.length = 0;
  await visit();
  const statements = [...asked];
  const bare = async () => {
    for (const [text, values] of statements) await app.db.query(text, values);
  };
  for (let warm = 0; warm < WARM_UPS; warm += 1) await Promise.all([visit(), bare()]);
  const ratios = [];
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const sql = await fifty(bare);
    const page = await fifty(visit);
    ratios.push(page / sql);
    times.push(page / AT_ONCE);
  }
  return [
    line(`${name}: page / its ${statements.length} statements`, ratios, GOAL, 2),
    line(`${name}: ms a page, at ${AT_ONCE} at once`, times, {}, 2),
  ];
}

async function fifty(work) {
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return performance.now() - began;
}

/** Remembers what is asked of the database. */
function serverOf(app, asked) {
  const db = {
    ...app.db,
    query: (text, values, name) => {
      asked.push([text, values]);
      return app.db.query(text, values, name);
    },
  };
  const base = {
    db,
    accountIds: app.config.accounts.map(({ accountId }) => accountId),
    now: () => new Date(),
    newId: randomUUID,
    log: () => {},
  };
  const never = async () => ({ kind: 'gone', words: '' });
  const jobs = { list: async () => [], retry: never, discard: never };
  const queuePort = { enqueue: async () => {} };
  const { config, version } = app;
  const identity = localIdentity(base);
  const people = { ...base, config, version, identity, jobs, queuePort, board: null };
  return createWebServer({
    ...base,
    ...{ console: people, monitor: null, notifications: null, proxies: [] },
  });
}

async function signIn(db) {
  const grants = ROLES.map((role) => ({ role, accountId: null }));
  const now = new Date();
  const user = { name: 'bench', passwordHash: null, grants, by: 'bench', now };
  const { userId } = await addUser(db, user);
  const token = newToken();
  await openSession(db, { sha256: tokenDigest(token), userId, now, address: 'bench' });
  return token;
}

async function pagesOf(db) {
  const { rows } = await db.query(
    `select b.break_id as id, b.account_id as account, b.order_no as order,
       (select max(business_date)::text from tieout.runs) as date,
       (select min(instruction_id) from tieout.instructions) as instruction
     from tieout.breaks b order by break_id limit 1`,
  );
  const [row] = rows;
  const order = encodeURIComponent(row.order);
  return [
    ['tonight', '/'],
    ['breaks', '/breaks'],
    ['breaks, searched', '/breaks?text=0001&state=any'],
    ['a break', `/breaks/${row.id}`],
    ['approvals', '/approvals'],
    ['instructions', '/instructions?state=confirmed'],
    ['an instruction', `/instructions/${row.instruction}`],
    ['an order', `/orders/${row.account}/${order}`],
    ['reports', '/reports'],
    ['days', '/days'],
    ['audit', '/audit'],
  ];
}

/** Breaks on orders that have none, and nights before the one that was run. */
async function grow(db) {
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `with free as (
         select account_id, order_no, amount, currency, row_number() over () as n
         from ledger.orders o where not exists (select from tieout.breaks b
           where b.account_id = o.account_id and b.order_no = o.order_no)
         limit greatest(0, $1 - (select count(*) from tieout.breaks where state = 'open'))
       ), made as (
         insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
           last_run_id, expected, actual, fingerprint, currency, amount)
         select account_id, order_no, 'amount_mismatch', 'open', now() - n % 120 * interval '1 day',
           r.run_id, r.run_id, jsonb_build_object('state', 'captured', 'amount', amount::text,
             'currency', currency),
           jsonb_build_object('state', 'captured', 'amount', (amount + 1)::text,
             'currency', currency), md5(order_no), currency, 1
         from free cross join (select max(run_id) as run_id from tieout.runs) r
         returning *
       )
       insert into tieout.break_events (break_id, run_id, at, event, by, currency, amount, expected,
         actual)
       select break_id, first_run_id, first_seen, 'opened', 'tieout', currency, amount, expected,
         actual from made`,
      [BREAKS],
    );
    const { rows } = await tx.query(
      `insert into tieout.runs (business_date, covers, starts_at, ends_at, state, environment,
         settings, settings_sha256, version, created_at, finished_at, summary)
       select business_date - n, array[business_date - n], starts_at - n * interval '1 day',
         ends_at - n * interval '1 day', case when n % 3 = 0 then 'broken' else 'tied_out' end,
         environment, settings, settings_sha256, version, created_at - n * interval '1 day',
         finished_at - n * interval '1 day',
         summary || jsonb_build_object('businessDate', (business_date - n)::text, 'run',
           (business_date - n)::text)
       from tieout.runs cross join generate_series(1, $1::int) as n
       returning run_id, business_date`,
      [NIGHTS],
    );
    await tx.query(
      `insert into tieout.run_accounts (run_id, account_id, business_date, merchant_id, state, as_of)
       select r.run_id, a.account_id, r.business_date, a.merchant_id, r.state, r.finished_at
       from tieout.runs r cross join (
         select distinct account_id, merchant_id from tieout.run_accounts) a
       where r.run_id = any ($1)`,
      [rows.map(({ run_id: id }) => id)],
    );
    await tx.query(
      `insert into tieout.reports (run_id, kind, format, revision, state, created_at, written_at,
         path, sha256, bytes)
       select r.run_id, k.kind, 'xlsx', 1, 'written', r.created_at, r.finished_at, '/none/' ||
         r.run_id, md5(r.run_id || k.kind), 1000
       from tieout.runs r cross join (values ('reconciliation'), ('orders')) k (kind)
       where r.run_id = any ($1)`,
      [rows.map(({ run_id: id }) => id)],
    );
    await growDays(
      tx,
      rows.map(({ run_id: id }) => id),
    );
  });
  await db.query('vacuum analyze');
}

/** Looks of those nights, older than the one that was run, and what they moved. */
async function growDays(tx, runIds) {
  await tx.query(
    `insert into tieout.pulls (pull_id, run_id, kind, as_of, finished_at, is_sealed)
     overriding system value
     select -row_number() over (), run_id, kind, created_at, finished_at, true
     from tieout.runs cross join unnest(array['night', 'confirm']) as kind
     where run_id = any ($1)`,
    [runIds],
  );
  await tx.query(
    `insert into tieout.day_movements (instruction_id, account_id, order_no, operation, currency,
       amount, belongs_to, posted_to, settled_run_id)
     select -row_number() over (), a.account_id, 'OLD-' || n, case n % 4 when 0 then 'refund'
         when 1 then 'cancel' else 'capture' end, case n % 3 when 0 then 'USD' else 'EUR' end, 10,
       r.business_date, r.business_date, r.run_id
     from tieout.runs r
     cross join (select account_id, row_number() over () as at, count(*) over () as all_of_them
       from (select distinct account_id from tieout.run_accounts) a) a
     join generate_series(1, $2::int) as n on n % a.all_of_them = a.at - 1
     where r.run_id = any ($1)`,
    [runIds, MOVEMENTS_A_NIGHT],
  );
  await tx.query(
    `insert into tieout.day_sums
     select account_id, posted_to, currency, operation, false, sum(amount), count(*)
     from tieout.day_movements where instruction_id < 0 group by 1, 2, 3, 4`,
  );
}
