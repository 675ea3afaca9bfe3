// The recipe of docs/AUDIT.md, run as it stands there: psql and sha256sum alone come to the same as
// tieout, and notice what was changed.

import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkChain } from '../../src/verify/verifyChainStore.js';
import type { House } from '../support/night.js';
import { addressOf, buildHouse } from '../support/night.js';
import { textOf } from '../support/sourceFiles.js';

const hasTools = ['psql', 'sha256sum'].every(
  (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0,
);

describe.skipIf(!hasTools)('the recipe for an auditor', () => {
  let house: House;
  const recipe = /```sh\n(.*?)```/s.exec(textOf('docs/AUDIT.md'))?.[1] ?? '';
  const run = (): string =>
    execFileSync('bash', ['-c', recipe], {
      env: { ...process.env, DATABASE: addressOf(house.connection) },
      encoding: 'utf8',
    });

  beforeAll(async () => {
    house = await buildHouse({ orders: 120, seed: 2 });
    await house.run();
  });
  afterAll(() => house.end());

  test('says nothing of a chain that is whole', async () => {
    expect(recipe).toContain('tieout.facts');
    expect((await checkChain(house.db, () => {})).broken).toEqual([]);
    expect(run()).toBe('');
  });

  test('names the link behind which something was changed', async () => {
    await house.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(`update tieout.run_ends set state = 'tied_out'`);
      await tx.query(`delete from tieout.chain_links where account_id = 'A1001' and link_no = 2`);
    });
    const said = run();
    expect(said).toMatch(/^link \d+ of account '' \(end, .*\): facts changed$/m);
    expect(said).toMatch(/^link 3 of account 'A1001': a link is missing$/m);
    expect(said).toMatch(/^\d+ facts of kind \w+ bear a link that is not there$/m);
    expect(said.trim().split('\n').length).toBe(3);
  });
});
