// A stop that only a person ends is in the sentence of a night that has nothing to send, and a freeze
// is told by itself, once. The whole program, a journal of permits that somebody deleted.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messageOf } from '../../src/core/errors.js';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import { inJournalWords } from '../../src/send/journal/journalTrouble.js';
import { tieoutHere } from '../support/cliHere.js';
import { moveClock } from '../support/movedClock.js';
import type { House } from '../support/night.js';
import { buildHouse, kinds } from '../support/night.js';

const NOWHERE = 'http://127.0.0.1:9/hook';
const RESUMED = 'to resume: tieout brake off --reason TEXT';
let house: House;

beforeAll(async () => {
  house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: { operations: { capture: 'approve' }, notify: { webhook: NOWHERE } },
  });
});
afterAll(() => house.end());

const here = (...words: string[]) =>
  tieoutHere([...words, '--config', house.file], { cwd: house.folder });

async function night(): Promise<{ code: number | null; sentence: string }> {
  const { code, stdout, stderr } = await here('run', '--json');
  expect(stdout, stderr).not.toBe('');
  return { code, sentence: runSentence(JSON.parse(stdout) as RunSummary) };
}

async function told(event: string): Promise<string[]> {
  const { rows } = await house.db.query<{ text: string }>(
    `select body ->> 'text' as text from tieout.outbox where event = $1 order by seq`,
    [event],
  );
  return rows.map(({ text }) => text);
}

it('a night under the stop of a person that has nothing to send says so at its end', async () => {
  expect((await night()).sentence).toMatch(/ tied out: .* 2 instructions waiting for approval\.$/);
  expect((await here('brake', 'on', '--reason', 'the acquirer called')).code).toBe(0);
  const { code, sentence } = await night();
  expect(code).toBe(0);
  const ending = `; sending is stopped for all accounts by a person; ${RESUMED}.`;
  expect(sentence.endsWith(`2 instructions waiting for approval${ending}`), sentence).toBe(true);
  expect((await told('night_finished')).at(-1)).toBe(sentence);
  expect(await told('sending_frozen')).toEqual([]);
  const stopped = /^WARNING +sending +sending is stopped for all accounts since .*brake off/m;
  expect((await here('doctor')).stdout).toMatch(stopped);
  const first = async () => (await here('status')).stdout.split('\n')[0] ?? '';
  expect((await first()).endsWith(ending)).toBe(true);
  expect((await here('brake', 'off', '--reason', 'looked')).code).toBe(0);
  // As it is now: the night that ended under the stop is still the newest.
  expect(await first()).toMatch(/ tied out: .* 2 instructions waiting for approval\.$/);
  expect((await night()).sentence).toMatch(/waiting for approval\.$/);
});

it('a freeze ends the sentence of each night, and is told by itself once', async () => {
  const place = join(house.folder, 'var', 'journal');
  expect((await here('doctor')).stdout).toMatch(/^ok +journal +the database knows all of its/m);
  rmSync(place, { recursive: true, force: true });
  // Before the night finds it, and without doing what the night does.
  const before = await here('doctor');
  expect(before.code).toBe(1);
  expect(before.stdout).toMatch(
    /^PROBLEM +journal +the journal of permits at .* is gone: who sends next/m,
  );
  expect(existsSync(place)).toBe(false);
  expect((await here('brake', 'status')).stdout).toContain('Nobody has stopped sending.');
  const { code, sentence } = await night();
  expect(code).toBe(0);
  const gone = `the journal of permits at ${place} is gone (host `;
  const stopped = `ending is stopped for all accounts: ${gone}`;
  expect(sentence).toContain(` tied out: 2 orders compared, no open difference; `);
  expect(sentence).toContain(`; s${stopped}`);
  expect(sentence.endsWith(`; ${RESUMED}.`), sentence).toBe(true);
  expect((await told('night_finished')).at(-1)).toBe(sentence);
  const frozen = await told('sending_frozen');
  expect(frozen).toEqual([expect.stringContaining(`S${stopped}`)]);
  expect(frozen[0]?.endsWith(RESUMED)).toBe(true);
  const during = await here('doctor');
  expect(during.code).toBe(1);
  expect(during.stdout).toMatch(/^PROBLEM +sending +all sending is frozen since .*brake off/m);
  // Each process of a night finds it anew; so does each night.
  await night();
  expect((await told('sending_frozen')).length).toBe(1);
  expect((await here('status')).stdout).toContain(`; s${stopped}`);
  // Another freeze is another message.
  expect((await here('brake', 'off', '--reason', 'looked')).code).toBe(0);
  expect((await night()).sentence).toMatch(/waiting for approval\.$/);
  rmSync(place, { recursive: true, force: true });
  await night();
  expect((await told('sending_frozen')).length).toBe(2);
});

it('a journal that cannot be written is said before a night, without a name made up', async () => {
  const place = join(house.folder, 'var', 'journal');
  expect((await here('brake', 'off', '--reason', 'looked')).code).toBe(0);
  rmSync(place, { recursive: true, force: true });
  writeFileSync(place, 'no folder');
  const trouble = `the journal of permits at ${place} cannot be written, a part of the path is no folder`;
  const status = (await here('brake', 'status')).stdout;
  expect(status).toContain(`Nothing is sent from this host: ${trouble}\n`);
  expect(status).toContain('Account A1001: sends; its next batch is a canary of one, but not from');
  const doctor = await here('doctor');
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(trouble)]);
  rmSync(place);
  expect((await here('brake', 'status')).stdout).not.toContain('this host');
  const readOnly = Object.assign(new Error('EROFS'), { code: 'EROFS', path: '/j/x.1b2c.new' });
  expect(messageOf(inJournalWords('/j', readOnly))).toBe(
    'the journal of permits at /j cannot be written, the disk is read-only: mount it writable again',
  );
});

it('doctor with the database away looks at all that needs none, in JSON as well', async () => {
  const settings = JSON.parse(readFileSync(house.file, 'utf8')) as { database: { url: string } };
  settings.database.url = 'postgres://nobody@127.0.0.1:9/away';
  const file = join(house.folder, 'away.yaml');
  writeFileSync(file, JSON.stringify(settings));
  const found = await tieoutHere(['doctor', '--json', '--config', file], { cwd: house.folder });
  expect(found.code).toBe(1);
  const { checks } = JSON.parse(found.stdout) as { checks: { name: string; kind: string }[] };
  expect(checks).toContainEqual({
    name: 'database',
    kind: 'problem',
    words: expect.stringContaining('nothing listens there'),
  });
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['configuration', 'account A1001', 'room', 'alerts']),
  );
});

it('a clock that is off is said where one asks why nothing is sent', async () => {
  const clock = await moveClock(house.db);
  await clock.set(new Date(Date.now() - 3_600_000));
  const trouble = /the clock of this host is 36\d\d s ahead of the database's: set the one that is/;
  const status = (await here('brake', 'status')).stdout;
  expect(status).toMatch(new RegExp(`^Nothing is sent from this host: ${trouble.source}`));
  expect(status).toMatch(/Account A1001: .*, but not from this host/);
  expect((await here('doctor')).stdout).toMatch(new RegExp(`PROBLEM {2}clock .*${trouble.source}`));
  await clock.set(new Date());
  expect((await here('brake', 'status')).stdout).not.toContain('this host');
});
