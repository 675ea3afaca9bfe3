// A few accounts of each kind of difference through import, matching, breaks and figures, beside an
// oracle that shares no code with the program. Many more: `npm run settlement -- --seeds 200`
// (docs/RELIABILITY.md).

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../support/cli.js';
import { freshDatabase } from '../support/database.js';

const SEEDS = 3;
const FIRST = Number(process.env.TIEOUT_SETTLEMENT_SEED ?? '1');

interface Stages {
  KINDS: readonly string[];
  MODULES: object;
  drawMerchant: (kind: string, seed: number) => object;
  runStages: (place: object, merchants: readonly object[]) => Promise<Found>;
}
interface Found {
  differences: string[];
  breaks: number;
  items: number;
}
interface Programs {
  loadProgram: (root: string | undefined, modules: object) => Promise<object>;
}

const folder = mkdtempSync(join(tmpdir(), 'tieout-settlement-'));
const fresh = await freshDatabase();
const { db } = fresh;
beforeAll(() => ensureBuilt(), 120_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fresh.drop();
});

/** Programs of their own, without types. */
const load = async (path: string) => (await import(new URL(path, import.meta.url).href)) as never;

it('says of each kind of difference what the oracle says', { timeout: 120_000 }, async () => {
  const { KINDS, MODULES, drawMerchant, runStages }: Stages = await load(
    '../../proof/settlement/stages.mjs',
  );
  const { loadProgram }: Programs = await load('../../proof/program.mjs');
  const program = await loadProgram(undefined, MODULES);
  const merchants = KINDS.flatMap((kind) =>
    Array.from({ length: SEEDS }, (_, at) => drawMerchant(kind, FIRST + at)),
  );
  const found = await runStages({ program, db, folder }, merchants);
  expect(found.differences).toEqual([]);
  expect(found.breaks).toBeGreaterThan(200);
  expect(found.items).toBeGreaterThan(500);
});

it('differs from the oracle where a break is lost', { timeout: 120_000 }, async () => {
  const { MODULES, drawMerchant, runStages }: Stages = await load(
    '../../proof/settlement/stages.mjs',
  );
  const { loadProgram }: Programs = await load('../../proof/program.mjs');
  const program = await loadProgram(undefined, MODULES);
  await db.query(`create function tieout.lose_a_break() returns trigger language plpgsql as
    'begin return null; end'`);
  await db.query(`create trigger lose_a_break before insert on tieout.breaks for each row
    when (new.kind = 'fee_variance') execute function tieout.lose_a_break()`);
  const merchant = drawMerchant('another fee', 9_001);
  const { differences } = await runStages({ program, db, folder }, [merchant]);
  expect(differences.join('\n')).toMatch(/breaks: missing .*fee_variance/);
});
