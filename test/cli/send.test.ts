// What `tieout send` ends with where not all of what was approved came to its end.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Front } from '../faults/front.js';
import { answerJson } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import { ensureBuilt, startTieout, tieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import { instructionCounts, kinds } from '../support/night.js';

let house: House;
let front: Front;
let ids: string[];

beforeAll(async () => {
  await ensureBuilt();
  ({ house, front } = await houseBehind({
    orders: 900,
    inLedger: kinds({ capture_due: 4 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
  }));
  await house.run();
  const { rows } = await house.db.query<{ id: string }>(
    'select instruction_id::text as id from tieout.instructions order by 1',
  );
  ids = rows.map(({ id }) => id);
});
afterAll(() => house.end());

const command = (...words: string[]) => tieout(words, { cwd: house.folder });

async function approve(place: number, ...words: string[]): Promise<void> {
  const { code, stderr } = await command(
    'instructions',
    'approve',
    ids[place] ?? '',
    '--as',
    'Ann',
    ...words,
  );
  expect(code, stderr).toBe(0);
}

it('4 where it was accepted and no look shows it, which is told once one does', async () => {
  await approve(0);
  const before = front.asked.get('capture') ?? 0;
  front.trouble = (call) =>
    call.operation === 'retrievalTrans' &&
    (front.asked.get('capture') ?? 0) > before &&
    answerJson(call, { return_status: '9' });
  const sent = await command('send');
  expect([sent.code, sent.stdout], sent.stderr).toEqual([4, expect.stringMatching(/accepted/)]);
  front.trouble = () => false;
  const again = await command('send');
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/#\d+ +confirmed/)]);
  expect((await command('send')).stdout).toContain('Nothing that was approved waits');
});

it('what an earlier one left on its way is looked at, and said', async () => {
  await approve(1);
  const first = startTieout(['send'], { cwd: house.folder });
  front.trouble = async (call) => {
    if (call.operation !== 'capture') return false;
    await call.pass();
    first.signal('SIGKILL');
    return true;
  };
  await first.ended;
  front.trouble = () => false;
  expect(await instructionCounts(house.db)).toMatchObject({ 'capture sending': 1 });
  const again = await command('send');
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/#\d+ +confirmed/)]);
  expect(await house.effects()).toHaveLength(2);
});

it('3 where it waits for a person again', async () => {
  await approve(2, '--reason', 'the customer called');
  await house.db.query(`update ledger.orders set placed_at = placed_at - interval '1 hour'`);
  const sent = await command('send');
  expect([sent.code, sent.stdout], sent.stderr).toEqual([
    3,
    expect.stringMatching(/#\d+ +waiting for approval.*changed since it was approved/),
  ]);
  expect(sent.stdout).not.toContain('the customer called');
});

it('4 where what waits is of an account that is not configured here, which is said', async () => {
  const file = join(house.folder, 'tieout.yaml');
  const settings = JSON.parse(readFileSync(file, 'utf8')) as {
    accounts: { accountId: string; liveFrom?: string }[];
  };
  const accounts = settings.accounts.filter(({ accountId }) => accountId !== 'A1001');
  writeFileSync(join(house.folder, 'others.yaml'), JSON.stringify({ ...settings, accounts }));
  const here = ['--config', 'others.yaml'];
  const told =
    /^A1001: sending is stopped: account A1001 is not in this conf.* reject .*; 1 instruction waits$/m;
  const approved = await command('instructions', 'approve', ids[3] ?? '', '--as', 'Ann', ...here);
  expect(approved.stdout).toMatch(/queued \(\w+\): account A1001 is not in this configuration/);
  expect(approved.stdout).not.toContain('a running worker');
  const sent = await command('send', ...here);
  expect([sent.code, sent.stdout], sent.stderr).toEqual([4, expect.stringMatching(told)]);
  expect(sent.stdout).not.toContain('Nothing that was approved waits');
  const { elsewhere } = JSON.parse((await command('send', '--json', ...here)).stdout);
  expect(elsewhere).toMatchObject([{ accountId: 'A1001' }]);
  expect((await command('send', '--account', 'A1002', ...here)).code).toBe(0);
  expect((await command('brake', 'status', ...here)).stdout).toMatch(told);
  expect((await command('status', ...here)).stdout).toMatch(
    /^Instructions now: .*1 waiting to be sent; 2 of them of accounts that are not configured\.$/m,
  );
});

it('who resumes one account reads of the others in a line', async () => {
  const file = join(house.folder, 'tieout.yaml');
  const settings = JSON.parse(readFileSync(file, 'utf8')) as { accounts: { accountId: string }[] };
  const accounts = settings.accounts.map((one) =>
    one.accountId === 'A1001' ? one : { ...one, liveFrom: undefined },
  );
  writeFileSync(join(house.folder, 'observed.yaml'), JSON.stringify({ ...settings, accounts }));
  const of = ['--account', 'A1001', '--as', 'Ann', '--config', 'observed.yaml'];
  await command('brake', 'on', '--reason', 'a call', ...of);
  const off = await command('brake', 'off', ...of);
  expect(off.stdout).toMatch(/^Lifted: .*\n1 other account sends nothing either: .*brake status/);
  expect(off.stdout).not.toContain('A1002');
});
