// Who may be at the gateway, of the batches of one process. So many are there at a time as the
// profile's limits.concurrency says, from the first byte to the last; a few more get ready
// meanwhile, so that the gateway need not wait for our own books. Whoever is ready waits for its
// turn, but not for long: hence nobody gets ready ahead while the gateway answers slowly.

export interface Turns {
  /** Getting ready and being there, from the connection to the answer. */
  prepare<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Being there; `answered` is told when the answer has come. Null: the turn did not come in time,
   * and nothing was done.
   */
  atGateway<T>(waitMs: number, work: (answered: () => void) => Promise<T>): Promise<T | null>;
}

/** Half as many again get ready; a process that is killed leaves these in doubt, too. */
const AHEAD_SHARE = 0.5;
/** A gateway that takes longer is slow: nobody gets ready before it has a turn. */
export const QUICK_MS = 500;

interface Waiter {
  end: (isTurn: boolean) => void;
}

/** `monotonic`: a clock in milliseconds that never goes back. */
export function openTurns(size: number, monotonic: () => number): Turns {
  const ahead = Math.ceil(size * AHEAD_SHARE);
  const toPrepare: (() => void)[] = [];
  const toEnter: Waiter[] = [];
  /** when each of those at the gateway began, the earliest first */
  const there = new Map<symbol, number>();
  let preparing = 0;
  let free = size;
  let lastTookMs: number | null = null;

  const isQuick = (): boolean => {
    if (lastTookMs === null || lastTookMs > QUICK_MS) return false;
    const [earliest = monotonic()] = there.values();
    return monotonic() - earliest <= QUICK_MS;
  };
  const admit = (): void => {
    while (toPrepare.length > 0 && preparing < size + (isQuick() ? ahead : 0)) {
      preparing += 1;
      toPrepare.shift()?.();
    }
  };
  const leave = (): void => {
    const next = toEnter.shift();
    // A turn is handed on directly, so that nobody can slip in between.
    if (next) next.end(true);
    else free += 1;
  };
  return {
    prepare: async (work) => {
      const admitted = new Promise<void>((begin) => toPrepare.push(begin));
      admit();
      await admitted;
      try {
        return await work();
      } finally {
        preparing -= 1;
        admit();
      }
    },
    atGateway: async (waitMs, work) => {
      if (free > 0) free -= 1;
      else if (!(await turnOf(toEnter, waitMs))) return null;
      const one = Symbol('turn');
      const began = monotonic();
      there.set(one, began);
      try {
        return await work(() => {
          lastTookMs = monotonic() - began;
        });
      } finally {
        there.delete(one);
        leave();
      }
    },
  };
}

/** Stands in line; false when the time was over first. */
function turnOf(line: Waiter[], waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const waiter: Waiter = {
      end: (isTurn) => {
        clearTimeout(timer);
        resolve(isTurn);
      },
    };
    const timer = setTimeout(() => {
      line.splice(line.indexOf(waiter), 1);
      waiter.end(false);
    }, waitMs);
    line.push(waiter);
  });
}
