// What people decide about breaks, written: rows locked in one order, one event a break, state and
// event in one transaction. Which decision a break allows is core/breaks/breakDecision.ts's to say.

import type { BreakAction, BreakVerdict } from '../core/breaks/breakDecision.js';
import type { Decider } from '../core/instructions/decider.js';
import { type Hundredths, parseAmount } from '../core/money.js';
import type { Db, Tx } from '../database/db.js';
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

export interface DecidedRow {
  breakId: string;
  verdict: BreakVerdict['kind'];
  limit: string;
}

export interface BreakDecision {
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
  await tx.query(
    `with decided as (
       select * from jsonb_to_recordset($1::jsonb)
         as d (break_id bigint, verdict text, amount_limit numeric)
     ),
     before as (
       select b.break_id, b.state from tieout.breaks b join decided using (break_id)
     ),
     changed as (
       update tieout.breaks b set
         state = case d.verdict when 'waived' then 'waived' when 'reopened' then 'open'
           else b.state end,
         note = case when d.verdict = 'noted' then $2::text else b.note end,
         owner = case when d.verdict = 'assigned' then $3::text else b.owner end,
         waived_by = case when d.verdict = 'waived' then $4 else b.waived_by end,
         waived_reason = case when d.verdict = 'waived' then $2 else b.waived_reason end,
         waived_limit = case when d.verdict = 'waived' then d.amount_limit
           else b.waived_limit end,
         waiver_asked_by = case when d.verdict = 'waiver_asked' then $4
           else b.waiver_asked_by end,
         waiver_asked_reason = case when d.verdict = 'waiver_asked' then $2
           else b.waiver_asked_reason end,
         waiver_asked_for = case when d.verdict = 'waiver_asked' then b.fingerprint
           else b.waiver_asked_for end
       from decided d where b.break_id = d.break_id
       returning b.break_id, d.verdict, b.currency, b.amount, b.expected, b.actual
     )
     insert into tieout.break_events (break_id, run_id, at, event, from_state, by, is_claim,
       reason, currency, amount, expected, actual, decision_id, decided_over)
     select c.break_id, null, $5::timestamptz, c.verdict, before.state, $4, $6, 
       case when c.verdict = 'assigned' then coalesce('to ' || $3, 'to nobody') else $2 end,
       c.currency, c.amount, c.expected, c.actual, $7::uuid, $8
     from changed c join before using (break_id) order by c.break_id`,
    [
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
    ],
  );
}
