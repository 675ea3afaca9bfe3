// Where an alert may go: to the address that was checked, once, and no further. Row 111 of the list
// of faults.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, checkedLookup, isForbidden } from '../../src/alerts/postWebhook.js';
import type { Receiver } from './receiver.js';
import { openReceiver } from './receiver.js';

const NEVER = new AbortController().signal;
const POST = { method: 'POST', headers: { 'x-test': 'yes' }, body: '{"ü":1}' } as const;

let receiver: Receiver;
const post = (address: string, timeoutMs = 5_000) =>
  call(address, POST, { timeoutMs, signal: NEVER });

beforeAll(async () => {
  receiver = await openReceiver();
});
beforeEach(() => {
  receiver.told = [];
  receiver.status = 200;
});
afterAll(() => receiver.close());

describe('addresses that are never called', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0.0.0.0',
    '100.100.100.200',
    '255.255.255.255',
    '224.0.0.1',
    '::',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'ff02::1',
    'fd00:ec2::254',
  ])('%s', (ip) => {
    expect(isForbidden(ip)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '::1',
    '10.0.0.7',
    '192.168.1.1',
    'fd12:3456::1',
    '203.0.113.9',
    '2001:db8::1',
  ])('not so %s', (ip) => {
    expect(isForbidden(ip)).toBe(false);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://[::ffff:a9fe:a9fe]/',
    'https://[fe80::1]/',
  ])('however %s is written', async (address) => {
    expect(await post(address)).toEqual({
      kind: 'failed',
      reason: expect.stringContaining('never called'),
    });
  });

  it.each([true, false])('nor when a name stands for one (all: %s)', async (all) => {
    const error = await new Promise((resolve) => {
      checkedLookup('169.254.169.254', { all }, resolve);
    });
    expect(String(error)).toContain('never called');
  });
});

describe('a call', () => {
  it('is one request, on a connection of its own, by name or number', async () => {
    const named = receiver.address.replace('127.0.0.1', 'localhost');
    expect(await post(`${named}/a?b=c`)).toEqual({ kind: 'accepted' });
    expect(receiver.told).toEqual([
      {
        method: 'POST',
        path: '/a?b=c',
        body: POST.body,
        headers: expect.objectContaining({ 'x-test': 'yes', 'content-length': '8' }),
      },
    ]);
  });

  it('follows no redirect', async () => {
    receiver.status = 307;
    const reason = 'it answered HTTP 307, and redirects are not followed';
    expect(await post(receiver.address)).toEqual({ kind: 'failed', reason });
    expect(receiver.told).toHaveLength(1);
  });

  it.each([400, 410, 500])('says that it answered %d', async (status) => {
    receiver.status = status;
    const reason = `it answered HTTP ${status}`;
    expect(await post(receiver.address)).toEqual({ kind: 'failed', reason });
  });

  it('waits so long and no longer', async () => {
    receiver.status = null;
    const reason = 'no answer in 200 ms';
    expect(await post(receiver.address, 200)).toEqual({ kind: 'failed', reason });
  });

  it('ends when the program does', async () => {
    receiver.status = null;
    const signal = AbortSignal.timeout(100);
    const result = await call(receiver.address, POST, { timeoutMs: 60_000, signal });
    const reason = 'it had not answered when this process ended';
    expect(result).toEqual({ kind: 'failed', reason });
  });

  it.each(['http://127.0.0.1:9/secret-path', 'http://name.invalid/secret-path'])(
    'says why %s was not reached, without the address',
    async (address) => {
      const { reason } = (await post(address)) as { reason: string };
      expect(reason).toMatch(/^it could not be reached \(E\w+\)$/);
    },
  );
});
