// The gateway's rate limit, held for all workers of a merchant together by one row: whoever wants
// to send takes the next free places in time. Places are taken in small blocks, so that a fast
// limit does not cost a statement a request; and no more than a worker needs or used of late,
// since what it leaves unused is lost to all others. The row's table has no log: nobody waits for
// the disk, and what a crash of the database loses is a moment of waiting.

import type { Db } from '../../database/db.js';

/** Places taken at once are worth this much time at most, so that no worker hoards them. */
const BLOCK_MS = 100;
const BLOCK_PLACES_MAX = 50;
/** Who uses fewer in a block's time takes one when it needs it: ahead, it might never be used. */
const AHEAD_USES_MIN = 4;

type TakeToken = (merchantId: string) => Promise<void>;

interface Bucket {
  merchantId: string;
  /** Taken and not used yet: their times on this process's monotonic clock. */
  places: number[];
  /** When places were used; older than a block's time are dropped. */
  used: number[];
  /** So many wait for a place that is being taken. */
  waiting: number;
  taking: Promise<void> | null;
}

/** Waits for the right to start one request to the gateway. */
export function openRateLimit(
  db: Db,
  requestsPerSecond: number,
  sleep: (ms: number) => Promise<void>,
): TakeToken {
  const spacingMs = 1000 / requestsPerSecond;
  const most = Math.max(1, Math.min(BLOCK_PLACES_MAX, Math.floor(BLOCK_MS / spacingMs)));
  const take = (bucket: Bucket, wanted: number): Promise<void> => {
    const count = Math.max(1, Math.min(most, wanted));
    bucket.taking ??= takeBlock(db, bucket.merchantId, count, spacingMs)
      .then((places) => void bucket.places.push(...places))
      .finally(() => {
        bucket.taking = null;
      });
    return bucket.taking;
  };
  const merchants = new Map<string, Bucket>();
  return async (merchantId) => {
    const bucket = merchants.get(merchantId) ?? emptyBucket(merchantId);
    merchants.set(merchantId, bucket);
    for (;;) {
      const place = bucket.places.shift();
      if (place === undefined) {
        await whileWaiting(bucket, () => take(bucket, Math.max(bucket.waiting, usesOf(bucket))));
        continue;
      }
      const wait = place - performance.now();
      // Left over from long ago: used now, it would come on top of everybody's present places.
      if (wait < -BLOCK_MS) continue;
      bucket.used.push(performance.now());
      if (wait > 0) await sleep(wait);
      // Whoever needs the places meets the error of taking them, should it fail again.
      else if (runsOut(bucket)) take(bucket, Math.ceil(usesOf(bucket) / 2)).catch(() => {});
      return;
    }
  };
}

function emptyBucket(merchantId: string): Bucket {
  return { merchantId, places: [], used: [], waiting: 0, taking: null };
}

async function whileWaiting(bucket: Bucket, work: () => Promise<void>): Promise<void> {
  bucket.waiting += 1;
  try {
    await work();
  } finally {
    bucket.waiting -= 1;
  }
}

/**
 * The limit does not hold this worker up, and what it has left is used within a quarter of a
 * block's time. Half a block's worth, taken now, is used while it is good.
 */
function runsOut(bucket: Bucket): boolean {
  const uses = usesOf(bucket);
  return bucket.taking === null && uses >= AHEAD_USES_MIN && bucket.places.length <= uses / 4;
}

/** As many as were used while a place keeps: what is left unused is lost to all others. */
function usesOf(bucket: Bucket): number {
  const since = performance.now() - BLOCK_MS;
  bucket.used = bucket.used.filter((at) => at >= since);
  return bucket.used.length;
}

/**
 * Takes the next places; answers their times on this process's monotonic clock. As many places are
 * taken already as lie between the last taking and the next free one. Where that taking lies ahead
 * the clock was set back since: as many wait as did then, so that a clock that jumped ahead once
 * keeps nobody.
 */
async function takeBlock(
  db: Db,
  merchantId: string,
  block: number,
  spacingMs: number,
): Promise<number[]> {
  const { rows } = await db.query<{ wait_ms: number }>(
    `insert into tieout.rate_buckets as b (merchant_id, free_at, taken_at)
     values ($1, clock_timestamp() + make_interval(secs => $2), clock_timestamp())
     on conflict (merchant_id) do update
       set free_at = clock_timestamp() + make_interval(secs => $2) + greatest(
           b.free_at - greatest(b.taken_at, clock_timestamp()), '0'),
         taken_at = clock_timestamp()
     returning (extract(epoch from free_at - clock_timestamp()) * 1000)::float8 as wait_ms`,
    [merchantId, (block * spacingMs) / 1000],
  );
  const first = performance.now() + Number(rows[0]?.wait_ms ?? 0) - block * spacingMs;
  return Array.from({ length: block }, (_, place) => first + place * spacingMs);
}
