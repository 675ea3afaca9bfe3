// What the program says while it works: with a secret or a card number wherever one can be
// put, nothing that it prints has any of them, and each line is one line.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayBrake } from '../../src/send/batches/sendingStatusStore.js';
import type { Receiver } from '../alerts/receiver.js';
import { openReceiver } from '../alerts/receiver.js';
import type { Front } from '../faults/front.js';
import { answerWith, retell, startFront } from '../faults/front.js';
import type { Ended } from '../support/cli.js';
import { startTieout } from '../support/cli.js';
import { tieoutHere } from '../support/cliHere.js';
import type { SeparateHouse } from '../support/separateHouse.js';
import { buildSeparateHouse } from '../support/separateHouse.js';

const CARD = '5555555555554444';
const PASSWORD = 'db%2Fcanary-password';
const HOOK = '/hook/canary-path?token=canary-token';

interface Settings {
  database: { url: string };
  accounts: { accountId: string; signingKey: string }[];
}

const WORD = { kind: 'brake', accountId: null, who: { name: 'ops', isClaim: true } } as const;

/** The answer with something else in all its words. */
function dirty(value: unknown, dirt: string): unknown {
  if (Array.isArray(value)) return value.map((part) => dirty(part, dirt));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      /_message$/.test(name) ? dirt : dirty(part, dirt),
    ]),
  );
}

describe('the log', () => {
  let house: SeparateHouse;
  let front: Front;
  let receiver: Receiver;
  let settings: Settings;
  let dirt: string;
  const canaries = (): string[] => [
    CARD,
    ...settings.accounts.map((account) => account.signingKey),
    PASSWORD,
    decodeURIComponent(PASSWORD),
    HOOK,
    'canary-token',
  ];

  beforeAll(async () => {
    house = await buildSeparateHouse({ orders: 30, seed: 5 });
    front = await startFront(house.sandboxUrl);
    settings = JSON.parse(readFileSync(house.file, 'utf8')) as Settings;
    const url = new URL(settings.database.url);
    url.password = PASSWORD;
    receiver = await openReceiver();
    const notify = { webhook: `${receiver.address}${HOOK}` };
    const gateway = { baseUrl: front.baseUrl, profile: 'sandbox' };
    const change = { ...settings, database: { url: url.href }, gateway, notify };
    const web = { host: '127.0.0.1', port: 0 };
    writeFileSync(join(house.folder, 'canary.yaml'), JSON.stringify({ ...change, web }));
    dirt = `${CARD}\r\n\u001b[31m forged line ${settings.accounts[0]?.signingKey}`;
    await house.db.query(
      `insert into ledger.refund_requests (account_id, refund_id, order_no, refund_amount, reason,
         requested_by, requested_at)
       select account_id, 'R-' || order_no, order_no, amount, $1, $1, now()
       from ledger.orders where expected = 'captured' limit 2`,
      [dirt],
    );
    let asked = 0;
    front.trouble = (call) => {
      asked += 1;
      if (call.operation !== 'retrievalTrans') return retell(call, (answer) => dirty(answer, dirt));
      if (asked > 1) return false;
      answerWith(call.response, { status: 502, contentType: 'text/html', body: dirt });
      return true;
    };
  });
  afterAll(async () => {
    await front.close();
    await receiver.close();
    await house.end();
  });

  function expectClean({ stdout, stderr }: Ended): void {
    for (const canary of canaries()) expect(stderr).not.toContain(canary);
    // Data has what a person typed as a reason, but nothing of the configuration and no card.
    for (const canary of canaries().filter((text) => !dirt.endsWith(text))) {
      expect(stdout).not.toContain(canary);
    }
    expect(stdout + stderr).not.toContain('\u001b');
  }

  it('of a night is a plain line each, without a terminal', async () => {
    const run = () => tieoutHere(['run', '--config', 'canary.yaml'], { cwd: house.folder });
    await sayBrake(house.db, { ...WORD, isOn: true, reason: dirt });
    receiver.status = 500;
    const braked = await run();
    expect(braked.stderr).toContain('was not told: it answered HTTP 500; again in 10 s');
    // What a person typed came as far as the log, in one line and without what must not be read.
    expect(braked.stderr).toContain('555555******4444');
    expect(braked.stderr).toContain('forged line ***');
    await sayBrake(house.db, { ...WORD, isOn: false, reason: 'gone' });
    receiver.status = 200;
    const sent = await run();
    expect(sent.stderr).not.toContain('was not told');
    expect(sent.stderr).toMatch(/UTC {2}batch \d+, refund: 1 (unknown|rejected)/);
    const told = receiver.told.map(({ body }) => body).join('\n');
    expect(told).toContain('night_finished');
    const { rows } = await house.db.query<{ words: string }>(
      'select outcome_message as words from tieout.instructions where outcome_message is not null',
    );
    expect(rows.map(({ words }) => words).join()).toContain('forged line');
    expectClean({ code: 0, stdout: told, stderr: '' });
    for (const ended of [braked, sent]) {
      expectClean(ended);
      for (const line of ended.stderr.trim().split('\n')) {
        expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}\S/);
      }
    }
  });

  it('of a program that runs on is JSON, to the last line', async () => {
    const started = startTieout(['start', '--config', 'canary.yaml'], { cwd: house.folder });
    await started.says('clock: ');
    started.signal('SIGTERM');
    const ended = await started.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expectClean(ended);
    const lines = ended.stderr.trim().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      expect(JSON.parse(line)).toEqual(
        expect.objectContaining({
          level: expect.stringMatching(/^(info|warn|error)$/),
          time: expect.stringMatching(/Z$/),
          version: expect.any(String),
          pid: started.pid,
          msg: expect.any(String),
        }),
      );
    }
  });

  it('has a crash in one line, and nothing that its error carried', async () => {
    const crash = `process.on('SIGUSR2', () => {
      throw Object.assign(new Error(${JSON.stringify(dirt)}), { detail: ${JSON.stringify(dirt)} });
    });`;
    writeFileSync(join(house.folder, 'crash.mjs'), crash);
    const env = { NODE_OPTIONS: `--import ${join(house.folder, 'crash.mjs')}` };
    const started = startTieout(['work', '--config', 'canary.yaml'], { cwd: house.folder, env });
    await started.says('works until');
    started.signal('SIGUSR2');
    const ended = await started.ended;
    expect(ended.code).toBe(1);
    expectClean(ended);
    const last = JSON.parse(ended.stderr.trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({
      level: 'error',
      msg: expect.stringMatching(/^crashed: Error: .*crash\.mjs/),
    });
  });

  it('says in JSON, too, why it stopped, and hides the password of an address', async () => {
    const url = `postgres://tieout:${PASSWORD}@127.0.0.1:9/nowhere`;
    writeFileSync(
      join(house.folder, 'lost.yaml'),
      JSON.stringify({ ...settings, database: { url } }),
    );
    const ended = await tieoutHere(['work', '--config', 'lost.yaml'], { cwd: house.folder });
    expect(ended.code).toBe(1);
    expectClean(ended);
    const last = JSON.parse(ended.stderr.trim().split('\n').at(-1) ?? '') as { level: string };
    expect(last).toMatchObject({ level: 'error', msg: expect.stringContaining('stopped: ') });
  });
});
