// One person decides about all that is held, one by one, with or without the digest of what was
// seen: now, or earlier.

import type { App } from '../../src/cli/app.js';
import type { Decider } from '../../src/core/instructions/decider.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';

export type Seen = ReadonlyMap<bigint, string>;

/** Answers what was said of each. */
export async function decideHeld(
  app: App,
  who: Decider,
  kind: 'approve',
  wasSeen: boolean | Seen,
): Promise<string[]> {
  const now = await seenNow(app);
  const seen = wasSeen === true ? now : wasSeen || new Map();
  const said: string[] = [];
  for (const id of now.keys()) {
    const { config, db } = app;
    const queuePort = { enqueue: async () => {} };
    const deps = { config, db, queuePort, now: () => new Date() };
    // The sheet of each, and nothing beside it: a workbook of now is none.
    const isAlone = wasSeen === true;
    const request = { ids: [id], decision: { kind, reason: null }, who, seen, isAlone };
    const verdicts = await decideInstructions({ ...deps, log: () => {} }, request);
    said.push(...verdicts.map(({ words }) => words));
  }
  return said;
}

/** The digest of each that is held, as its sheet or the workbook of a night has it. */
export async function seenNow({ db }: App): Promise<Seen> {
  const { rows } = await db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where state = 'held' order by 1`,
  );
  const seen = new Map<bigint, string>();
  for (const { id } of rows) {
    const sheet = await sheetOf({ db, refundReasonTag: true }, id);
    seen.set(id, sheet?.seenSha256 ?? '');
  }
  return seen;
}
