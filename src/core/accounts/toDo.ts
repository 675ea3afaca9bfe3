// Which accounts of a night ask somebody to do something, and in which order many of them are
// shown: the page of the night and the print of a run have the same. Pure.

import type { AccountSummary, RunSummary } from '../runs/summary.js';
import { RUN_STATES } from '../runs/summary.js';
import { byName } from './alike.js';

/** The worst state, then what waits for a person, then the most open breaks. */
export function toDoFirst(a: AccountSummary, b: AccountSummary): number {
  const state = (one: AccountSummary) => RUN_STATES.indexOf(one.state);
  return (
    state(b) - state(a) ||
    Number(waitsForSomebody(b)) - Number(waitsForSomebody(a)) ||
    b.tie.openAfter - a.tie.openAfter ||
    byName(a.accountId, b.accountId)
  );
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
      !waitsForSomebody(one) &&
      !told.has(one.accountId),
  );
}

/** Somebody has to decide, or to find out. */
function waitsForSomebody({ instructions }: AccountSummary): boolean {
  return Object.values(instructions).some(({ held = 0, unknown = 0 } = {}) => held + unknown > 0);
}
