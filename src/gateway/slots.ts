// So many things at once and no more: what comes later waits its turn. The profile's
// limits.concurrency holds for a whole process, whatever number of jobs it works on; waiting here
// does not count against the deadline of a request.

export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

export function openSlots(size: number): Slots {
  let free = size;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // A slot is handed on directly, so that nobody can slip in between.
      if (next) next();
      else free += 1;
    }
  };
}
