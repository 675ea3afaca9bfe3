// A stop that only a person ends is in the sentence of a night that has nothing to send, and a freeze
// is told by itself, once. The whole program, a journal of permits that somebody deleted.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/runs/summary.js';
import { runSentence } from '../../src/core/runs/summary.js';
import { tieoutHere } from '../support/cliHere.js';
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
  expect((await here('brake', 'off', '--reason', 'looked')).code).toBe(0);
  expect((await night()).sentence).toMatch(/waiting for approval\.$/);
});

it('a freeze ends the sentence of each night, and is told by itself once', async () => {
  const place = join(house.folder, 'var', 'journal');
  rmSync(place, { recursive: true, force: true });
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
