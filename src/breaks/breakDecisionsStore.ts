// What people decide about breaks, written: rows locked in one order, one event a break, state and
// event in one transaction. Which decision a break allows is core/breaks/breakDecision.ts's to say.

import type { BreakAction, BreakVerdict } from '../core/breaks/breakDecision.js';
import type { Decider } from '../core/instructions/decider.js';
import { type Hundredths, parseAmount } from '../core/money.js';
import type { Db, Tx } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { FoundBreak } from './breaksStore.js';

/** A break held for a decision: nobody else changes it until the transaction ends. */
export interface HeldBreak
  extends Pick<
    FoundBreak,
    'breakId' | 'accountId' | 'orderNo' | 'kind' | 'state' | 'owner' | 'note' | 'waiverAskedBy'
  > {
  currency: string | null;
  stake: Hundredths | null;
}

export async function holdBreaks(tx: Tx, ids: readonly string[]): Promise<HeldBreak[]> {
  const { rows } = await tx.query<Omit<HeldBreak, 'stake'> & { stake: string | null }>(
    `select b.break_id::text as "breakId", b.account_id as "accountId",
       b.order_no as "orderNo", b.kind, b.state, b.owner, b.note, b.currency,
       case when b.waiver_asked_for = b.fingerprint then b.waiver_asked_by end as "waiverAskedBy",
       round(greatest(b.amount, tieout.break_stake(b.kind, b.expected, b.actual)), 2)::text
         as stake
     from tieout.breaks b where b.break_id = any ($1) order by b.break_id for update`,
    [ids],
  );
  return rows.map((row) => ({ ...row, stake: row.stake === null ? null : parseAmount(row.stake) }));
}

interface DecidedRow {
  breakId: string;
  verdict: BreakVerdict['kind'];
  limit: string;
}

interface BreakDecision {
  action: BreakAction;
  who: Decider;
  at: Date;
  /** one number for all rows of the decision, and what was chosen in words */
  id: string;
  over: string | null;
}

/** Writes the rows that the decision changes, and the trail: one event an order. */
export async function writeDecision(
  tx: Db,
  rows: readonly DecidedRow[],
  decision: BreakDecision,
): Promise<void> {
  const { action, who } = decision;
  const words =
    action.kind === 'note' ? action.text : action.kind === 'assign' ? null : action.reason;
  await tx.query(statement('breaks/writeDecision'), [
    JSON.stringify(
      rows.map((row) => ({
        break_id: row.breakId,
        verdict: row.verdict,
        amount_limit: row.limit,
      })),
    ),
    words,
    action.kind === 'assign' ? action.owner : null,
    who.name,
    decision.at,
    who.isClaim,
    decision.id,
    decision.over,
  ]);
}
