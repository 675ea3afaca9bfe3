// Who may reach what: every route of the console, for every role, for one account and for all; and
// every form, from elsewhere or without its token. Generated from the table of routes, so that a new
// route without an expectation fails here. Rows 106, 109 and 114 of the list of faults.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/core/access.js';
import { ROLES } from '../../src/core/access.js';
import { UNEXPLAINED } from '../../src/core/runs/statement.js';
import { ROUTES } from '../../src/web/routes.js';
import type { Route } from '../../src/web/visit.js';
import { rowCounts } from '../cli/rows.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';
import { ROUTES_MAY } from './routesMay.js';
import { batchFile, take } from './settlementFiles.js';

/** Ids of rows of one account each, to be put into addresses and forms. */
interface Rows {
  break: string;
  order: string;
  instruction: string;
}

let console: ConsoleHouse;
let rows: Record<'A1001' | 'A1002', Rows>;
let report: string;
/** of a statement of A1002 */
let currency: string;
/** of one whose books have money in transit */
let booked: string;
const BATCH = '134';

beforeAll(async () => {
  const approve = { capture: 'approve', cancel: 'auto', refund: 'approve', review: 'auto' };
  console = await openConsole({
    settings: { operations: approve, settlement: { from: '2026-11-01' } },
  });
  rows = { A1001: await rowsOf('A1001'), A1002: await rowsOf('A1002') };
  const found = await console.app.db.query<{ id: bigint }>(
    `select report_id as id from tieout.reports where state = 'written' limit 1`,
  );
  report = String(found.rows[0]?.id);
  for (const account of ['A1001', 'A1002']) {
    await take(console, `${account}.csv`, batchFile(BATCH, { account }));
  }
  const written = await console.app.db.query<{ currency: string; booked: string }>(
    `select min(currency) as currency, min(currency) filter (
       where books @> '{"bridge": [{"item": "in_transit"}]}') as booked
     from tieout.statements where account_id = 'A1002'`,
  );
  [{ currency, booked } = { currency: '', booked: '' }] = written.rows;
});
afterAll(() => console.end());

async function rowsOf(accountId: string): Promise<Rows> {
  const { rows: found } = await console.app.db.query<Record<keyof Rows, string>>(
    `select (select min(break_id)::text from tieout.breaks where account_id = $1) as break,
       (select min(order_no) from ledger.orders where account_id = $1) as order,
       (select min(instruction_id)::text from tieout.instructions
         where account_id = $1 and state = 'held') as instruction`,
    [accountId],
  );
  if (!found[0]?.break || !found[0].instruction) throw new Error(`${accountId} lacks rows`);
  return found[0];
}

/** An address of the route that names rows of the account. */
function addressOf(route: Route, accountId: 'A1001' | 'A1002'): string {
  const mine = rows[accountId];
  const id = route.path.startsWith('/reports')
    ? report
    : route.path.startsWith('/instructions')
      ? mine.instruction
      : mine.break;
  return route.path
    .replace(':date', visitDate())
    .replace(':account', accountId)
    .replace(':batch', BATCH)
    .replace(':orderNo', encodeURIComponent(mine.order))
    .replace(':id', id)
    .concat(QUERIES[route.path.replace(/\.csv$/, '')]?.(accountId) ?? '');
}

/** What an address has to say beside its path, to name anything. */
const QUERIES: Readonly<Record<string, (accountId: string) => string>> = {
  '/settlement/rows': (account) => `?account=${account}&currency=EUR&of=settled`,
  '/nights/:date/statement/lines': (account) =>
    `?account=${account}&currency=${currency}&item=${UNEXPLAINED}`,
  '/nights/:date/statement/books': (account) =>
    `?account=${account}&currency=${booked}&item=in_transit`,
};
/** Whose taking is recorded. */
const TAKEN = /\.csv$|^\/reports\/:id\/file$/;
/** Of a file that was brought: its name is its digest and who brought it, no account. */
const BROUGHT = /\/check$/;

function visitDate(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const GETS = ROUTES.filter(({ method }) => method === 'GET');
const POSTS = ROUTES.filter(({ method }) => method === 'POST');

/** A decision that is refused by its page: nothing is picked, so nothing changes. */
function ask(visitor: Visitor, route: Route, accountId: 'A1001' | 'A1002') {
  const url = addressOf(route, accountId);
  return route.method === 'GET' ? visitor.get(url) : visitor.post(url, {});
}

describe('every route and role (rows 109, 114)', () => {
  it('has an expectation written down', () => {
    expect(ROUTES.map(nameOf).sort()).toEqual(Object.keys(ROUTES_MAY).sort());
  });

  it('shows nothing to somebody who is not signed in', async () => {
    const signedOut = console.signedOut();
    for (const route of ROUTES) {
      const { statusCode, headers, body } = await ask(signedOut, route, 'A1001');
      expect([nameOf(route), statusCode, body]).toEqual([nameOf(route), 303, '']);
      expect(headers.location).toMatch(/^\/sign-in/);
    }
  });

  it.each(ROLES)('lets a %s do what is written down, and no more', async (role: Role) => {
    const visitor = await console.withRole(role);
    const refused: string[] = [];
    for (const route of ROUTES) {
      const { statusCode } = await ask(visitor, route, 'A1001');
      expect(statusCode, nameOf(route)).toBeLessThan(500);
      if (statusCode === 403) refused.push(nameOf(route));
    }
    const forbidden = ROUTES.filter((route) => !may(route).roles.includes(role)).map(nameOf);
    expect(refused.sort()).toEqual(forbidden.sort());
  });

  it('lets nobody in who has no role', async () => {
    const visitor = await console.visitor([]);
    for (const route of ROUTES) {
      expect((await ask(visitor, route, 'A1001')).statusCode, nameOf(route)).toBe(403);
    }
  });

  it.each(ROLES)('shows a %s of one account nothing of another', async (role: Role) => {
    const visitor = await console.withRole(role, 'A1001');
    const both = await console.withRole(role);
    for (const route of GETS.filter((one) => may(one).roles.includes(role))) {
      const foreign = await visitor.get(addressOf(route, 'A1002'));
      const expected = { none: 403, whole: 404, rows: 404, list: 200 }[may(route).ofOther];
      expect(foreign.statusCode, nameOf(route)).toBe(expected);
      if (expected === 404 && !BROUGHT.test(route.path)) {
        // There is such a page: it is the account that hides it.
        const { statusCode } = await both.get(addressOf(route, 'A1002'));
        expect([nameOf(route), statusCode]).toEqual([nameOf(route), 200]);
      }
      for (const secret of Object.values(rows.A1002).filter((id) => /\D/.test(id))) {
        // The address itself may be said back; nothing else of the row may.
        expect(foreign.body.includes(`>${secret}<`), `${nameOf(route)} ${secret}`).toBe(false);
      }
      if (may(route).ofOther === 'list') expect(foreign.body).not.toContain('<td>A1002</td>');
    }
  });

  it('decides nothing of another account, whichever ids a form names', async () => {
    const visitor = await console.visitor(
      ROLES.map((role) => ({ role, accountId: 'A1001' as const })),
    );
    const all = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
    await console.app.db.query('update tieout.sessions set confirmed_at = $1', [console.clock.now]);
    const before = await decided();
    for (const route of POSTS.filter(({ everywhere }) => everywhere !== true)) {
      const { url, fields } = await filledForm(route, all);
      const { statusCode, headers, body } = await visitor.post(url, fields);
      expect(statusCode, nameOf(route)).toBeLessThan(500);
      // It is what he asks for that is refused, not that his password is old.
      expect(String(headers.location), nameOf(route)).not.toContain('/confirm');
      expect(body, nameOf(route)).not.toContain(rows.A1002.order);
    }
    expect(await decided()).toEqual(before);
    // The same forms, by who may: each changes something.
    for (const path of CHANGING) {
      const route = POSTS.find((one) => one.path === path);
      if (route === undefined) throw new Error(`no route ${path}`);
      const was = await decided();
      const { url, fields } = await filledForm(route, all);
      const { statusCode } = await all.post(url, fields);
      expect([path, statusCode < 400]).toEqual([path, true]);
      expect(await decided(), path).not.toEqual(was);
    }
    await all.post('/brake/off', { account: 'A1002', words: 'looked' });
  });

  it('refuses a field that the form does not have (row 114)', async () => {
    const visitor = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
    const before = await decided();
    for (const route of POSTS) {
      const { statusCode } = await visitor.post(addressOf(route, 'A1001'), { state: 'confirmed' });
      expect(statusCode, nameOf(route)).toBe(400);
    }
    expect(await decided()).toEqual(before);
  });
});

/** Of each kind of form one. */
const CHANGING = [
  ...['/breaks/note', '/breaks/all/assign', '/instructions/all/reject'],
  ...['/days/close', '/days/all/lock', '/brake/on'],
];

/** The form of a route about A1002, filled in as the page of who may decide about it has it. */
async function filledForm(route: Route, all: Visitor) {
  const mine = rows.A1002;
  const { path } = route;
  const whom = path === '/breaks/all/assign' ? `&whom=${all.name}` : '';
  const url = path.includes('/all/') ? `${path}?account=A1002${whom}` : path;
  const page = path.includes('/all/')
    ? url
    : path.startsWith('/breaks')
      ? `/breaks/${mine.break}`
      : path.startsWith('/days')
        ? `/days/A1002/${visitDate()}`
        : `/instructions/${mine.instruction}`;
  const { body } = await all.get(page);
  const shown = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1];
  const id = /^.(instructions|approvals)/.test(path) ? mine.instruction : mine.break;
  const values: Record<string, string> = {
    ...FORM,
    ...{ account: 'A1002', owner: 'nobody', note: 'seen' },
    id: shown('id') ?? id,
    seen: shown('seen') ?? '',
  };
  const fields = (route.fields ?? []).flatMap((name) => {
    const value = values[name] ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return { url, fields: Object.fromEntries(fields) as Record<string, string> };
}

/** Something for every field that a decision may need. */
const FORM: Readonly<Record<string, string>> = {
  words: 'because',
  reason: 'because',
  reference: 'portal 1',
  finding: 'happened',
  date: visitDate(),
};

/** What decisions leave behind. */
async function decided(): Promise<Record<string, unknown>> {
  const { rows: found } = await console.app.db.query(
    `select (select jsonb_agg(to_jsonb(b) order by b.break_id) from tieout.breaks b) as breaks,
       (select count(*) from tieout.decisions) as decisions,
       (select count(*) from tieout.brakes) as brakes,
       (select count(*) from tieout.day_events) as days,
       (select jsonb_agg(i.state order by i.instruction_id) from tieout.instructions i) as states`,
  );
  return found[0] ?? {};
}

function may(route: Route) {
  const found = ROUTES_MAY[nameOf(route)];
  if (found === undefined) throw new Error(`${nameOf(route)} has no expectation`);
  return found;
}

describe('the page of the brake', () => {
  it.each(ROLES)('Stop sending stands in the head for a %s where it is allowed', async (role) => {
    const isAllowed = ROUTES_MAY['POST /brake/on']?.roles.includes(role) === true;
    for (const url of ['/', '/breaks', '/settings', '/nowhere']) {
      const { body } = await (await console.withRole(role)).get(url);
      const [head = ''] = /<header.*?<\/header>/s.exec(body) ?? [];
      expect(head.includes('action="/brake/on"'), url).toBe(isAllowed);
      // Who may stop one account is led to the page that asks which; nobody else is.
      const one = (await (await console.withRole(role, 'A1001')).get(url)).body;
      const [ofOne = ''] = /<header.*?<\/header>/s.exec(one) ?? [];
      expect(ofOne.includes('<a class="stop" href="/brake">'), url).toBe(isAllowed);
      expect(ofOne).not.toContain('action="/brake/on"');
    }
  });

  it('counts what is on the way of the accounts of who looks', async () => {
    const plant = (sql: string) =>
      console.app.db.transaction(async (tx) => {
        await tx.query('set local session_replication_role = replica');
        await tx.query(sql);
      });
    await plant(`insert into tieout.batches (run_id, account_id, operation, state, created_at)
      select 1, account, 'refund', 'sending', now() from unnest('{A1002,A9}'::text[]) as account`);
    const told = async (accountId?: string) =>
      /will come to an end: (\d+ batch\w*)\./.exec(
        (await (await console.withRole('viewer', accountId)).get('/brake')).body,
      )?.[1];
    expect(await told('A1001')).toBeUndefined();
    // Who sees all sees those of an account that left, too.
    expect([await told('A1002'), await told()]).toEqual(['1 batch', '2 batches']);
    await plant(`delete from tieout.batches where state = 'sending'`);
  });

  it('says one time of a stop, in the zone of the schedule and with its name', async () => {
    const visitor = await console.withRole('admin');
    await visitor.post('/brake/on', { words: 'look first' });
    const { body } = await visitor.get('/brake');
    const times = [...body.matchAll(/since ([^(;]*?) \(/g)].map(([, time]) => time);
    expect(times.length).toBeGreaterThan(1);
    expect(new Set(times).size).toBe(1);
    expect(times[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
    await visitor.post('/brake/off', { words: 'looked' });
  });
});

describe('a console of another environment than that of the runs', () => {
  async function toEnvironment(name: string): Promise<void> {
    await console.app.db.query('update tieout.runs set environment = $1', [name]);
  }

  it('lets nobody decide anything, and anybody who may stop the sending', async () => {
    await toEnvironment('live');
    try {
      const visitor = await console.withRole('operator');
      expect((await visitor.post('/brake/on', { words: 'look first' })).statusCode).toBe(303);
      for (const [path, fields] of [
        ['/brake/off', { words: 'looked' }],
        ['/instructions/replan', { id: '1', words: 'again' }],
        ['/breaks/note', { id: '1', note: 'seen' }],
      ] as const) {
        const answer = await visitor.post(path, fields);
        expect(answer.statusCode, path).toBe(409);
        expect(answer.body).toContain(
          'environment is test in this configuration, and live in the newest run of this database',
        );
      }
      await toEnvironment('test');
      expect((await visitor.post('/brake/off', { words: 'looked' })).statusCode).toBe(303);
    } finally {
      await toEnvironment('test');
    }
  });
});

describe('the page of jobs', () => {
  it('says what waits in each queue', async () => {
    const visitor = await console.withRole('operator');
    const page = async () => (await visitor.get('/jobs')).body;
    expect(await page()).toContain('Waiting: none. At work: none.');
    const queues = await console.app.queues();
    await queues.enqueue('review', ['1', '2']);
    await queues.enqueue('refund', ['1']);
    expect(await page()).toContain('Waiting: refund 1, review 2. At work: none.');
  });

  it('stands alone: the queue has no page of its own', async () => {
    const visitor = await console.withRole('operator');
    expect((await visitor.get('/board/')).statusCode).toBe(404);
    expect((await visitor.get('/board/api/queues')).statusCode).toBe(404);
  });
});

describe('forms (row 106)', () => {
  const own = [
    '/sign-in',
    '/sign-out',
    '/confirm',
    '/password',
    '/password/sessions',
    `/welcome/${'a'.repeat(43)}`,
  ];

  it('are refused without a token, with a foreign one, and from another site', async () => {
    const visitor = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
    const token = await visitor.token();
    const other = await console.signedOut().token();
    const before = await decided();
    for (const url of [...POSTS.map((route) => addressOf(route, 'A1001')), ...own]) {
      const host = 'localhost:80';
      const tries = [
        await visitor.raw(url, {}),
        await visitor.raw(url, { _csrf: other }),
        await visitor.raw(url, { _csrf: token }, { host, origin: 'https://evil.example' }),
        await visitor.raw(url, { _csrf: token }, { host, origin: 'null' }),
        await visitor.raw(url, { _csrf: token }, { 'sec-fetch-site': 'cross-site' }),
      ];
      expect([url, ...tries.map(({ statusCode }) => statusCode)]).toEqual([url, ...FORBIDDEN]);
    }
    expect(await decided()).toEqual(before);
    expect((await visitor.get('/')).statusCode).toBe(200);
  });

  it('change nothing when their address is only opened', async () => {
    const visitor = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
    const before = await rowCounts(console.app.db);
    for (const route of ROUTES) {
      const url = addressOf(route, 'A1001');
      if (!TAKEN.test(route.path)) await visitor.get(`${url}?id=${rows.A1001.break}`);
    }
    expect(await rowCounts(console.app.db)).toEqual(before);
  });
});

const FORBIDDEN = [403, 403, 403, 403, 403];
