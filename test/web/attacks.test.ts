// What an attacker would try on the console: markup in every free text, paths, statements, lines for
// the log, frames, foreign hosts, secrets on pages, insides in errors. Rows 108, 110, 111 and 115 to
// 118 of the list of faults.

import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES } from '../../src/core/access.js';
import { sayBrake } from '../../src/send/batches/sendingStatusStore.js';
import { ROUTES } from '../../src/web/routes.js';
import { download, everyFile, queueRows } from './artefacts.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole, shownBreak } from './consoleHouse.js';

const MARKUP = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;
const RAW_MARKUP = /<img src=x|<script>alert/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

const LARGE_BYTES = 100_000_000;
/** No real one; its check digit is right. */
const CARD = '4111111111111111';
const METRICS_TOKEN = 'a-token-of-the-monitor';

let console: ConsoleHouse;
let all: Visitor;

beforeAll(async () => {
  console = await openConsole({
    settings: { web: { metricsToken: METRICS_TOKEN } },
    // A card number where a shop's own people may well write one.
    before: async ({ db }) => {
      await db.query(`update ledger.refund_requests set reason = 'back to card ${CARD}'`);
    },
  });
  all = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
});
afterAll(() => console.end());

async function firstBreak(): Promise<{ id: bigint; account: string; order: string }> {
  const { rows } = await console.app.db.query<{ id: bigint; account: string; order: string }>(
    `select break_id as id, account_id as account, order_no as order from tieout.breaks
     order by break_id limit 1`,
  );
  if (!rows[0]) throw new Error('the night has no break');
  return rows[0];
}

describe('markup in free text (row 110)', () => {
  it('stays text wherever it is shown', async () => {
    const { db } = console.app;
    const { id, account, order } = await firstBreak();
    const orderNo = `XSS-${MARKUP}`;
    await all.post('/breaks/note', { id: await shownBreak(all, id), note: MARKUP });
    // As the command line may say it; the console takes only who is on its list.
    await db.query('update tieout.breaks set owner = $2 where break_id = $1', [id, MARKUP]);
    await db.query(
      `insert into ledger.orders (account_id, order_no, currency, amount, expected, placed_at)
       values ($1, $2, 'EUR', 5, 'captured', now())`,
      [account, orderNo],
    );
    await db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
         requested_by, requested_at) values ($1, $2, $2, 1, $2, $2, now())`,
      [account, orderNo],
    );
    await console.signedOut().post('/sign-in', { name: MARKUP, password: MARKUP });
    const pages = [
      ...['/', '/breaks', `/breaks/${id}`, '/reports', '/jobs', '/activity', '/settings'],
      `/breaks?text=${encodeURIComponent(MARKUP)}&owner=${encodeURIComponent(MARKUP)}`,
      `/search?q=${encodeURIComponent(MARKUP)}`,
      `/orders/${account}/${encodeURIComponent(order)}`,
      `/orders/${account}/${encodeURIComponent(orderNo)}`,
      `/sign-in?next=${encodeURIComponent(MARKUP)}`,
    ];
    for (const url of pages) {
      const { body, statusCode } = await all.get(url);
      expect([url, statusCode]).toEqual([url, 200]);
      expect(RAW_MARKUP.test(body), url).toBe(false);
    }
    const shown = await all.get(`/breaks/${id}`);
    expect(shown.body).toContain('&lt;img src=x onerror=alert(1)>');
    expect((await all.get(`/orders/${account}/${encodeURIComponent(orderNo)}`)).body).toContain(
      'XSS-&lt;img',
    );
  });

  it('and no page holds a script or a style of its own', async () => {
    for (const route of ROUTES.filter(({ method, path }) => method === 'GET' && !/:/.test(path))) {
      const { body, headers } = await all.get(route.path);
      const tags = body.replaceAll(/"[^"]*"/g, '""');
      expect(tags, route.path).not.toMatch(/<script(?! src=)|<style|<[^>]*\s(style|on\w+)=/i);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*|data:/);
    }
  });
});

describe('paths (row 108)', () => {
  it.each([
    '../../../etc/passwd',
    '..%2f..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '1%00.xlsx',
    '..\\..\\windows',
    '99999999999999999999',
    '-1',
  ])('a report is a number, not %s', async (id) => {
    const { statusCode, body } = await all.get(`/reports/${id}/file`);
    expect(statusCode).toBe(404);
    expect(body).not.toContain('root:');
  });

  it.each(['%00', 'a%00b'])('no order has the name %s', async (name) => {
    expect((await all.get(`/orders/A1001/${name}`)).statusCode).toBe(404);
  });

  it('a row that names a file elsewhere, or a link to one, is not followed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tieout-elsewhere-'));
    const secret = join(folder, 'secret.xlsx');
    writeFileSync(secret, 'not for you');
    const link = join(console.app.config.reports.dir, 'link.xlsx');
    symlinkSync(secret, link);
    for (const [path, revision] of [
      [secret, 801],
      [link, 802],
    ] as const) {
      const { rows } = await console.app.db.query<{ id: bigint }>(
        `insert into tieout.reports (run_id, kind, format, revision, state, created_at,
           written_at, path, sha256, bytes)
         select run_id, 'orders', 'xlsx', $2, 'written', now(), now(), $1, 'x', 11
         from tieout.runs limit 1 returning report_id as id`,
        [path, revision],
      );
      const answer = await all.get(`/reports/${rows[0]?.id}/file`);
      expect([answer.statusCode, answer.body.includes('not for you')]).toEqual([404, false]);
    }
  });

  it('a file that another host wrote, into a folder of its own, is said to be there', async () => {
    const { rows } = await console.app.db.query<{ id: bigint }>(
      `insert into tieout.reports (run_id, kind, format, revision, state, created_at,
         written_at, path, sha256, bytes, host)
       select run_id, 'orders', 'xlsx', 803, 'written', now(), now(), '/none/w.xlsx', 'x', 11, 'w2'
       from tieout.runs limit 1 returning report_id as id`,
    );
    const { statusCode, body } = await all.get(`/reports/${rows[0]?.id}/file`);
    expect([statusCode, body.includes('It was written on host w2')]).toEqual([404, true]);
  });

  it('a workbook comes whole, and who took it is on record', async () => {
    const { rows } = await console.app.db.query<{ id: bigint; sha256: string }>(
      `select report_id as id, sha256 from tieout.reports
       where state = 'written' and kind = 'reconciliation' limit 1`,
    );
    const { rawPayload, headers } = await all.get(`/reports/${rows[0]?.id}/file`);
    const { createHash } = await import('node:crypto');
    expect(createHash('sha256').update(rawPayload).digest('hex')).toBe(rows[0]?.sha256);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="[\w.-]+\.xlsx"$/);
    const { body } = await all.get('/reports');
    expect(body).toContain(all.name);
  });
});

describe('a large report', () => {
  it('streams: it is never in memory whole, here with whoever takes it', async () => {
    const { taken, grown } = await download(console, all, LARGE_BYTES);
    expect(taken).toBe(LARGE_BYTES);
    expect(grown).toBeLessThan(LARGE_BYTES * 0.8);
  });
});

describe('statements (row 115)', () => {
  const PAYLOADS = [
    "' or 1=1 --",
    "'; drop table tieout.breaks; --",
    '1) union select password_hash from tieout.users --',
    '\\',
    '%',
    '\u0000',
    '$1',
    '{jndi:x}',
  ];

  it.each(PAYLOADS)('in a filter are only text: %j', async (payload) => {
    const before = (await all.get('/breaks?state=any')).body.length;
    for (const name of ['account', 'kind', 'currency', 'owner', 'from', 'text', 'sort', 'page']) {
      const url = `/breaks?${new URLSearchParams({ [name]: payload, state: 'any' })}`;
      const { statusCode, body } = await all.get(url);
      expect([name, statusCode]).toEqual([name, 200]);
      expect(body).not.toMatch(/scrypt|syntax error/);
    }
    expect((await all.get(`/search?q=${encodeURIComponent(payload)}`)).statusCode).toBe(200);
    expect((await all.get('/breaks?state=any')).body.length).toBe(before);
  });
});

describe('the log (row 116)', () => {
  it('gets no line and no colour from outside', async () => {
    const name = 'eve\r\n2026-11-20T00:00:00Z everything is fine \u001b[2K\u2028';
    await console.signedOut().post('/sign-in', { name, password: 'x' });
    const odd = await console.visitor([], 'oddly.named');
    await odd.get(`/breaks?text=${encodeURIComponent(name)}`);
    await all.get(`/nothing/${encodeURIComponent(name)}`);
    expect(console.lines.length).toBeGreaterThan(0);
    expect(console.lines.filter((line) => CONTROL.test(line))).toEqual([]);
  });
});

describe('the wire (row 116)', () => {
  it('forbids frames, sniffing and keeping', async () => {
    const { headers } = await all.get('/');
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('believes no host that a request names', async () => {
    const { body, headers } = await all.get('/breaks', { host: 'evil.example' });
    expect(`${body}${JSON.stringify(headers)}`).not.toContain('evil.example');
  });

  it('names style and script by what is in them, so that an update is seen at once', async () => {
    const { body } = await console.signedOut().get('/sign-in');
    const paths = [...body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(paths).toHaveLength(3);
    for (const path of paths) {
      const { statusCode, headers } = await console.signedOut().get(path);
      expect([statusCode, headers.etag]).toEqual([200, `"${path.split('?v=')[1]}"`]);
    }
  });

  it('takes no large form, no other method, no other type', async () => {
    const token = await all.token();
    const large = await all.raw('/breaks/note', { _csrf: token, note: 'x'.repeat(70_000) });
    expect(large.statusCode).toBe(413);
    const json = await console.server.inject({
      method: 'POST',
      url: '/breaks/note',
      cookies: all.cookies,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ _csrf: token, id: 1, words: 'x' }),
    });
    expect(json.statusCode).toBe(415);
    const put = await console.server.inject({ method: 'PUT', url: '/breaks' });
    expect(put.statusCode).toBe(404);
  });

  it('has neither link nor page of settlement where nothing of it is kept', async () => {
    expect((await all.get('/')).body).not.toContain('href="/settlement"');
    for (const route of ROUTES.filter(({ path }) => path.startsWith('/settlement'))) {
      const url = route.path.replace(':account', 'A1001').replace(':batch', '134');
      const { statusCode } = route.method === 'GET' ? await all.get(url) : await all.post(url, {});
      expect([url, statusCode]).toEqual([url, 404]);
    }
  });

  it('has no field by which the gateway or the webhook could be moved (row 111)', () => {
    const fields = ROUTES.flatMap((route) => route.fields ?? []);
    expect(fields.filter((name) => /url|host|address|webhook|path|file/i.test(name))).toEqual([]);
  });
});

describe('secrets and insides (rows 117, 118)', () => {
  it('a planted card number and the keys stand in no log, job, report or journal', async () => {
    const { house, app, lines } = console;
    expect((await all.get('/approvals')).body).not.toContain(CARD);
    const found = [...house.lines, ...lines, ...(await queueRows(house))];
    const text = [...found, ...(await everyFile(house))].join('\n');
    expect(text.length).toBeGreaterThan(100_000);
    const secrets = [CARD, METRICS_TOKEN, all.cookies['tieout-session'] ?? 'none'];
    const keys = app.config.accounts.map(({ signingKey }) => signingKey);
    for (const secret of [...secrets, ...keys]) expect(text.includes(secret)).toBe(false);
  });

  it('stand on no page', async () => {
    const { accounts } = console.app.config;
    for (const url of ['/settings', '/', '/activity']) {
      const { body } = await all.get(url);
      for (const { signingKey } of accounts) expect(body).not.toContain(signingKey);
      expect(body).not.toMatch(/scrypt\$|tieout-session|postgres:\/\/\w+:[^*]/);
    }
    expect((await all.get('/settings')).body).toContain('***');
  });

  it('a card number in a note is masked where it is shown', async () => {
    const { id } = await firstBreak();
    const note = 'paid with 4111 1111 1111 1111';
    await all.post('/breaks/note', { id: await shownBreak(all, id), note });
    for (const url of [`/breaks/${id}`, '/breaks']) {
      const { body } = await all.get(url);
      expect(body).not.toContain('4111 1111 1111 1111');
    }
  });

  it('an error shows a number, and the log has it; no statement, no path, no stack', async () => {
    const { db } = console.app;
    await db.query('alter table tieout.breaks rename to breaks_away');
    try {
      const { statusCode, body } = await all.get('/breaks');
      expect(statusCode).toBe(500);
      expect(body).not.toMatch(/relation|select|\.ts|\.js:|node_modules|\bat \w+ \(/);
      const number = /under ([0-9a-f]{8})/.exec(body)?.[1] ?? 'none';
      expect(console.lines.some((line) => line.includes(number))).toBe(true);
    } finally {
      await db.query('alter table tieout.breaks_away rename to breaks');
    }
  });

  it('and without signing in there is nothing but a sign of life', async () => {
    const signedOut = console.signedOut();
    const { body } = await signedOut.get('/healthz');
    expect(body).toBe('ok\n');
    expect((await signedOut.get('/readyz')).body).toBe('ready\n');
    const headers: Record<string, string>[] = [
      {},
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${METRICS_TOKEN.slice(1)}` },
      { authorization: `Bearer ${METRICS_TOKEN} x` },
      { authorization: `Basic ${METRICS_TOKEN}` },
      { host: 'localhost', 'x-forwarded-for': '127.0.0.1' },
    ];
    for (const header of headers) {
      const { statusCode, body } = await signedOut.get('/metrics', header);
      expect([statusCode, body]).toEqual([401, expect.not.stringContaining('tieout_')]);
    }
    const ofOneAccount = await console.withRole('admin', 'A1001');
    expect((await ofOneAccount.get('/metrics')).statusCode).toBe(401);
  });
});

describe('metrics', () => {
  const read = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const { statusCode, body } = await console.signedOut().get('/metrics', headers);
    expect(statusCode).toBe(200);
    return body;
  };

  it('tell a monitor, and whoever is signed in, how the newest night went', async () => {
    const { db } = console.app;
    await sayBrake(db, {
      ...{ kind: 'brake', accountId: 'A1002', isOn: true },
      ...{ reason: 'secret words', who: { name: 'ops', isClaim: true } },
    });
    const { rows } = await db.query<{ line: string }>(
      `select format('tieout_open_breaks{account="%s",kind="%s"} %s', account_id, kind, count(*))
         as line from tieout.breaks where state = 'open' group by account_id, kind`,
    );
    const text = await read();
    expect(rows.length).toBeGreaterThan(1);
    for (const { line } of rows) expect(text).toContain(line);
    for (const line of [
      `tieout_info{version="${console.app.version}",environment="test"} 1`,
      'tieout_database_up 1',
      'tieout_queue_up 1',
      'tieout_run_failed_pages 0',
      'tieout_sending_stopped{account="A1002",why="brake"} 1',
      'tieout_queue_jobs{queue="capture",state="failed"} 0',
      'tieout_alerts{state="waiting"} 0',
      'tieout_night_late 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toMatch(/^tieout_run_state\{state="(broken|incomplete)"\} 1$/m);
    expect(text).toMatch(/^tieout_run_orders \d+$/m);
    expect(text).toMatch(/^tieout_run_finished_timestamp_seconds \d{10}(\.\d+)?$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    // Nothing to say is not said as a time long ago.
    expect(text).not.toMatch(/^tieout_alerts_oldest_waiting_timestamp_seconds \d/m);
    expect(text).not.toContain('secret words');
    expect((await all.get('/metrics')).body).toContain('tieout_run_state');
  });
});
