// What a night tells beside its figures, for tests that put all their orders into one account.

import type { RunSummary } from '../../src/core/runs/summary.js';

/** All notices, save that an account of the house has no orders. */
export function noticesOf({ notices }: RunSummary) {
  return (notices ?? []).filter(({ kind }) => kind !== 'no_orders');
}
