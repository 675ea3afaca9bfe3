// What people decide about breaks, written: rows locked in one order, one event a break, state and
// event in one transaction. Which decision a break allows is core/breaks/breakDecision.ts's to say.

import type { BreakAction, BreakVerdict, BreakWord } from '../core/breaks/breakDecision.js';
import { trailWords } from '../core/breaks/breakDecision.js';
import type { BreakChange } from '../core/breaks/changedSinceSeen.js';
import { changeWords } from '../core/breaks/changedSinceSeen.js';
import { eventLabels, eventOf, type Said } from '../core/breaks/outcome.js';
import type { Decider } from '../core/instructions/decider.js';
import { type Hundredths, parseAmount } from '../core/money.js';
import { analyse } from '../database/analyse.js';
import type { Db, Tx } from '../database/db.js';
import { identifier } from '../database/identifiers.js';
import { statement } from '../database/statements.js';
import { signDecided } from '../signatures/signaturesStore.js';
import type { FoundBreak } from './breaksStore.js';

/** A break held for a decision: nobody else changes it until the transaction ends. */
export interface HeldBreak
  extends Pick<
    FoundBreak,
    'breakId' | 'accountId' | 'orderNo' | 'kind' | 'state' | 'owner' | 'note' | 'waiverAskedBy'
  > {
  currency: string | null;
  /** the money in it as it stands; null: nobody can say */
  stake: string | null;
  waiverStake: Hundredths | null;
  /** the digest of what is seen of it now */
  seenSha256: string;
  /** its transactions, on either side: words may name them */
  transactions: (string | null)[];
}

export async function holdBreaks(tx: Tx, ids: readonly string[]): Promise<HeldBreak[]> {
  const { rows } = await tx.query<Omit<HeldBreak, 'waiverStake'> & { counted: string | null }>(
    `select b.break_id::text as "breakId", b.account_id as "accountId",
       b.order_no as "orderNo", b.kind, b.state, b.owner, b.note, b.currency,
       case when b.waiver_asked_for = b.fingerprint then b.waiver_asked_by end as "waiverAskedBy",
       round(coalesce(tieout.break_money(b.kind, b.currency, b.expected, b.actual), b.amount),
         2)::text as stake,
       tieout.waiver_stake(b.kind, b.currency, b.amount, b.expected, b.actual)::text as counted,
       tieout.break_seen_sha256(b.state, b.expected, b.actual, b.fingerprint) as "seenSha256",
       jsonb_path_query_array(jsonb_build_array(b.expected, b.actual), '$.**.transaction')
         as transactions
     from tieout.breaks b where b.break_id = any ($1) order by b.break_id for update`,
    [ids],
  );
  return rows.map(({ counted, ...row }) => {
    return { ...row, waiverStake: counted === null ? null : parseAmount(counted) };
  });
}

/** What people said of each break since it was seen, in order; held breaks get no more words. */
export async function saidSince(
  tx: Tx,
  seen: ReadonlyMap<string, { last: string }>,
): Promise<Map<string, BreakWord[]>> {
  const { rows } = await tx.query<Omit<BreakWord, 'label'> & { breakId: string; id: string }>(
    `select e.break_id::text as "breakId", e.event_id::text as id, e.event, e.by, e.reason
     from unnest($1::bigint[], $2::bigint[]) as s (break_id, last)
     join tieout.break_events e on e.break_id = s.break_id and e.event_id > s.last
     where e.by <> 'tieout' order by e.event_id`,
    [[...seen.keys()], [...seen.values()].map(({ last }) => last)],
  );
  const said = new Map<string, BreakWord[]>();
  const labels = await labelsOf(
    tx,
    rows.map((row) => row.breakId),
  );
  for (const { breakId, id, ...word } of rows) {
    const label = labels.get(id) ?? word.event;
    said.set(breakId, [...(said.get(breakId) ?? []), { ...word, label }]);
  }
  return said;
}

/** How people say each event of these breaks, by its number. */
export async function labelsOf(db: Db, breakIds: readonly string[]): Promise<Map<string, string>> {
  if (breakIds.length === 0) return new Map();
  const { rows } = await db.query<Said & { breakId: string; id: string }>(
    `select break_id::text as "breakId", event_id::text as id, event, by, expected, actual
     from tieout.break_events where break_id = any ($1::bigint[]) order by break_id, event_id`,
    [[...new Set(breakIds)]],
  );
  const lives = new Map<string, typeof rows>();
  for (const row of rows) {
    const life = lives.get(row.breakId);
    if (life === undefined) lives.set(row.breakId, [row]);
    else life.push(row);
  }
  return new Map(
    [...lives.values()].flatMap((life) => {
      const labels = eventLabels(life);
      return life.map(({ id, event }, at): [string, string] => [id, labels[at] ?? event]);
    }),
  );
}

/** What became of each break since the newest event that was seen of it, in words. */
export async function changesSince(
  tx: Tx,
  seen: ReadonlyMap<string, { last: string }>,
): Promise<Map<string, string>> {
  if (seen.size === 0) return new Map();
  const { rows } = await tx.query<BreakChange & { breakId: string }>(
    `select b.break_id::text as "breakId", b.kind, b.state, b.expected, b.actual,
       was.expected as "expectedThen", was.actual as "actualThen", later.event
     from unnest($1::bigint[], $2::bigint[]) as s (break_id, last)
     join tieout.breaks b on b.break_id = s.break_id
     join tieout.break_events was on was.break_id = s.break_id and was.event_id = s.last
     left join lateral (
       select e.event from tieout.break_events e
       where e.break_id = s.break_id and e.event_id > s.last
       order by e.event_id + 0 desc limit 1) later on true`,
    [[...seen.keys()], [...seen.values()].map(({ last }) => last)],
  );
  return new Map(rows.map((row) => [row.breakId, changeWords(row)]));
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
  const { rows: events } = await tx.query<{ event_id: bigint }>(statement('breaks/writeDecision'), [
    JSON.stringify(
      rows.map((row) => ({
        break_id: row.breakId,
        verdict: eventOf(row.verdict),
        amount_limit: row.limit,
      })),
    ),
    trailWords(action),
    action.kind === 'assign' ? action.owner : null,
    who.name,
    decision.at,
    who.isClaim,
    decision.id,
    decision.over,
  ]);
  const written = events.map((row) => row.event_id);
  await signDecided(tx, who, 'break', written);
}

/** After a decision about many: by the states of before the pages of breaks are planned wrongly. */
export async function countBreaksAnew(db: Db): Promise<void> {
  await analyse(db, identifier('tieout', 'breaks'));
}
