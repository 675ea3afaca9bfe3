// Whether this process has a way to the gateway: which pages it asks itself, when one was last
// answered, and how long it leaves pages alone where others are answered and it is not. Kept in
// memory, since it is of this process alone. Neighbour: pull/otherWorkers.ts asks about others.

export interface OwnReach {
  /** A chunk of pages is asked here; the newest of them are known. */
  asks(chunkId: bigint): void;
  chunks(): bigint[];
  /** A page was answered here: there is a way. */
  answered(): void;
  unansweredMs(): number;
  /** A chunk is left to others, and the next one is taken later each time. */
  leaves(chunkId: bigint): void;
  /** So long no chunk is taken yet. */
  restMs(): number;
}

const REST_FIRST_MS = 1_000;
const REST_MAX_MS = 20_000;
/** More than one night has. */
const CHUNKS_KNOWN_MAX = 5_000;

export function openReach(monotonic: () => number): OwnReach {
  const asked = new Set<bigint>();
  let answeredAt = monotonic();
  let nextRest = REST_FIRST_MS;
  let restsUntil = answeredAt;
  return {
    asks: (chunkId) => {
      asked.add(chunkId);
      const [oldest] = asked;
      if (asked.size > CHUNKS_KNOWN_MAX && oldest !== undefined) asked.delete(oldest);
    },
    chunks: () => [...asked],
    answered: () => {
      answeredAt = monotonic();
      restsUntil = answeredAt;
      nextRest = REST_FIRST_MS;
    },
    unansweredMs: () => monotonic() - answeredAt,
    leaves: (chunkId) => {
      asked.delete(chunkId);
      const isAtRest = restsUntil > monotonic();
      if (isAtRest) return;
      restsUntil = monotonic() + nextRest;
      nextRest = Math.min(nextRest * 2, REST_MAX_MS);
    },
    restMs: () => Math.max(0, restsUntil - monotonic()),
  };
}
