// Which accounts of a night ask somebody to do something, and in which order many of them are
// shown: the page of the night and the print of a run have the same. Pure.

import type { AccountSummary, RunState, RunSummary } from '../runs/summary.js';
import { RUN_STATES } from '../runs/summary.js';
import { stateLabel } from '../text/labels.js';
import { byName } from './alike.js';

/**
 * Money of which nobody can say whether it moved, the worst state, then what waits for a person,
 * then the most open breaks.
 */
export function toDoFirst(
  accounts: readonly AccountSummary[],
  night: Pick<RunSummary, 'notices'>,
): AccountSummary[] {
  const empty = withoutOrders(night);
  const rank = ({ accountId, state }: AccountSummary) =>
    RUN_STATES.indexOf(shownState(state, empty.has(accountId)).state);
  return accounts.toSorted(
    (a, b) =>
      Number(has(b, 'unknown')) - Number(has(a, 'unknown')) ||
      rank(b) - rank(a) ||
      Number(has(b, 'held')) - Number(has(a, 'held')) ||
      b.tie.openAfter - a.tie.openAfter ||
      byName(a.accountId, b.accountId),
  );
}

/** Accounts of which nothing was compared: the ledger has not a single order of them. */
export function withoutOrders({ notices = [] }: Pick<RunSummary, 'notices'>): ReadonlySet<string> {
  const told = notices.filter(({ kind }) => kind === 'no_orders');
  return new Set(told.map(({ accountId }) => accountId));
}

/** Where nothing was compared nothing differs, which is no good news. */
export function shownState(state: RunState, isEmpty: boolean): { state: RunState; words: string } {
  if (isEmpty) return { state: 'incomplete', words: 'NO ORDERS in the ledger' };
  return { state, words: stateLabel(state) };
}

/** Accounts of which nothing is to be said but that they tie. */
export function thatSimplyTie({ accounts, notices = [] }: RunSummary): AccountSummary[] {
  const told = new Set(
    notices.filter(({ kind }) => kind !== 'first_seen_word').map(({ accountId }) => accountId),
  );
  return accounts.filter(
    (one) =>
      one.state === 'tied_out' &&
      one.tie.openAfter === 0 &&
      !has(one, 'held') &&
      !has(one, 'unknown') &&
      !told.has(one.accountId),
  );
}

/** Somebody has to decide, or to find out. */
function has({ instructions }: AccountSummary, state: 'held' | 'unknown'): boolean {
  return Object.values(instructions).some((counts) => (counts?.[state] ?? 0) > 0);
}
