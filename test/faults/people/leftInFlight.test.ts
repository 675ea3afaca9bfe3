// An account leaves the configuration while an instruction of it is accepted and another one on its
// way: what its notice names is what a person can type, the clock does not make that night again
// and again, and what the person found to have happened is counted once.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/core/runs/summary.js';
import { ensureBuilt, startTieout, tieout } from '../../support/cli.js';
import type { House } from '../../support/night.js';
import { dateOf, kinds, rewriteSettings } from '../../support/night.js';
import type { Front } from '../front.js';
import { houseBehind } from '../houseBehind.js';

const LEFT = 'A1002';
let house: House;
let front: Front;

beforeAll(async () => {
  await ensureBuilt();
  ({ house, front } = await houseBehind({
    orders: 900,
    daysAgo: 2,
    inLedger: kinds({ capture_due: 2 }, LEFT),
    settings: { settlement: { from: dateOf(2) } },
  }));
});
afterAll(() => house.end());

const command = (...words: string[]) => tieout(words, { cwd: house.folder });

async function statesOf(): Promise<string[]> {
  const { rows } = await house.db.query<{ state: string }>(
    `select state from tieout.instructions where account_id = '${LEFT}' order by 1`,
  );
  return rows.map(({ state }) => state);
}

/** Answers from where it was before. */
async function sentFrom(host: string): Promise<string> {
  const { rows } = await house.db.query<{ host: string }>(
    `select min(host) as host from tieout.attempts where account_id = '${LEFT}'`,
  );
  await house.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(`update tieout.attempts set host = $1 where account_id = '${LEFT}'`, [host]);
  });
  return rows[0]?.host ?? '';
}

const nightOf = async (...words: string[]) => {
  const { code, stdout, stderr } = await command('run', '--json', ...words);
  return { code, stderr, summary: JSON.parse(stdout) as RunSummary };
};

it('is named with what a person can settle, and its night is not made again', async () => {
  const first = startTieout(['run', '--date', dateOf(2)], { cwd: house.folder });
  // The canary is accepted; the next one is at the gateway as its sender dies.
  front.trouble = ({ operation }) => {
    if (operation !== 'capture' || (front.asked.get('capture') ?? 0) < 2) return false;
    first.signal('SIGKILL');
    return true;
  };
  await first.ended;
  expect(await statesOf()).toEqual(['accepted', 'sending']);
  front.trouble = () => false;
  // Of a sender elsewhere nobody here can tell, and who has the account still is about to look.
  const host = await sentFrom('another host');
  const accounts = house.accounts.filter(({ accountId }) => accountId !== LEFT);
  rewriteSettings(house, {
    accounts: accounts.map((account) => ({ ...account, liveFrom: `${dateOf(2)}T00:00:00Z` })),
  });
  expect((await nightOf('--date', dateOf(1))).code).toBe(4);
  expect(await statesOf()).toEqual(['accepted', 'sending']);
  await sentFrom(host);
  const { code, summary, stderr } = await nightOf('--date', dateOf(1));
  expect(code, stderr).toBe(4);
  expect(await statesOf()).toEqual(['unknown', 'unknown']);
  const notice = summary.notices?.find(({ kind }) => kind === 'left_account');
  expect(notice?.text).toContain('2 unknown instructions');
  // No look of ours changes it: neither resumed nor given up.
  const { stdout } = await command('status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ owed: { kind: 'nothing' } });
});

it('what a person resolves as happened is counted once, in the next run and its day', async () => {
  const { rows } = await house.db.query<{ id: string; amount: string }>(
    `select instruction_id::text as id, amount::text from tieout.instructions
     where account_id = '${LEFT}'`,
  );
  for (const { id } of rows) {
    const why = ['--reason', 'seen in the portal', '--reference', 'P1', '--as', 'Ann'];
    const { code, stderr } = await command('instructions', 'resolve', id, 'happened', ...why);
    expect(code, stderr).toBe(0);
  }
  const { rows: booked } = await house.db.query(
    `select from tieout.day_movements where account_id = '${LEFT}'`,
  );
  expect(booked).toHaveLength(2);
  const { code, summary, stderr } = await nightOf('--date', dateOf(1));
  expect(code, stderr).toBe(0);
  const left = summary.accounts.find(({ accountId }) => accountId === LEFT);
  const cents = (text: string) => Math.round(Number(text) * 100);
  const wanted = rows.reduce((sum, { amount }) => sum + cents(amount), 0);
  const counted = left?.totals.reduce((sum, { captured }) => sum + cents(captured), 0);
  expect(counted).toBe(wanted);
  expect((await command('verify', dateOf(1))).code).toBe(0);
  const sent = await house.effects();
  expect(sent.length).toBeLessThanOrEqual(2);
});
