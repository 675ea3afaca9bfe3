// `tieout sandbox` as a person and as a program start it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { compileProgram, type Program, startChild, startHere } from './startedSandbox.js';

let program: Program;
beforeAll(() => {
  program = compileProgram();
});
afterAll(() => program.remove());

describe('tieout sandbox', () => {
  it('prints one line of JSON with the address and the accounts', async () => {
    const started = await startChild(program, ['--port', '0', '--orders', '10']);
    expect(started.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(started.accounts).toEqual([
      { merchantId: 'M1001', accountId: 'A1001', signingKey: expect.stringMatching(/^\w{32}$/) },
      { merchantId: 'M1001', accountId: 'A1002', signingKey: expect.stringMatching(/^\w{32}$/) },
    ]);
    expect(await started.end('SIGINT')).toBe(0);
  });

  it('tells a person commands that work as they stand', async () => {
    const args = [program.path, 'sandbox', '--port', '0'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(() => text).toContain('/_sandbox/portal\n');
    const call = async (pattern: RegExp, contentType: string): Promise<unknown> => {
      const [, body = '', url = ''] = pattern.exec(text) ?? [];
      const headers = { 'content-type': contentType };
      return (await fetch(url, { method: 'POST', headers, body })).json();
    };
    const form = 'application/x-www-form-urlencoded';
    const asked = () => call(/Query an order: curl -d '([^']+)' (\S+)/, form);
    expect(await asked()).toMatchObject({
      return_message: 'OK',
      orders_list: [{ payment_status: '2000' }],
    });
    expect(await call(/Capture it: curl .* -d '([^']+)' (\S+)/, 'application/json')).toMatchObject({
      return_message: 'OK',
      capture_orders: [{ capture_status: '1', error_message: '' }],
    });
    expect(await asked()).toMatchObject({ orders_list: [{ payment_status: '3000' }] });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    [['--port', 'x'], 'a whole number is needed'],
    [['--port', '70000'], 'a port is at most 65535'],
    [['--orders', '-1'], 'a whole number is needed'],
    [['--orders', '99999999'], 'a night has 0 to'],
    [['--faults', 'missing.json'], 'missing.json cannot be read'],
    [['--profile', 'missing.yaml'], 'missing.yaml cannot be read'],
    [['--allow', 'shop.example'], 'an IP address is needed'],
  ])('refuses %j', (flags, reason) => {
    const args = [program.path, 'sandbox', ...flags];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain(reason);
  });

  it('says that its port is taken', async () => {
    const first = await startHere();
    const port = Number(new URL(first.baseUrl).port);
    await expect(startHere({ port })).rejects.toThrow(`port ${port} is in use`);
    await first.close();
  });

  it('does not show how tieout starts it by itself', () => {
    const args = [program.path, 'sandbox', '--help'];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout).toContain('--orders');
    expect(stdout).not.toContain('until-unused');
  });
});
