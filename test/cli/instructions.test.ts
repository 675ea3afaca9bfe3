// `tieout instructions` and `tieout send` as the built program: lists, a sheet, decisions with their
// exit codes, and money that moves only after somebody approved it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended } from '../support/cli.js';
import { tieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

let house: SeparateHouse;
/** As it was built, in a process of its own. */
const built = (...args: string[]): Promise<Ended> => tieout(args, { cwd: house.folder });
const run = (...args: string[]): Promise<Ended> => tieoutHere(args, { cwd: house.folder });
const json = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await run(...args, '--json')).stdout) as T;

interface Listed {
  id: string;
  state: string;
  operation: string;
  accountId: string;
  orderNo: string;
}

beforeAll(async () => {
  const operations = { capture: 'auto', cancel: 'approve', refund: 'approve', review: 'auto' };
  house = await buildSeparateHouse({ orders: 300, seed: 11, settings: { operations } });
  const night = await run('run', '--json');
  expect(night.code, night.stderr).toBe(3);
}, 120_000);
afterAll(() => house.end());

describe('tieout instructions', () => {
  it('lists what waits, in words and as one document', async () => {
    const waiting = await json<Listed[]>('instructions', 'list', '--waiting');
    expect(waiting.length).toBeGreaterThan(1);
    expect(waiting.every((one) => one.state === 'held')).toBe(true);
    const words = await built('instructions', 'list', '--state', 'held', '--operation', 'cancel');
    expect(words.code, words.stderr).toBe(0);
    expect(words.stdout).toContain('the operation needs approval');
    expect((await run('instructions', 'list', '--state', 'hold')).code).toBe(2);
  });

  it('lists the most urgent first, and says how many more there are', async () => {
    const all = await json<Listed[]>('instructions', 'list', '--limit', '10000');
    const held = all.findIndex(({ state }) => state === 'held');
    const settled = all.findIndex(({ state }) => state === 'confirmed');
    expect(held).toBe(0);
    expect(settled).toBeGreaterThan(held);
    expect(all.slice(settled).some(({ state }) => state === 'held')).toBe(false);
    const numbers = all.slice(settled).map(({ id }) => Number(id));
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    const part = await run('instructions', 'list', '--limit', '2', '--offset', '1');
    expect(part.stdout).toContain(`... and ${all.length - 3} more`);
    expect(part.stdout).toContain(`#${all[1]?.id} `);
    const document = await run('instructions', 'list', '--limit', '2', '--json');
    expect(JSON.parse(document.stdout)).toHaveLength(2);
    expect(document.stderr).toContain(`... and ${all.length - 2} more`);
  });

  it('says of what account a configuration sends nothing, though it approves', async () => {
    const [one] = await json<Listed[]>('instructions', 'list', '--waiting');
    const file = join(house.folder, 'tieout.yaml');
    const settings = JSON.parse(readFileSync(file, 'utf8')) as {
      accounts: { accountId: string }[];
    };
    const accounts = settings.accounts.filter(({ accountId }) => accountId !== one?.accountId);
    writeFileSync(join(house.folder, 'others.yaml'), JSON.stringify({ ...settings, accounts }));
    const approve = ['instructions', 'approve', String(one?.id), '--check'];
    const elsewhere = `account ${one?.accountId} is not in this configuration`;
    expect((await run(...approve)).stdout).not.toContain(elsewhere);
    expect((await run(...approve, '--config', 'others.yaml')).stdout).toContain(elsewhere);
  });

  it('approves what was seen, sends it, and says who did', async () => {
    const [first] = await json<Listed[]>('instructions', 'list', '--operation', 'cancel');
    const id = first?.id ?? '';
    const before = await house.effects();
    const shown = await run('instructions', 'show', id);
    const command = / tieout (instructions approve \d+ --seen \w+)/.exec(shown.stdout)?.[1] ?? '';
    expect(command).toContain(id);
    const stale = await run('instructions', 'approve', id, '--seen', '0'.repeat(12));
    expect(stale.code).toBe(1);
    expect(stale.stdout).toContain('no longer what you saw');
    const approved = await run(...command.split(' '), '--as', 'anna');
    expect(approved.code, approved.stdout + approved.stderr).toBe(0);
    expect(approved.stdout).toContain('queued');
    expect(await house.effects()).toEqual(before);
    // With its account stopped it waits, and who came to send it learns why and what to type.
    const brake = ['--account', first?.accountId ?? '', '--as', 'kim', '--reason', 'a call'];
    await run('brake', 'on', ...brake);
    const stopped = await run('send');
    expect(stopped.code).toBe(4);
    expect(stopped.stdout).toMatch(
      /^#\d+ +queued .*\n\w+: sending is stopped for account .* brake off .*; 1 instr.* waits$/m,
    );
    await run('brake', 'off', ...brake);
    const sent = await run('send', '--json');
    expect(sent.code, sent.stderr).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      instructions: [{ instructionId: id, state: 'confirmed' }],
    });
    expect((await house.effects()).length).toBe(before.length + 1);
    const sheet = await run('instructions', 'show', id);
    expect(sheet.stdout).toContain('approve by anna (as said on the command line)');
    const again = await run('send');
    expect(again.stdout).toContain('Nothing that was approved waits');
    // The history of the order tells all of it in the order in which it happened.
    const history = await run('order', first?.accountId ?? '', first?.orderNo ?? '');
    const told = history.stdout
      .slice(history.stdout.indexOf('Instructions'))
      .split('\n\n', 1)
      .join('')
      .split('\n')
      .slice(2);
    const times = told.map((line) => line.trimStart().slice(0, 23));
    expect(times).toEqual(times.toSorted());
    expect(
      told.map(
        (line) => /Z? {2}(waiting for approval|decision|planned|queued|sending)/.exec(line)?.[1],
      ),
    ).toEqual(expect.arrayContaining(['waiting for approval', 'decision', 'queued', 'sending']));
    expect(told[0]).toContain('waiting for approval by tieout');
    // Columns begin, and amounts end, at one place.
    await house.db.query(
      `insert into ledger.refund_requests (account_id, order_no, refund_id, refund_amount,
         requested_at) values ($1, $2, 'R', 5, now()), ($1, $2, 'R-LONGER', 1234.5, now())`,
      [first?.accountId, first?.orderNo],
    );
    const lined = await run('order', first?.accountId ?? '', first?.orderNo ?? '');
    const requests = lined.stdout.split('\n').filter((line) => line.startsWith('  refund R'));
    const ends = requests.map((line) => / [A-Z]{3} {2}(?=requested)/.exec(line)?.index);
    expect([requests.length >= 2, new Set(ends).size]).toEqual([true, 1]);
  });

  it('refuses with 1 what cannot be decided, and with 2 what is no decision', async () => {
    const [first] = await json<Listed[]>('instructions', 'list', '--state', 'held');
    const id = first?.id ?? '';
    const early = ['instructions', 'resolve', id, 'happened', '--reason', 'r', '--reference', 'x'];
    expect((await run(...early)).code).toBe(1);
    expect((await run('instructions', 'resolve', id, 'maybe', ...early.slice(4))).code).toBe(2);
    expect((await run('instructions', 'reject', id)).code).toBe(2);
    const mistyped = await run('instructions', 'list', '--account', 'A10O1');
    expect([mistyped.code, mistyped.stderr]).toEqual([
      2,
      expect.stringContaining('A10O1: no such'),
    ]);
    const rows = await json<{ rows: { kind: string }[] }>(
      ...['instructions', 'reject', id, '999999', '--reason', 'no', '--as', 'anna'],
    );
    expect(rows.rows.map((row) => row.kind)).toEqual(['done', 'not_found']);
  });

  it('resolves several, each by itself, after saying of each what would happen', async () => {
    const held = await json<Listed[]>('instructions', 'list', '--state', 'held');
    const [one = '', two = '', waiting = ''] = held.map(({ id }) => id);
    await house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(
        `update tieout.instructions set state = 'unknown', hold_reason = null, reason = 'no answer'
         where instruction_id = any ($1::bigint[])`,
        [[one, two]],
      );
    });
    const why = ['--reason', 'the portal has none', '--reference', 'export 7', '--as', 'anna'];
    const resolve = [
      'instructions',
      'resolve',
      one,
      two,
      waiting,
      '999999',
      'not-happened',
      ...why,
    ];
    const states = async () => {
      const { rows } = await house.db.query<{ state: string }>(
        `select state from tieout.instructions where instruction_id = any ($1::bigint[])
         order by instruction_id`,
        [[one, two, waiting]],
      );
      return rows.map(({ state }) => state).sort();
    };
    const checked = await run(...resolve, '--check');
    expect([checked.code, await states()]).toEqual([1, ['held', 'unknown', 'unknown']]);
    const done = await json<{ rows: { kind: string }[] }>(...resolve);
    const kinds = done.rows.map((row) => row.kind);
    expect(kinds).toEqual(['done', 'done', 'refused', 'not_found']);
    expect(await states()).toEqual(['held', 'rejected', 'rejected']);
    const { rows } = await house.db.query<{ kept: string }>(
      `select string_agg(instruction_id || ' ' || reference, ', ' order by instruction_id) as kept
       from tieout.decisions where decision = 'resolve'`,
    );
    const [low, high] = [one, two].sort((a, b) => Number(a) - Number(b));
    expect(rows[0]?.kept).toBe(`${low} export 7, ${high} export 7`);
    for (const wrong of [['happened'], [one], [one, two]]) {
      expect((await run('instructions', 'resolve', ...wrong, ...why)).code).toBe(2);
    }
  });
});
