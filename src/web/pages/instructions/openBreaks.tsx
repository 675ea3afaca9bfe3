// What is open of the same order: who approves an instruction must see that something else of it
// differs, which the instruction may not heal, or would make worse.

import type { FoundBreak } from '../../../breaks/breaksStore.js';
import { findBreaks } from '../../../breaks/breaksStore.js';
import { moneyIn } from '../../../core/text/amounts.js';
import { labelOf } from '../../../core/text/labels.js';
import type { Words } from '../../format.js';
import { Said } from '../../layout/said.js';
import type { Visit } from '../../visit.js';
import { sentenceOf } from '../breaks/breaks.js';

/** An order has one open break of a kind at most. */
const BREAKS_MAX = 50;

export function openBreaksOf(
  { deps }: Visit,
  of: { accountId: string; orderNo: string },
): Promise<FoundBreak[]> {
  const filter = { accountIds: [of.accountId], orderNo: of.orderNo, states: ['open'] as const };
  return findBreaks(deps.db, filter, { limit: BREAKS_MAX, offset: 0 });
}

export function OpenBreaks({ open, words }: { open: readonly FoundBreak[]; words: Words }) {
  if (open.length === 0) return null;
  return (
    <>
      <h2>Open breaks of the same order</h2>
      <ul>
        {open.map((one) => (
          <li>
            <a href={`/breaks/${one.breakId}`}>{labelOf(one.kind)}</a>:{' '}
            <Said text={sentenceOf(one)} zone={words.zone} />
            {one.stake === null || one.currency === null
              ? ''
              : `; ${moneyIn(one.stake, one.currency)} at stake`}
            . Owner: {one.owner ?? 'nobody yet'}.
            {one.waiverAskedBy === null
              ? ''
              : ` ${one.waiverAskedBy} asked to waive it: that waits for a second person.`}
          </li>
        ))}
      </ul>
    </>
  );
}
