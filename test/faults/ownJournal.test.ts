// Who lets go on the host itself: its own journal is there, and is held against the database before
// anything is sent, so that nobody goes on without it and nothing is taken for lost.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownJournal } from '../../src/brake/brake.js';
import { thisMachine } from '../../src/processes/identity.js';
import { openPermitJournal } from '../../src/send/journal/permitJournal.js';
import { startTieout } from '../support/cli.js';
import { openGuard } from '../support/guards.js';
import { buildHouse, instructionCounts, kinds } from '../support/night.js';

test('the brake that a person pulled is let go, and nothing else with it', async () => {
  const house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
  });
  try {
    await house.run();
    expect(await instructionCounts(house.db)).toEqual({ 'capture held': 2 });
    // As each command finds an embedded server: begun since the journal was last held against it.
    const { host, place } = ownJournal({ dataDir: join(house.folder, 'var') });
    await house.db.query(
      `insert into tieout.journals (journal_id, host, place, verified_at, verified_start,
         verified_timeline)
       values (gen_random_uuid(), $1, $2, clock_timestamp(), '0', '0')`,
      [host, place],
    );
    const cli = (...words: string[]) =>
      startTieout(['brake', ...words, '--config', house.file], { cwd: house.folder }).ended;
    expect((await cli('on', '--reason', 'a look first')).code).toBe(0);
    const off = await cli('off', '--reason', 'looked');
    expect(off.stdout).toContain('Lifted: the stop for all accounts since');
    expect(off.stdout).not.toContain('journals of permits');
    const { rows } = await house.db.query('select distinct hold_reason from tieout.instructions');
    expect(rows).toEqual([{ hold_reason: 'approval' }]);
    expect((await cli('off', '--reason', 'again')).stdout).toContain('Nothing was on');
  } finally {
    await house.end();
  }
});

test('a journal that is gone before anything was sent is named, and let go by a person', async () => {
  const house = await buildHouse({
    orders: 900,
    inLedger: kinds({ capture_due: 2 }, 'A1001'),
    settings: { operations: { capture: 'approve' } },
  });
  try {
    const { place } = ownJournal({ dataDir: join(house.folder, 'var') });
    const verify = async () => {
      const open = () => openPermitJournal(join(house.folder, 'var'));
      const guard = openGuard({ db: house.db, host: thisMachine(), open });
      const problem = await guard.verify();
      await guard.close();
      return problem;
    };
    expect(await verify()).toBeNull();
    rmSync(place, { recursive: true, force: true });
    // Every claim would wait for it once the server was started anew, and nobody could let it go.
    expect(await verify()).toContain(`the journal of permits at ${place} is gone`);
    const off = await startTieout(['brake', 'off', '--reason', 'looked', '--config', house.file], {
      cwd: house.folder,
    }).ended;
    expect(off.stdout).toContain('is gone');
    expect(await verify()).toBeNull();
  } finally {
    await house.end();
  }
});
