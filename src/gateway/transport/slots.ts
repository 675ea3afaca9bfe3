// So many things at once and no more: what comes later waits its turn. The profile's
// limits.concurrency holds for a whole process, whatever number of jobs it works on; waiting here
// does not count against the deadline of a request. Of those who wait the lowest rank goes first,
// so that one job comes to its end while the others wait, instead of all ending at once.

export type Slots = <T>(work: () => Promise<T>, rank?: bigint) => Promise<T>;

interface Waiter {
  rank: bigint;
  begin: () => void;
}

export function openSlots(size: number): Slots {
  let free = size;
  const waiting: Waiter[] = [];
  return async (work, rank = 0n) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => waiting.push({ rank, begin }));
    try {
      return await work();
    } finally {
      const next = takeFirst(waiting);
      // A slot is handed on directly, so that nobody can slip in between.
      if (next) next.begin();
      else free += 1;
    }
  };
}

/** The one with the lowest rank that waits longest. */
function takeFirst(waiting: Waiter[]): Waiter | undefined {
  let first = 0;
  for (const [place, waiter] of waiting.entries()) {
    if (waiter.rank < (waiting[first]?.rank ?? waiter.rank)) first = place;
  }
  return waiting.splice(first, 1)[0];
}
