// How long a movement of money may take from its claim, or from the record of a call by hand, to
// its first byte (law 1 of ARCHITECTURE.md): what stood still for longer does not go.

import { SEND_BUDGET_MS } from './batches/attemptsStore.js';
import type { SendDeps } from './deps.js';

export type Clocks = Pick<SendDeps, 'monotonic' | 'now'>;

/** By the clock that never goes back, and by the one on the wall. */
export interface Moment {
  steady: number;
  wall: number;
}

export function momentOf(clocks: Clocks): Moment {
  return { steady: clocks.monotonic(), wall: clocks.now().getTime() };
}

/** By both clocks: one may be set back, the other stands still while a machine sleeps. */
export function isInBudget(clocks: Clocks, began: Moment): boolean {
  const { steady, wall } = momentOf(clocks);
  return Math.max(steady - began.steady, wall - began.wall) < SEND_BUDGET_MS;
}
