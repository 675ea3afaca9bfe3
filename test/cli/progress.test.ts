// Where nothing is drawn a long step says every ten seconds how far it is, and once that it is done.

import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { openProgress } from '../../src/cli/progress.js';

afterEach(() => vi.useRealTimers());

test('a pull of many pages is heard of', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const stream = new PassThrough().setEncoding('utf8');
  const settings = { quiet: false, isService: false, version: '1', hide: (text: string) => text };
  const { progress } = await openProgress(stream as never, settings);
  for (let page = 0; page <= 30; page += 1) {
    progress('pull', page, 30);
    vi.advanceTimersByTime(1_000);
  }
  progress('pull', 30, 30);
  const lines = String(stream.read()).trim().split('\n');
  const said = lines.map((line) => line.slice(line.indexOf(' ') + 1));
  expect(said).toEqual(['pull: 10 of 30', 'pull: 20 of 30', 'pull: done']);
});
