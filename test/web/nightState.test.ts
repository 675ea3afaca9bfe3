// What the console calls a night is what terminal, message and workbook call it, also where the
// night is worse than each of its accounts; who may see one account is told of no other.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueReports } from '../../src/report/reportsStore.js';
import { dateOf, kinds } from '../support/night.js';
import type { ConsoleHouse, Visitor } from './consoleHouse.js';
import { openConsole } from './consoleHouse.js';

let console: ConsoleHouse;
let everywhere: Visitor;
let ofOne: Visitor;
const ofEach = ['A1001', 'A1002'].map((account) => kinds({ capture_due: 1 }, account));
/** Accounts of which the gateway answers no page. */
let away: string[] = [];

beforeAll(async () => {
  console = await openConsole({
    orders: 900,
    inLedger: (order) => ofEach.some((isWanted) => isWanted(order)),
    fault: ({ operation, body }) =>
      operation === 'retrievalTrans' && away.some((account) => body.includes(account))
        ? { kind: 'status', status: 503, when: 'before' }
        : null,
  });
  everywhere = await console.withRole('viewer');
  ofOne = await console.withRole('viewer', 'A1001');
}, 120_000);
afterAll(() => console.end());

const again = () => console.house.run({ date: dateOf(1) });

/** Heading, sentence and notices of the first page, as a person reads them. */
async function told(visitor: Visitor): Promise<string> {
  const { body } = await visitor.get('/');
  return body.slice(body.indexOf('<h1>'), body.indexOf('<h2')).replaceAll(/<[^>]*>/g, '');
}

/** The marks of the strip of nights, the newest last. */
async function marks(visitor: Visitor): Promise<string[]> {
  const { body } = await visitor.get('/');
  const at = body.indexOf('id="history"');
  return [...body.slice(at).matchAll(/<title>([^<]*)</g)].map(([, title = '']) => title);
}

const eventOf = (event: string, from: string | null = null) =>
  `insert into tieout.break_events (break_id, at, event, by, expected, actual, from_state)
   select break_id, now(), '${event}', 'tieout', '{}', '{}', ${from} from opened`;

test('a night that ended with no break open is one that has ended, with none', async () => {
  const { body } = await everywhere.get('/');
  expect(body).toContain(`0 open at the end of ${dateOf(1)}, the first night`);
  expect(await marks(everywhere)).toEqual([`${dateOf(1)}: tied out, 0 open`]);
});

test('a night that is incomplete for an account that left the configuration', async () => {
  await console.house.db.query(
    `with opened as (
       insert into tieout.breaks (account_id, order_no, kind, state, first_seen, first_run_id,
         last_run_id, expected, actual, fingerprint)
       select 'A1003', 'left', 'missing_at_gateway', 'open', now(), run_id, run_id, '{}', '{}', 'f'
       from (select max(run_id) as run_id from tieout.runs) r returning break_id)
     ${eventOf('opened')}`,
  );
  const { summary } = await again();
  expect(summary.state).toBe('incomplete');
  expect(await told(everywhere)).toMatch(
    /^Run of \S+ incomplete.* is incomplete: .*A1003 left the configuration.*A1003: the account/s,
  );
  expect((await marks(everywhere)).at(-1)).toContain('incomplete');
  expect(await told(ofOne)).toMatch(/ tied out: .*no open difference/);
  expect(await told(ofOne)).not.toContain('A1003');
  // What it left stands in the table of the night, which adds up to what is open in all.
  const row = /<th scope="row">A1003<\/th>.*?<a href="\/breaks\?account=A1003">1<\/a>/s;
  expect((await everywhere.get('/')).body).toMatch(row);
  const own = await everywhere.get(`/nights/${dateOf(1)}?account=A1003`);
  expect([own.statusCode, own.body]).toEqual([200, expect.stringContaining(': account A1003')]);
  expect((await ofOne.get(`/nights/${dateOf(1)}`)).body).not.toContain('A1003');
  expect((await ofOne.get(`/nights/${dateOf(1)}?account=A1003`)).body).toContain(
    'no account to choose here',
  );
  await console.house.db.query(
    `with opened as (update tieout.breaks set state = 'resolved' where state = 'open'
       returning break_id)
     ${eventOf('resolved', `'open'`)}`,
  );
});

test('a night with money that no line of the statement explains', async () => {
  await console.house.db.query(
    `create function public.plant() returns trigger language plpgsql as $$
     begin new.unexplained_captured = 5.00; return new; end $$;
     create trigger plant before insert on tieout.statements
     for each row execute function public.plant()`,
  );
  const { summary } = await again();
  expect(summary.state).toBe('broken');
  for (const visitor of [everywhere, ofOne]) {
    expect(await told(visitor)).toMatch(/did not tie out: .*unexplained money of A1001 in [A-Z]+/s);
  }
  const { body } = await everywhere.get(`/days/A1001/${dateOf(1)}`);
  expect(body).toMatch(/the night did not tie out/);
  await console.house.db.query('drop trigger plant on tieout.statements');
});

test('pages that failed are counted of the accounts that the reader may see', async () => {
  away = ['A1002'];
  const { summary } = await again();
  expect(summary.state).toBe('incomplete');
  expect(summary.pull.failedPages).toBeGreaterThan(0);
  // As if something of the other account were still open too.
  await console.house.db.query(
    `update tieout.run_accounts set state = 'incomplete' where account_id = 'A1001'`,
  );
  expect(await told(everywhere)).toMatch(/incomplete: .*pages? failed/s);
  expect(await told(ofOne)).toMatch(/ is incomplete: something of it is still open/);
  away = [];
});

test('a night that is broken by a request of an account that nobody configured', async () => {
  await console.house.db.query(
    `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount,
       requested_at) values ('A9', 'R9', 'nobody', 1, now())`,
  );
  const { summary } = await again();
  expect(summary.state).toBe('broken');
  expect(await told(everywhere)).toMatch(
    /did not tie out: none of 2 orders differs, with 1 open break/,
  );
  expect((await marks(everywhere)).at(-1)).toContain('did not tie out');
  expect(await told(ofOne)).toMatch(/ tied out: /);
  expect(await told(ofOne)).not.toContain('A9');
});

test('why a night failed is not told to who sees one account of it: it may name another', async () => {
  const words = 'account A1002 does not tie: open breaks should come to 12,345.00 EUR';
  await console.house.db.query(
    `update tieout.runs set state = 'failed', failure = $1, summary = null
     where run_id = (select max(run_id) from tieout.runs where not is_dry)`,
    [words],
  );
  expect(await told(everywhere)).toContain(words);
  expect(await told(ofOne)).toMatch(
    /The night failed: why is shown to whoever sees all of its acc/,
  );
  expect(await told(ofOne)).not.toContain('A1002');
});

test('steps are done once the report is being written, also where nothing was sent', async () => {
  const { db } = console.house;
  const { rows } = await db.query<{ run: bigint }>('select max(run_id) as run from tieout.runs');
  const run = rows[0]?.run ?? 0n;
  // As if it had sent nothing, and nothing were looked at again.
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const change of [
      `update tieout.pulls set kind = 'fresh' where run_id = $1 and kind = 'confirm'`,
      `update tieout.runs set state = 'running', runner_id = gen_random_uuid() where run_id = $1`,
    ]) {
      await tx.query(change, [run]);
    }
  });
  await queueReports(db, run, ['reconciliation'], console.clock.now);
  const { body } = await everywhere.get('/');
  const steps = /<ol class="steps">.*?<\/ol>/s.exec(body)?.[0].replaceAll(/<[^>]*>/g, ' ');
  expect(steps).toMatch(/Send: done.*Confirm: done.*Report: under way/);
});
