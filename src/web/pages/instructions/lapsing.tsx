// Whether the reservation that a capture would take still holds: who approves it must see that.

import type { ShownAuthorisation } from '../../../authorisations/authorisations.js';
import { shownAuthorisations } from '../../../authorisations/authorisations.js';
import type { Words } from '../../format.js';
import { State } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { askedNow } from '../authorisations.js';

/** Of so many at most it is said, those that can still be taken before those that lapsed. */
const LAPSING_MAX = 10_000;

/** What lapses before another night tells of it, or has lapsed, by the capture that takes it. */
export async function lapsingOf(
  visit: Visit,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, ShownAuthorisation>> {
  const { db, config } = visit.deps;
  const page = { isAll: false, order: 'hours', limit: LAPSING_MAX, offset: 0 } as const;
  const found = await shownAuthorisations(db, config, accountIds, await askedNow(visit), page);
  return new Map(
    found.flatMap((one): [string, ShownAuthorisation][] =>
      one.instructionId === null || one.operation !== 'capture' ? [] : [[one.instructionId, one]],
    ),
  );
}

export function Lapsing({ of, words }: { of: ShownAuthorisation | undefined; words: Words }) {
  if (of === undefined || of.lapsesAt === null) return null;
  const at = words.at(of.lapsesAt);
  return of.standing === 'lapsed' ? (
    <span class="line">
      <State state="lapsed" /> Its reservation lapsed at {at}: the gateway may refuse it.
    </span>
  ) : (
    <span class="line">
      Its reservation lapses at {at}, in {of.hoursLeft} h.
    </span>
  );
}
