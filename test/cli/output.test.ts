// Standard output that takes not all, or nothing: a disk that fills up, a reader that goes away.
// The command works on to its end, and its exit code says what the work came to. The built program.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended } from '../support/cli.js';
import { startTieout } from '../support/cli.js';
import type { House } from '../support/night.js';
import { buildHouse } from '../support/night.js';

const FULL = 'tieout: standard output cannot be written, the disk is full: make room\n';
/** Before the words of the program; `$0` is the first of them. */
const INTO_FULL = 'exec "$0" "$@" > /dev/full';
const TO_NOBODY = 'set -o pipefail; "$0" "$@" | exec 0<&-';

describe.skipIf(!existsSync('/dev/full'))('standard output', () => {
  let house: House;
  beforeAll(async () => {
    house = await buildHouse({ orders: 200, seed: 5 });
    const { state } = (await house.run()).summary;
    expect(state).toBe('broken');
  });
  afterAll(() => house.end());

  const sent = (script: string, ...words: string[]): Promise<Ended> =>
    startTieout(words, { cwd: house.folder, prefix: ['bash', '-c', script] }).ended;

  it('on a full disk is a failure, said once', async () => {
    for (const words of [['export', 'outcomes'], ['runs', 'list', '--json'], ['breaks']]) {
      expect(await sent(INTO_FULL, ...words)).toMatchObject({ code: 1, stderr: FULL });
    }
  });

  it('on a full disk leaves a run what it came to', async () => {
    const { code, stderr } = await sent(INTO_FULL, 'run');
    expect([code, stderr.split(FULL).length]).toEqual([3, 2]);
  });

  it('that a disk has room for a part of is a failure', async () => {
    const file = join(house.folder, 'cut.txt');
    const script = `trap '' XFSZ; ulimit -f 1; exec "$0" "$@" > ${file}`;
    const { code, stderr } = await sent(script, 'completion', 'bash');
    expect(readFileSync(file)).toHaveLength(1024);
    expect([code, stderr]).toEqual([1, 'tieout: standard output cannot be written, EFBIG\n']);
  });

  it('that nobody reads stays quiet, and the code is that of the work', async () => {
    expect(await sent(TO_NOBODY, 'runs', 'list')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await sent(TO_NOBODY, 'export', 'outcomes')).toMatchObject({ code: 0, stderr: '' });
    for (const words of [['run'], ['run', '--json']]) {
      const { code, stderr } = await sent(TO_NOBODY, ...words);
      expect([code, stderr]).toEqual([3, expect.not.stringMatching(/standard output|EPIPE/)]);
    }
  });
});
