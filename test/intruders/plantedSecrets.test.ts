// Secrets planted in a configuration and a ledger, then a night, its console and every command that
// reads: in nothing that any of it writes is one of them to be found, however it is spelled there.

import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROLES } from '../../src/core/access.js';
import { ROUTES } from '../../src/web/routes.js';
import { openReceiver, type Receiver } from '../alerts/receiver.js';
import { readPlainly } from '../reports/plainReader.js';
import { tieoutHere } from '../support/cliHere.js';
import { queueRows } from '../web/artefacts.js';
import type { ConsoleHouse, Visitor } from '../web/consoleHouse.js';
import { openConsole, PASSWORD, shownBreak } from '../web/consoleHouse.js';

const planted = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`;
/** No real one; its check digit is right. */
const CARD = '4111111111111111';
const SECRETS = {
  databasePassword: planted('db/p@ss#'),
  webhookPath: planted('hook'),
  webhookKey: planted('hookkey'),
  deadMansPath: planted('ping'),
  metricsToken: planted('metrics'),
  notifySecret: planted('notify'),
  previousKey: planted('oldkey'),
  passwordAsName: planted('Kiesel'),
};
/** Every command that reads, as people and programs ask for it. */
const COMMANDS: readonly (readonly string[])[] = [
  ...[['status'], ['runs', 'list'], ['runs', 'show', 'DATE'], ['breaks', 'list'], ['doctor']],
  ...[
    ['order', 'ACCOUNT', 'ORDER'],
    ['breaks', 'show', 'BREAK'],
    ['instructions', 'list'],
  ],
  ...[['instructions', 'show', 'INSTRUCTION'], ['jobs', 'list'], ['brake', 'status'], ['days']],
  ...[
    ['instructions', 'approve', 'INSTRUCTION', '--check'],
    ['instructions', 'reject', 'INSTRUCTION', '--check', '--reason', 'none'],
  ],
  ...[['authorisations'], ['retention'], ['verify'], ['verify', 'DATE'], ['users'], ['settlement']],
  ...[
    ['migrate', 'status'],
    ['export', 'outcomes'],
    ['redact', '--check'],
  ],
];

/** Of these the words are more than the document in lines. */
const IN_WORDS = new Set(['order', 'doctor', 'status', 'instructions']);

let receiver: Receiver;
let console: ConsoleHouse;
let all: Visitor;
/** What was written, by where. */
const written: [where: string, text: string][] = [];

beforeAll(async () => {
  receiver = await openReceiver();
  const { address } = receiver;
  console = await openConsole({
    settings: {
      operations: { capture: 'approve', cancel: 'auto', refund: 'auto', review: 'auto' },
      web: {
        metricsToken: SECRETS.metricsToken,
        notifications: { secret: SECRETS.notifySecret },
      },
      notify: {
        ...{ webhook: `${address}/${SECRETS.webhookPath}`, webhookKey: SECRETS.webhookKey },
        ...{ deadMansSwitch: `${address}/${SECRETS.deadMansPath}`, security: true },
      },
    },
    before: async ({ file, db }) => {
      const settings = parse(readFileSync(file, 'utf8')) as {
        database: { url: string };
        accounts: { previousSigningKey?: string }[];
      };
      const url = new URL(settings.database.url);
      url.password = encodeURIComponent(SECRETS.databasePassword);
      settings.database.url = url.href;
      for (const account of settings.accounts) account.previousSigningKey = SECRETS.previousKey;
      writeFileSync(file, JSON.stringify(settings));
      await db.query(
        `update ledger.refund_requests
         set reason = 'back to card ${CARD}', requested_by = 'clerk ${CARD}'`,
      );
    },
  });
  all = await console.visitor(ROLES.map((role) => ({ role, accountId: null })));
});
afterAll(async () => {
  await console.end();
  await receiver.close();
});

const cli = (...words: string[]) => tieoutHere(words, { cwd: console.house.folder });
const keep = (where: string, ...texts: string[]): void => {
  for (const text of texts) written.push([where, text]);
};

/** What the words in capitals stand for here. */
async function ids(): Promise<Record<string, string>> {
  const { rows } = await console.app.db.query<Record<string, string>>(
    `select (select min(break_id)::text from tieout.breaks) as "BREAK",
       i.account_id as "ACCOUNT", i.order_no as "ORDER", i.instruction_id::text as "INSTRUCTION",
       (select max(business_date)::text from tieout.runs) as "DATE",
       (select min(report_id)::text from tieout.reports) as "REPORT"
     from tieout.instructions i where i.operation = 'refund' order by i.instruction_id limit 1`,
  );
  return rows[0] ?? {};
}

test('every command that reads, in words and as a document', async () => {
  const known = await ids();
  for (const command of COMMANDS) {
    const words = command.map((word) => known[word] ?? word);
    const forms = IN_WORDS.has(command[0] ?? '') ? [[], ['--json']] : [['--json']];
    for (const form of forms) {
      const { stdout, stderr } = await cli(...words, ...form);
      expect(stdout + stderr, words.join(' ')).not.toBe('');
      keep(`tieout ${words.join(' ')} ${form.join('')}`, stdout, stderr);
    }
  }
}, 180_000);

test('commands that fail, and say why', async () => {
  const { folder, file } = console.house;
  const good = readFileSync(file, 'utf8');
  const settings = parse(good) as { database: { url: string } };
  const away = new URL(settings.database.url);
  away.searchParams.set('host', '/nowhere');
  const broken = {
    away: good.replace(settings.database.url, away.href),
    unknown: good.replace('"webhookKey"', '"webhookKye"'),
    torn: good.slice(0, -3),
    scheme: good.replace(/"postgres:/, '"psql:'),
  };
  for (const [name, text] of Object.entries(broken)) {
    writeFileSync(join(folder, `${name}.yaml`), text, { mode: 0o600 });
    for (const command of [['status'], ['doctor', '--json']]) {
      const { code, stdout, stderr } = await cli(...command, '--config', `${name}.yaml`);
      expect([name, code]).not.toEqual([name, 0]);
      keep(`${command[0]} with ${name}.yaml`, stdout, stderr);
    }
  }
  const lines = [
    'account_id,refund_id,order_no,refund_amount,reason,requested_by,requested_at',
    `A1001,R-${CARD.slice(0, 3)},NONE,1.00,to ${CARD},${CARD},2026-11-20T00:00:00Z`,
    `A1001,R-2,NONE,much,to ${CARD},anna,2026-11-20T00:00:00Z`,
  ];
  writeFileSync(join(folder, 'given.csv'), `${lines.join('\n')}\n`);
  for (const check of [[], ['--check']]) {
    const { stdout, stderr } = await cli('import', 'refunds', 'given.csv', ...check);
    keep('import', stdout, stderr);
  }
  writeFileSync(join(folder, 'given.csv'), `${lines.slice(0, 2).join('\n')}\n`);
  const taken = await cli('import', 'refunds', 'given.csv');
  expect(taken.code, taken.stderr).toBe(0);
  const { rows } = await console.house.db.query<{ by: string; reason: string }>(
    `select requested_by as by, reason from ledger.refund_requests where refund_id = 'R-411'`,
  );
  expect(rows).toHaveLength(1);
  keep('what was imported', ...rows.map(({ by, reason }) => `${by} ${reason}`));
});

test('every page, also of who is not signed in, with notes and reasons of people', async () => {
  const known = await ids();
  const places: Record<string, string> = {
    ...{ account: known.ACCOUNT ?? '', orderNo: known.ORDER ?? '', date: known.DATE ?? '' },
    batch: 'none',
  };
  const { BREAK = '', INSTRUCTION = '', REPORT = '' } = known;
  const noted = { id: await shownBreak(all, BREAK), note: `card ${CARD}` };
  expect((await all.post('/breaks/note', noted)).statusCode).toBe(200);
  await all.post('/breaks/assign', { id: BREAK, owner: `card ${CARD}` });
  await all.post('/brake/on', { account: '', reason: `card ${CARD}` });
  await all.post('/brake/off', { account: '', reason: `card ${CARD}` });
  await all.post('/sign-in', { name: CARD, password: PASSWORD, next: '/' });
  const stranger = console.signedOut();
  await stranger.post('/sign-in', { name: SECRETS.passwordAsName, password: '', next: '/' });
  for (const { method, path } of ROUTES) {
    if (method !== 'GET') continue;
    const id = path.startsWith('/instr') ? INSTRUCTION : path.startsWith('/rep') ? REPORT : BREAK;
    const url = path.replace(/:(\w+)/g, (_all, name: string) => places[name] ?? id);
    for (const who of [all, stranger]) {
      const answer = await who.get(url);
      expect([url, answer.statusCode < 500]).toEqual([url, true]);
      const { 'set-cookie': _cookies, ...headers } = answer.headers;
      keep(`page ${url}`, answer.body, JSON.stringify(headers));
    }
  }
  const token = { authorization: `Bearer ${SECRETS.metricsToken}` };
  for (const url of ['/metrics', '/healthz', '/readyz', `/${SECRETS.notifySecret}`]) {
    const { body } = await stranger.get(url, token);
    // What a browser asked for it knows itself.
    keep(`page ${url}`, body.replaceAll(url, ''));
  }
});

test('a backup, reports in every format, the log, the queue, what is told outside', async () => {
  const { house, lines } = console;
  const { DATE = '' } = await ids();
  const backup = await cli('backup', 'saved');
  expect(backup.code, backup.stderr).toBe(0);
  for (const format of ['csv', 'ndjson', 'xlsx']) {
    const kind = format === 'xlsx' ? 'reconciliation' : 'waiting';
    const words = ['--kind', kind, '--format', format, '--out', format];
    const { code, stdout, stderr } = await cli('report', DATE, ...words);
    expect(code, stderr).toBe(0);
    keep(`report ${format}`, stdout, stderr);
  }
  const night = await cli('run', '--json');
  keep('a second run', night.stdout, night.stderr, backup.stdout, backup.stderr);
  keep('log', ...house.lines, ...lines);
  keep('queue', ...(await queueRows(house)));
  expect(receiver.told.length).toBeGreaterThan(0);
  for (const { headers, body } of receiver.told) keep('webhook', JSON.stringify(headers), body);
  const given = new Set([
    'given.csv',
    ...readdirSync(house.folder).filter((one) => /yaml$/.test(one)),
  ]);
  for (const name of readdirSync(house.folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(house.folder, name);
    if (given.has(name) || !lstatSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    if (name.endsWith('.xlsx')) keep(name, ...(await readPlainly(path)).parts.values());
    else keep(name, (isPacked ? gunzipSync(bytes) : bytes).toString('latin1'));
  }
});

test('none of it stands in any of that, nor in a table of ours', async () => {
  const { rows: tables } = await console.app.db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname = 'tieout'`,
  );
  for (const { name } of tables) {
    const { rows } = await console.house.db.query<{ row: string }>(
      `select t::text as row from ${name} t`,
    );
    keep(`table ${name}`, ...rows.map(({ row }) => row));
  }
  const cookie = all.cookies['tieout-session'] ?? '';
  expect(cookie.length).toBeGreaterThan(20);
  const keys = console.app.config.accounts.map(({ signingKey }) => signingKey);
  const secrets = { ...SECRETS, cookie, card: CARD, password: PASSWORD, keyA: keys[0] ?? '' };
  const found = new Set<string>();
  for (const [name, secret] of Object.entries(secrets)) {
    const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
    const packed = [Buffer.from(secret).toString('base64').slice(0, -4)];
    for (const [where, text] of written) {
      // What the shop's own table says is the shop's, in a backup of it, too.
      if (name === 'card' && /^saved.ledger\./.test(where)) continue;
      if ([...forms, ...packed].some((one) => text.includes(one))) found.add(`${name}: ${where}`);
    }
  }
  expect(written.length).toBeGreaterThan(500);
  expect([...found]).toEqual([]);
});
