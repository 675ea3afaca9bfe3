// What came to the ledger of a business day after its night had looked at it, and what changed
// behind a closed day since. It goes through the merchant's ledger, which may be a view that fails
// or takes long: then it is said that nobody knows. Neighbours: core/runs/closingChecklist.ts (the
// words), shownDay.ts (what who signs is shown).

import type { LateName, LateRows } from '../core/runs/closingChecklist.js';
import type { SinceClosed } from '../core/runs/sinceClosed.js';
import { wasEnded } from '../database/connection.js';
import type { Database } from '../database/db.js';
import { type Limits, SHORT_LIMITS } from '../database/limits.js';
import { statement } from '../database/statements.js';
import { mayBeLedger } from '../ledger/ledgerTroubleStore.js';

/** Keys of late rows that a close keeps at most. */
const KEYS_MAX = 10_000;

/** Late rows that are named. */
const NAMED_MAX = 20;

/** Not for ever: somebody waits for it. */
const SINCE_LIMITS: Limits = { ...SHORT_LIMITS, statementMs: 10_000 };

/** Of one day of one account. */
interface SinceNight {
  accountId: string;
  businessDate: string;
  /** null: its night's look is not there any more, or never was */
  late: LateRows | null;
  /** one for each late row as it stands now; null: too many to be kept */
  keys: string[] | null;
  /** null: the day is open */
  since: SinceClosed | null;
}

interface SinceRow extends Omit<LateRows, 'named'>, Omit<SinceClosed, 'named'> {
  named: (LateName & { isSince: boolean })[];
  accountId: string;
  closedAt: string | null;
  hasLook: boolean;
  keys: string[] | null;
}

/** Of each day that has a night; null: the ledger did not answer. */
export async function sinceNights(
  db: Database,
  dates: readonly string[],
  accountIds: readonly string[],
): Promise<SinceNight[] | null> {
  const values = [dates, accountIds, KEYS_MAX, NAMED_MAX];
  try {
    const { rows } = await db.transaction(
      (tx) => tx.query<SinceRow>(statement('days/sinceNight'), values),
      SINCE_LIMITS,
    );
    return rows.map(sinceOf);
  } catch (error) {
    if (wasEnded(error) || mayBeLedger(error)) return null;
    throw error;
  }
}

/** Of one day, of what `sinceNights` answered; undefined: it has no night. */
export function sinceOfDay(
  found: readonly SinceNight[] | null,
  accountId: string,
  date: string,
): SinceNight | null | undefined {
  if (found === null) return null;
  return found.find((one) => one.accountId === accountId && one.businessDate === date);
}

function sinceOf(row: SinceRow): SinceNight {
  const { accountId, businessDate, orders, refunds, earlier, countsOn, uncounted } = row;
  const { keys, closedAt, changes, isKept, isPast, hasLook } = row;
  const named = row.named.map(({ orderNo, refundId }) => ({ orderNo, refundId }));
  const newest = named.slice(0, row.named.filter(({ isSince }) => isSince).length);
  return {
    accountId,
    businessDate,
    late: hasLook
      ? { businessDate, orders, refunds, earlier, named, countsOn, uncounted, isPast }
      : null,
    keys,
    since: closedAt === null ? null : { changes, isKept, named: newest },
  };
}

/** Of what `sinceOfDay` answered; null: the ledger did not answer, undefined: there is no look. */
export function lateOf(since: SinceNight | null | undefined): LateRows | null | undefined {
  return since === null ? null : (since?.late ?? undefined);
}

/** What a close keeps beside the open items, so that what comes later can be told from it. */
export function keptOfLedger(since: SinceNight | null | undefined): object[] {
  const late = lateOf(since);
  if (late === undefined) return [];
  const { orders = null, refunds = null } = late ?? {};
  return [{ what: 'ledger', orders, refunds, keys: since?.keys ?? null }];
}
