// What became of each instruction, for the shop (docs/CONTRACT.md section 4). Rows are numbered
// when they are published, one publisher at a time, so that a reader who resumes after the highest
// number it saw misses nothing (migrations/0008 says why), also where the database was put back:
// they go on behind all that were given out before (send/journal/putBacksStore.ts). Neighbours:
// reports/outcomes.ts, cli/ledger/export.ts.

import type { OutcomeRow } from '../core/instructions/outcome.js';
import type { Database, Db } from '../database/db.js';

/** Numbers what was committed since the last time; answers how many rows that were. */
export async function publishOutcomes(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>('select tieout.publish_outcomes() as count');
  return Number(rows[0]?.count ?? 0n);
}

/** The highest number published; 0 when there is none. */
export async function lastOutcome(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ last: bigint }>(
    'select coalesce(max(seq), 0) as last from tieout.outcomes',
  );
  return rows[0]?.last ?? 0n;
}

/** The highest that anybody can have read, with what was lost where the database was put back. */
export async function knownOutcome(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ known: bigint }>('select tieout.outcomes_known() as known');
  return rows[0]?.known ?? 0n;
}

/** When the database last came back older than it was: numbers behind its newest may be known. */
export async function lastPutBack(db: Db): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select max(at) as at from tieout.put_backs',
  );
  return rows[0]?.at ?? null;
}

/** Outcomes with `after` < seq <= `last`, in their order. */
export async function* outcomesBetween(
  db: Database,
  after: bigint,
  last: bigint,
): AsyncGenerator<OutcomeRow[]> {
  const chunks = db.stream<{
    seq: bigint;
    account_id: string;
    order_no: string | null;
    refund_id: string | null;
    operation: string;
    amount: string | null;
    currency: string | null;
    state: string;
    gateway_reference: string | null;
    at: Date;
  }>(
    `select seq, account_id, order_no, refund_id, operation, amount::text as amount, currency,
       state, gateway_reference, at
     from tieout.outcomes where seq > $1 and seq <= $2 order by seq`,
    [after, last],
  );
  for await (const rows of chunks) {
    yield rows.map(({ account_id, order_no, refund_id, gateway_reference, ...row }) => ({
      ...row,
      accountId: account_id,
      orderNo: order_no,
      refundId: refund_id,
      gatewayReference: gateway_reference,
    }));
  }
}
