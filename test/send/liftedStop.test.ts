// What waits after a stop was lifted is told as it is now: by nothing stopped, and with who sends it.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { letBrakeGo, pullBrake } from '../../src/brake/brake.js';
import { reevaluate } from '../../src/night/reevaluateJob.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

const WHO = { name: 'Kim', isClaim: true } as const;
let house: House;

beforeAll(async () => {
  house = await buildHouse({ orders: 900, inLedger: kinds({ capture_due: 3 }, 'A1001') });
});
afterAll(() => house.end());

it('a brake that was lifted is told no more by what was tried under it', async () => {
  const app = await house.open();
  for (const accountId of ['A1001', null]) {
    await pullBrake(app, { accountId, reason: 'the acquirer called', who: WHO });
  }
  await house.run();
  const { rows } = await house.db.query<{ id: string }>(
    `select batch_id::text as id from tieout.batches where state = 'queued'`,
  );
  expect(rows).toHaveLength(1);
  const tried = await reevaluate(app, 'capture', rows[0]?.id ?? '');
  expect(tried.words).toContain('sending is stopped for account A1001');
  for (const accountId of ['A1001', null]) {
    await letBrakeGo(app, { accountId, reason: 'looked', who: WHO });
  }
  const { stdout } = await tieoutHere(['status'], { cwd: house.folder });
  expect(stdout).not.toContain('sending is stopped');
  expect(stdout).toContain('A1001: 3 instructions wait to be sent: nothing stops them; ');
});

it('who is told that what nobody approved waits is not sent to a command that sends none', async () => {
  const { stdout } = await tieoutHere(['status'], { cwd: house.folder });
  expect(stdout).toContain(
    'nothing stops them; a running worker does it by itself. Without one, `tieout send` sends ' +
      'what was approved, and the next run the rest too',
  );
  const sent = await tieoutHere(['send'], { cwd: house.folder });
  expect(sent.stdout).toContain('Nothing that was approved waits to be sent.');
  await house.run();
  expect(await house.effects()).toHaveLength(3);
});
