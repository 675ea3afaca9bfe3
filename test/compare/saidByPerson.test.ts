// A break of an outcome that nobody knew, after a person said what became of it: neither side
// changed, and what resolved the break is that word, told with the name of who gave it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { causeLabel } from '../../src/core/text/labels.js';
import { decideInstructions } from '../../src/instructions/decisions.js';
import type { Front } from '../faults/front.js';
import { drop } from '../faults/front.js';
import { houseBehind } from '../faults/houseBehind.js';
import type { House } from '../support/night.js';
import { dateOf, kinds } from '../support/night.js';

let house: House;
let front: Front;

/** In the morning after that date. */
const night = (daysAgo: number) =>
  house.run({ date: dateOf(daysAgo) }, new Date(`${dateOf(daysAgo - 1)}T04:15:00Z`));

beforeAll(async () => {
  ({ house, front } = await houseBehind({
    orders: 900,
    daysAgo: 3,
    inLedger: kinds({ partial_refund_due: 2 }),
    settings: { operations: { refund: 'auto' } },
  }));
  front.trouble = (call) => call.operation === 'refund' && drop(call);
  await night(3);
  await night(2);
}, 180_000);

afterAll(() => house.end());

test('is resolved by that word, whichever it is', async () => {
  const unknown = await house.db.query<{ id: bigint }>(
    `select instruction_id as id from tieout.instructions i
     join tieout.breaks b using (account_id, order_no)
     where i.state = 'unknown' and b.kind = 'outcome_unknown' and b.state = 'open'
     order by instruction_id`,
  );
  const [came, went] = unknown.rows.map(({ id }) => id);
  const deps = await (await house.open()).sendDeps();
  const who = { name: 'anna', isClaim: false };
  for (const [id, finding] of [
    [came, 'happened'],
    [went, 'not_happened'],
  ] as const) {
    const decision = { kind: 'resolve', finding, reason: 'looked', reference: 'PORTAL-1' } as const;
    await decideInstructions(deps, { ids: [id ?? 0n], decision, who });
  }
  // Whoever has it planned again has said nothing of the first one.
  front.trouble = () => false;
  const again = { kind: 'replan', reason: null } as const;
  const bert = { name: 'bert', isClaim: false };
  await decideInstructions(deps, { ids: [went ?? 0n], decision: again, who: bert });
  await night(1);
  const { rows } = await house.db.query(
    `select e.cause, e.reason, e.by from tieout.break_events e join tieout.breaks b using (break_id)
     where b.kind = 'outcome_unknown' and e.event = 'resolved'`,
  );
  const one = { cause: 'decision', reason: 'anna said what became of it', by: 'tieout' };
  expect(rows).toEqual([one, one]);
  expect(causeLabel('decision')).toBe('a person said what became of what we sent');
});
