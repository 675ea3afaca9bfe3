// Whether this process has a way to the gateway: when a page was last answered here, which pages it
// left to others, and how long it then leaves pages alone. Kept in memory, since it is of this
// process alone. Neighbour: pull/otherWorkers.ts asks about others.

export interface OwnReach {
  /** A page was answered here: there is a way. */
  answered(): void;
  /** How many were answered so far. */
  answers(): number;
  /** Without end where none ever was. */
  unansweredMs(): number;
  /** A chunk is left to others, and the next one is taken later each time. */
  leaves(chunkId: bigint): void;
  /** Whether it may be left once more: nobody else may take it, or none is answered either. */
  mayLeave(chunkId: bigint): boolean;
  /** So long no chunk is taken yet. */
  restMs(): number;
}

const REST_FIRST_MS = 1_000;
const REST_MAX_MS = 20_000;
/** So often one process leaves a chunk; with the rests between, some five minutes. */
const CHUNK_LEFT_MAX = 20;
/** More than one night has. */
const CHUNKS_KNOWN_MAX = 5_000;

export function openReach(monotonic: () => number): OwnReach {
  const left = new Map<bigint, number>();
  let answers = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let nextRest = REST_FIRST_MS;
  let restsUntil = monotonic();
  return {
    answered: () => {
      answers += 1;
      answeredAt = monotonic();
      restsUntil = answeredAt;
      nextRest = REST_FIRST_MS;
    },
    answers: () => answers,
    unansweredMs: () => monotonic() - answeredAt,
    leaves: (chunkId) => {
      left.set(chunkId, (left.get(chunkId) ?? 0) + 1);
      const [oldest] = left.keys();
      if (left.size > CHUNKS_KNOWN_MAX && oldest !== undefined) left.delete(oldest);
      const isAtRest = restsUntil > monotonic();
      if (isAtRest) return;
      restsUntil = monotonic() + nextRest;
      nextRest = Math.min(nextRest * 2, REST_MAX_MS);
    },
    mayLeave: (chunkId) => (left.get(chunkId) ?? 0) < CHUNK_LEFT_MAX,
    restMs: () => Math.max(0, restsUntil - monotonic()),
  };
}
