// What happens at the console's doors is logged and told to the webhook, signed and dated: who came
// in, who was kept out, who may do what, that sending goes on, which forms were refused. A real
// console, a real receiver.

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deliverDue } from '../../src/alerts/deliverAlerts.js';
import { brakeStatus, pullBrake } from '../../src/brake/brake.js';
import { hidingSecrets } from '../../src/config/hiding.js';
import { TRY_LIMITS } from '../../src/web/visitor/identity.js';
import type { ConsoleHouse } from '../web/consoleHouse.js';
import { openConsole, signIn } from '../web/consoleHouse.js';
import type { Receiver, Told } from './receiver.js';
import { openReceiver } from './receiver.js';

const KEY = 'the-key-of-the-receiver';
const NOW = new Date('2026-11-20T03:17:11.412Z');
const TYPED = 'my-password-in-the-wrong-field';

let receiver: Receiver;
let console: ConsoleHouse;

beforeAll(async () => {
  receiver = await openReceiver();
  const webhook = `${receiver.address}/hook`;
  console = await openConsole({
    orders: 20,
    settings: { notify: { webhook, webhookKey: KEY, security: true } },
  });
  await console.addPerson('ada', [{ role: 'admin', accountId: null }]);
});
afterAll(async () => {
  await console.end();
  await receiver.close();
});

/** As docs/OPERATIONS.md tells a receiver to. */
function signatureOf({ headers, body }: Told): string {
  const signed = `${headers['tieout-message-id']}.${headers['tieout-timestamp']}.${body}`;
  return `v1=${createHmac('sha256', KEY).update(signed).digest('hex')}`;
}

/** The messages on security that came since the last time, in no order. */
async function told() {
  receiver.told = [];
  const { db, config, version } = console.app;
  const deps = { db, config, version, hide: hidingSecrets(config), now: () => NOW };
  await deliverDue({ ...deps, log: () => {} }, new AbortController().signal);
  return receiver.told
    .map((one) => ({ one, said: JSON.parse(one.body) }))
    .filter(({ said }) => {
      return said.event === 'security';
    });
}

const whats = (messages: Awaited<ReturnType<typeof told>>): string[] =>
  messages.map(({ said }) => said.what).sort();

it('who signs in is told, each time; who is kept out, once an hour, without what was typed', async () => {
  const [ada, stranger] = [console.signedOut(), console.signedOut()];
  for (let n = 0; n <= TRY_LIMITS.ownAtOnce; n += 1) await signIn(stranger, TYPED, 'wrong');
  for (let n = 0; n < 2; n += 1) await signIn(ada, 'ada');
  const messages = await told();
  expect(whats(messages)).toEqual(['locked_out', 'sign_in_refused', 'signed_in', 'signed_in']);
  const lines = console.lines.join('\n');
  expect(lines.match(/somebody was refused at the console/g)).toHaveLength(TRY_LIMITS.ownAtOnce);
  expect(lines).toContain('ada signed in to the console');
  expect(`${lines} ${JSON.stringify(messages)}`).not.toContain(TYPED);
});

it('people, forms and resumed sending are told, each by who did it', async () => {
  const ada = console.signedOut();
  await signIn(ada, 'ada');
  await told();
  await ada.post('/settings/invite', { name: 'kim', role: 'viewer' });
  await ada.post('/settings/invite', { name: 'lee', role: 'viewer', state: 'active' });
  await ada.raw('/brake/on', { words: 'without the token of the form' });
  const who = { name: 'ada', isClaim: false };
  await pullBrake(console.app, { accountId: null, reason: 'to look', who });
  await ada.post('/brake/off', { words: 'looked' });
  const messages = await told();
  expect(whats(messages)).toEqual(['form_refused', 'people_changed', 'sending_resumed']);
  expect(messages.map(({ said }) => said.text).sort()).toEqual([
    expect.stringMatching(
      /^ada changed who may use the console \(add person: kim, viewer\), from /,
    ),
    expect.stringMatching(/^ada let sending go on again \(1 lifted\), from /),
    expect.stringMatching(
      /^ada sent a form .*\(POST \/settings\/invite: fields that the form does not have\)/,
    ),
  ]);
  expect(console.lines.filter((line) => line.includes('that was refused'))).toHaveLength(2);
});

it('sending goes on only where those who watch are told of it', async () => {
  const ada = console.signedOut();
  await signIn(ada, 'ada');
  await told();
  const who = { name: 'ada', isClaim: false };
  await pullBrake(console.app, { accountId: null, reason: 'to look', who });
  await console.house.db.query(
    `create function fails() returns trigger language plpgsql as
       $$ begin raise exception 'as if the process died here'; end $$;
     create trigger fails before insert on tieout.outbox for each row execute function fails()`,
  );
  const before = console.lines.length;
  expect((await ada.post('/brake/off', { words: 'looked' })).statusCode).toBe(500);
  await console.house.db.query('drop function fails cascade');
  expect((await brakeStatus(console.app, [])).brakes).toHaveLength(1);
  expect(console.lines.slice(before).join('\n')).not.toContain('let sending go on again');
  await ada.post('/brake/off', { words: 'looked' });
  expect((await brakeStatus(console.app, [])).brakes).toEqual([]);
  expect(whats(await told())).toEqual(['sending_resumed']);
});

it('who goes beyond the limit of an address is told, once a minute', async () => {
  const flood = console.signedOut();
  const before = console.lines.length;
  const _csrf = await flood.token();
  const codes = new Set<number>();
  for (let n = 0; n < 40; n += 1) codes.add((await flood.raw('/sign-out', { _csrf })).statusCode);
  expect([...codes]).toEqual([303, 429]);
  const said = console.lines.slice(before).filter((line) => line.includes('Too many requests'));
  expect(said).toEqual([expect.stringMatching(/POST \/sign-out: Too many requests.*from 203/)]);
});

it('each message is signed with its date, so that neither can be exchanged', async () => {
  await signIn(console.signedOut(), 'ada');
  const [message] = await told();
  const one = message?.one as Told;
  expect(one.headers['tieout-timestamp']).toBe(String(Math.floor(NOW.getTime() / 1000)));
  expect(one.headers['tieout-signature']).toBe(signatureOf(one));
  expect(`${one.body} ${JSON.stringify(one.headers)}`).not.toContain(KEY);
  const later = { ...one.headers, 'tieout-timestamp': String(NOW.getTime() / 1000 + 60) };
  for (const changed of [
    { ...one, body: `${one.body} ` },
    { ...one, headers: later },
  ]) {
    expect(signatureOf(changed)).not.toBe(one.headers['tieout-signature']);
  }
});
