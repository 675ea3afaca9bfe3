// One person decides about all that is held, one by one, with or without the digest of what was seen.

import type { App } from '../../src/cli/app.js';
import type { Decider } from '../../src/core/instructions/decider.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import { sheetOf } from '../../src/instructions/instructionSheet.js';

/** Answers what was said of each. */
export async function decideHeld(
  app: App,
  who: Decider,
  kind: 'approve',
  hasSeen: boolean,
): Promise<string[]> {
  const { rows } = await app.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions where state = 'held' order by 1`,
  );
  const said: string[] = [];
  for (const { id } of rows) {
    const sheet = await sheetOf({ db: app.db, refundReasonTag: true }, id);
    const seen = new Map(hasSeen ? [[id, sheet?.seenSha256 ?? '']] : []);
    const deps = { db: app.db, queuePort: { enqueue: async () => {} }, now: () => new Date() };
    const request = { ids: [id], decision: { kind, reason: null }, who, seen };
    const verdicts = await decideInstructions({ ...deps, log: () => {} }, request);
    said.push(...verdicts.map(({ words }) => words));
  }
  return said;
}
