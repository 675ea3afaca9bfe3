// A sandbox that is killed knows afterwards what it did: its journal is the truth of the tests.

import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { thisProcess } from '../../src/processes/identity.js';
import { holdLock } from '../../src/processes/pidLock.js';
import { useSandbox } from '../../src/sandbox/daemon.js';
import { writeSandboxSettings } from '../../src/sandbox/state.js';
import {
  ACCOUNT,
  ACCOUNTS,
  compileProgram,
  type Program,
  SETTINGS,
  startChild,
  startHere,
  temporaryFolder,
} from './startedSandbox.js';
import { batch, effects, element, pay, payment, post, query, signed } from './wireClient.js';

let program: Program;
let folder: string;
beforeAll(() => {
  program = compileProgram();
});
afterAll(() => program.remove());
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ended = (pid: number) => expect.poll(() => lives(pid), { timeout: 20_000 }).toBe(false);

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function health(baseUrl: string): Promise<{ pid: number; orders: number }> {
  const answer = await fetch(`${baseUrl}/_sandbox/health`);
  return (await answer.json()) as { pid: number; orders: number };
}

describe('a sandbox with a state folder', () => {
  it('knows after kill -9 whatever it did before, under the same keys', async () => {
    const args = ['--state', folder, '--port', '0', '--orders', '300', '--seed', '5'];
    const first = await startChild(program, args);
    const [account] = first.accounts;
    if (account === undefined) throw new Error('no account');
    const entry = await pay(first.baseUrl, account, 'X-1');
    await batch(first.baseUrl, account, 'capture', [entry]);
    const part = { ...entry, refund_amount: '3.00', refund_reason: '' };
    await batch(first.baseUrl, account, 'refund', [part, part]);
    const before = await effects(first.baseUrl);
    // The last request is still under way when the kill comes: its effect is there or it is not.
    const last = batch(first.baseUrl, account, 'refund', [part]).catch(() => null);
    await first.end('SIGKILL');
    await last;

    const second = await startChild(program, args);
    const after = await effects(second.baseUrl);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length - before.length).toBeLessThanOrEqual(1);
    expect(await query(second.baseUrl, account, ['X-1'])).toMatchObject([
      { payment_status: '6000' },
    ]);
    expect(second.accounts).toEqual(first.accounts);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  it('remembers payments of every kind, payouts, and what must not be done again', async () => {
    const first = await startHere({ stateDir: folder, strict: true });
    const declined = { order_no: 'X-1', amount: '9.00', currency: 'EUR', card: '4000000000000002' };
    const apm = { order_no: 'X-2', amount: '8.00', currency: 'EUR', payment_method: 'bank' };
    const payout = { request_id: 'P-1', payment_currency: 'EUR', payment_amount: '5' };
    await post(`${first.baseUrl}/v1/authorise`, payment(ACCOUNT, declined));
    const { text } = await post(`${first.baseUrl}/v1/authorise`, signed(ACCOUNT, 'authorise', apm));
    await fetch((element(text, 'issuer_url') ?? '').replaceAll('&amp;', '&'));
    await post(`${first.baseUrl}/v1/payout`, signed(ACCOUNT, 'payout', payout));
    const entry = await pay(first.baseUrl, ACCOUNT, 'X-3');
    const part = { ...entry, refund_amount: '3.00', refund_reason: 'late' };
    await batch(first.baseUrl, ACCOUNT, 'capture', [entry]);
    await batch(first.baseUrl, ACCOUNT, 'refund', [part]);
    const shown = await query(first.baseUrl, ACCOUNT, ['X-1', 'X-2', 'X-3']);
    const moved = await effects(first.baseUrl);
    await first.close();

    const second = await startHere({ stateDir: folder, strict: true });
    expect(await query(second.baseUrl, ACCOUNT, ['X-1', 'X-2', 'X-3'])).toEqual(shown);
    expect(shown.map((one) => one.payment_status)).toEqual(['5000', '2000', '6000']);
    const again = await post(`${second.baseUrl}/v1/payout`, signed(ACCOUNT, 'payout', payout));
    expect(again.text).toContain('DUPLICATE_REQUEST');
    const { results } = await batch(second.baseUrl, ACCOUNT, 'refund', [part]);
    expect(results[0]?.refund_message).toBe('E2006:this refund was done before');
    expect(await effects(second.baseUrl)).toEqual(moved);
    await second.close();
  });

  it('cuts a torn last line and counts it as not happened', async () => {
    const first = await startHere({ stateDir: folder });
    const entry = await pay(first.baseUrl, ACCOUNT, 'X-1');
    await batch(first.baseUrl, ACCOUNT, 'capture', [entry]);
    await first.close();
    const file = join(folder, 'effects.ndjson');
    const whole = readFileSync(file, 'utf8');
    appendFileSync(file, '{"operation":"refund","refund_amo');

    const second = await startHere({ stateDir: folder });
    expect(await effects(second.baseUrl)).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).toBe(whole);
    const part = { ...entry, refund_amount: '3.00', refund_reason: '' };
    await batch(second.baseUrl, ACCOUNT, 'refund', [part]);
    await second.close();
    const third = await startHere({ stateDir: folder });
    expect(await effects(third.baseUrl)).toHaveLength(2);
    await third.close();
  });

  it('refuses a journal that is damaged inside, naming the line', async () => {
    await (await startHere({ stateDir: folder })).close();
    writeFileSync(join(folder, 'effects.ndjson'), 'nonsense\n');
    await expect(startHere({ stateDir: folder })).rejects.toThrow('line 1 is damaged');
  });

  it('keeps keys and cards out of its files and the files to its owner', async () => {
    const sandbox = await startHere({ stateDir: folder });
    await pay(sandbox.baseUrl, ACCOUNT, 'X-1');
    await sandbox.close();
    for (const name of ['settings.json', 'effects.ndjson']) {
      const text = readFileSync(join(folder, name), 'utf8');
      for (const { signingKey } of ACCOUNTS) expect(text).not.toContain(signingKey);
      expect(text).not.toContain('4111111111111111');
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    }
  });

  it('is one process only', async () => {
    const first = await startHere({ stateDir: folder });
    await expect(startHere({ stateDir: folder })).rejects.toThrow('already runs this sandbox');
    await first.close();
    await (await startHere({ stateDir: folder })).close();
  });

  it('stays the night that it was seeded with', async () => {
    writeSandboxSettings(folder, SETTINGS);
    writeSandboxSettings(folder, SETTINGS);
    expect(() => writeSandboxSettings(folder, { ...SETTINGS, seed: 8 })).toThrow('another night');
  });

  it('never lets go of a lock that lives, and takes over one whose holder has ended', async () => {
    const path = join(folder, 'lock');
    writeFileSync(path, JSON.stringify({ ...thisProcess(), started: 'another life' }));
    const takers = await Promise.all([holdLock(path), holdLock(path), holdLock(path)]);
    expect(takers.map(({ kind }) => kind).sort()).toEqual(['held', 'taken', 'taken']);
  });
});

describe('a sandbox that tieout starts by itself', () => {
  const log = (): void => {};

  it('serves two users from one process and ends when the last has left', async () => {
    writeSandboxSettings(folder, SETTINGS);
    const options = { stateDir: folder, accounts: ACCOUNTS, log, program: program.path };
    const users = await Promise.all([useSandbox(options), useSandbox(options)]);
    const [first, second] = users;
    expect(first.baseUrl).toBe(second.baseUrl);
    const { pid, orders } = await health(first.baseUrl);
    expect(orders).toBe(SETTINGS.orders);
    await first.leave();
    const entry = await pay(second.baseUrl, ACCOUNT, 'X-1');
    await batch(second.baseUrl, ACCOUNT, 'capture', [entry]);
    await second.leave();
    await ended(pid);

    const later = await useSandbox(options);
    expect(await effects(later.baseUrl)).toHaveLength(1);
    const again = await health(later.baseUrl);
    await later.leave();
    await ended(again.pid);
  });

  it('takes the accounts of its user, whatever their keys are, and starts empty', async () => {
    const account = { merchantId: 'M7', accountId: 'B7', signingKey: 'from the configuration' };
    const options = { stateDir: folder, accounts: [account], log, program: program.path };
    const use = await useSandbox(options);
    await pay(use.baseUrl, account, 'X-1');
    expect(await query(use.baseUrl, account, ['X-1'])).toHaveLength(1);
    const { pid, orders } = await health(use.baseUrl);
    expect(orders).toBe(0);
    await use.leave();
    await ended(pid);
  });

  it('comes back after kill -9 with all it did', async () => {
    const options = { stateDir: folder, accounts: ACCOUNTS, log, program: program.path };
    const first = await useSandbox(options);
    await pay(first.baseUrl, ACCOUNT, 'X-1');
    const { pid } = await health(first.baseUrl);
    process.kill(pid, 'SIGKILL');
    await ended(pid);
    const second = await useSandbox(options);
    expect(await query(second.baseUrl, ACCOUNT, ['X-1'])).toHaveLength(1);
    const again = await health(second.baseUrl);
    await first.leave();
    await second.leave();
    await ended(again.pid);
  });

  it('says where to look when it cannot start', async () => {
    const program = join(folder, 'missing.mjs');
    const use = useSandbox({ stateDir: folder, accounts: ACCOUNTS, log, program });
    await expect(use).rejects.toThrow('the sandbox did not start; see');
  });
});
