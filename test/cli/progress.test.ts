// Where nothing is drawn a long step says every ten seconds how far it is, and once that it is done.

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { openProgress } from '../../src/cli/progress.js';

afterEach(() => vi.useRealTimers());

test('a pull of many pages is heard of', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const stream = new PassThrough().setEncoding('utf8');
  const about = { quiet: false, isService: false, version: '1', zone: 'Europe/Berlin' };
  const settings = { ...about, hide: (text: string) => text };
  const { progress } = await openProgress(stream as never, settings);
  for (let page = 0; page <= 30; page += 1) {
    progress('pull', page, 30);
    vi.advanceTimersByTime(1_000);
  }
  progress('pull', 30, 30);
  const lines = String(stream.read()).trim().split('\n');
  const said = lines.map((line) => line.slice(line.lastIndexOf('  ') + 2));
  expect(said).toEqual(['pull: 10 of 30', 'pull: 20 of 30', 'pull: done']);
  // One format of times, in the schedule's zone, as in all that the command says.
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Europe\/Berlin {2}pull/;
  for (const line of lines) expect(line).toMatch(time);
});
