// What is to be sent a second time, after two complete snapshots did not show it, may be refused by a
// person like anything that waits: it is unknown again then, and is not sent.

import { afterAll, expect, it } from 'vitest';
import { letBrakeGo, pullBrake } from '../../src/brake/brake.js';
import type { Decision } from '../../src/instructions/decisions.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { recoverAttempts } from '../../src/send/recoverAttempts.js';
import { tieoutHere } from '../support/cliHere.js';
import type { House } from '../support/night.js';
import { dateOf, kinds, openBreaksOf, trails } from '../support/night.js';
import type { ConsoleHouse } from '../web/consoleHouse.js';
import { openConsole } from '../web/consoleHouse.js';
import type { Front } from './front.js';
import { drop, startFront } from './front.js';

const ACCOUNT = 'A1001';
const WHO = { name: 'anna', isClaim: true };
let console: ConsoleHouse;
let house: House;
let front: Front;
let id = 0n;
let orderNo = '';
afterAll(() => console.end());

it('a second send that a person refuses stays unknown and is not made', async () => {
  console = await openConsole({
    orders: 300,
    daysAgo: 5,
    inLedger: kinds({ capture_due: 1 }, ACCOUNT),
    settings: { operations: { capture: 'auto', resendAfterHours: 0 } },
    through: async (sandboxUrl) => {
      front = await startFront(sandboxUrl);
      return front;
    },
    before: refuseTheSecond,
  });
  expect((await trails(house.db))[orderNo]?.[0]).toMatch(/ planned queued unknown$/);
  expect(await openBreaksOf(house.db)).toContain(`${orderNo} outcome_unknown`);
  expect(Object.fromEntries(front.asked).capture).toBe(1);
}, 120_000);

/** The newest batch of it is one that was never tried; what was sent is the one before. */
async function refuseTheSecond(built: House): Promise<void> {
  house = built;
  front.trouble = async (call) => call.operation === 'capture' && drop(call);
  const night = (daysAgo: number) =>
    house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));
  await night(5);
  await night(4);
  const order = { accountId: ACCOUNT, reason: 'wait', who: WHO };
  await pullBrake({ db: house.db }, order);
  await night(3);
  const { rows } = await house.db.query<{ instruction_id: bigint; order_no: string }>(
    `select instruction_id, order_no from tieout.instructions where state = 'queued'`,
  );
  expect(rows).toHaveLength(1);
  ({ instruction_id: id = 0n, order_no: orderNo = '' } = rows[0] ?? {});
  expect(await decide({ kind: 'reject', reason: 'the customer keeps it' })).toBe('done');
  await letBrakeGo({ db: house.db }, order);
  await night(2);
}

async function decide(decision: Decision): Promise<string | undefined> {
  const deps = await (await house.open()).sendDeps();
  const [verdict] = await decideInstructions(deps, { ids: [id], decision, who: WHO });
  return verdict?.kind;
}

it('and everybody who has to find out what became of it is told when it was sent', async () => {
  const visitor = await console.withRole('approver');
  const page = (await visitor.get(`/instructions/${id}`)).body;
  expect(page).not.toContain('No attempt is on record');
  expect(page).toMatch(
    /What to look for in the merchant portal<\/h2>.*<li>Between .* and .*<\/li>/s,
  );
  expect(page).toMatch(/Before it was sent: authorised .*Since then: authorised /s);
  const shown = async (...args: string[]): Promise<string> =>
    (await tieoutHere(args, { cwd: house.folder })).stdout;
  const sheet = await shown('instructions', 'show', String(id));
  expect(sheet).toMatch(/\n {2}\S+ \S+ UTC {2}attempt \S+, alone: unanswered/);
  expect(sheet).toMatch(/merchant portal\n.*\n {2}between .* UTC and .* UTC\n/);
  expect(await shown('order', ACCOUNT, orderNo)).toMatch(/attempt .*unanswered/);
});

it('and an answer that comes after a person said no is read by a person', async () => {
  const words = { reason: 'not in the portal', reference: 'case 5' };
  expect(await decide({ kind: 'resolve', finding: 'not_happened', ...words })).toBe('done');
  const deps = await (await house.open()).sendDeps();
  const stateNow = async (): Promise<string | undefined> => {
    await recoverAttempts(deps, [ACCOUNT]);
    const { rows } = await house.db.query<{ state: string }>(
      'select state from tieout.instructions where instruction_id = $1',
      [id],
    );
    return rows[0]?.state;
  };
  expect(await stateNow()).toBe('rejected');
  await house.db.query(
    `insert into tieout.answers (attempt_id, received_at, http_status, content_type, body,
       body_sha256)
     select attempt_id, clock_timestamp(), 200, 'application/json', '{}', $1
     from tieout.attempts`,
    ['0'.repeat(64)],
  );
  expect(await stateNow()).toBe('unknown');
});
