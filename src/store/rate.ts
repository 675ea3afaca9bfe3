// The gateway's rate limit, held for all workers of a merchant together by one row: whoever wants
// to send takes the next free places in time. Places are taken in small blocks, so that a fast
// limit does not cost a statement a request; and no more than a worker used of late, since what it
// leaves unused is lost to all others.

import type { Db } from './db.js';

/** Places taken at once are worth this much time at most, so that no worker hoards them. */
const BLOCK_MS = 100;
const BLOCK_PLACES_MAX = 50;

export type Permit = (merchantId: string) => Promise<void>;

interface Bucket {
  /** Taken and not used yet: their times on this process's monotonic clock. */
  places: number[];
  /** When places were used; older than a block's time are dropped. */
  used: number[];
  taking: Promise<void> | null;
}

/** Waits for the right to start one request to the gateway. */
export function openRateLimit(
  db: Db,
  requestsPerSecond: number,
  sleep: (ms: number) => Promise<void>,
): Permit {
  const spacingMs = 1000 / requestsPerSecond;
  const block = Math.max(1, Math.min(BLOCK_PLACES_MAX, Math.floor(BLOCK_MS / spacingMs)));
  const merchants = new Map<string, Bucket>();
  return async (merchantId) => {
    const bucket = merchants.get(merchantId) ?? { places: [], used: [], taking: null };
    merchants.set(merchantId, bucket);
    for (;;) {
      const place = bucket.places.shift();
      if (place !== undefined) {
        const wait = place - performance.now();
        // Left over from long ago: used now, it would come on top of everybody's present places.
        if (wait < -BLOCK_MS) continue;
        bucket.used.push(performance.now());
        if (wait > 0) await sleep(wait);
        return;
      }
      bucket.taking ??= takeBlock(db, merchantId, wantedOf(bucket, block), spacingMs)
        .then((places) => void bucket.places.push(...places))
        .finally(() => {
          bucket.taking = null;
        });
      await bucket.taking;
    }
  };
}

/** As many as were used in the time that a place keeps. */
function wantedOf(bucket: Bucket, most: number): number {
  const since = performance.now() - BLOCK_MS;
  bucket.used = bucket.used.filter((at) => at >= since);
  return Math.max(1, Math.min(most, bucket.used.length));
}

/** Takes the next places; answers their times on this process's monotonic clock. */
async function takeBlock(
  db: Db,
  merchantId: string,
  block: number,
  spacingMs: number,
): Promise<number[]> {
  const { rows } = await db.query<{ wait_ms: number }>(
    `insert into tieout.rate_buckets as b (merchant_id, free_at)
     values ($1, clock_timestamp() + make_interval(secs => $2))
     on conflict (merchant_id) do update
       set free_at = greatest(b.free_at, clock_timestamp()) + make_interval(secs => $2)
     returning (extract(epoch from free_at - clock_timestamp()) * 1000)::float8 as wait_ms`,
    [merchantId, (block * spacingMs) / 1000],
  );
  const first = performance.now() + Number(rows[0]?.wait_ms ?? 0) - block * spacingMs;
  return Array.from({ length: block }, (_, place) => first + place * spacingMs);
}
