// Which months of snapshots are kept, and how one is removed: as a whole, by dropping its
// partitions, after every snapshot in it was found to be what the chain sealed. In the same
// transaction it goes on record what was removed and by whom, with the digest of each snapshot;
// that record is sealed like any other fact. Neighbours: monthPartitions.ts says where rows lie,
// retention/retention.ts when they go.

import type { Decider } from '../core/instructions/decider.js';
import type { Database, Db } from '../database/db.js';
import { identifier, named } from '../database/identifiers.js';
import { gaveUpWaiting } from '../database/server/lockWaits.js';
import { HOUSE_CHAIN } from '../runs/runRecordStore.js';

/** A month in which runs began whose snapshots are kept; their business dates. */
export interface KeptMonth {
  /** 2026_11; `before`: from before numbers bore a month */
  month: string;
  firstDate: string;
  lastDate: string;
  nights: number;
  /** of an account each */
  looks: number;
  bytes: number;
  /** why it cannot go; none: it can */
  holds: string[];
}

export type RemovalVerdict =
  | { kind: 'removed'; month: KeptMonth }
  /** something that is not settled began in it */
  | { kind: 'held'; month: KeptMonth }
  /** a snapshot in it is not what was sealed: that is to be found out before it goes */
  | { kind: 'altered'; month: KeptMonth; link: string }
  /** somebody reads it just now */
  | { kind: 'busy'; month: KeptMonth };

/** So long a removal waits for those who read; it must never make a run wait for it. */
const LOCK_SECONDS = 1;

type RawMonth = Omit<KeptMonth, 'nights' | 'looks' | 'bytes'> &
  Record<'nights' | 'looks' | 'bytes' | 'low' | 'high', bigint>;

/** What holds a month is asked again by whoever drops it, the owner's function. */
const KEPT_MONTHS = `select month, low, high, first_date as "firstDate", last_date as "lastDate",
    nights, looks, bytes, holds
  from tieout.kept_months($1, $2) order by first_date`;

/** All months, oldest first; what `keptFrom` and later days belong to is held. */
export async function keptMonths(db: Db, keptFrom: string): Promise<KeptMonth[]> {
  const { rows } = await db.query<RawMonth>(KEPT_MONTHS, [keptFrom, null]);
  return rows.map(asMonth);
}

/** How long looks are kept. */
export interface RetentionRule {
  /** whole ones before this one */
  months: number;
  /** and in no case less: orders so young are looked at every run */
  lookbackDays: number;
}

/** The first day that is kept. */
export async function keptFrom(db: Db, rule: RetentionRule, now: Date): Promise<string> {
  const { rows } = await db.query<{ day: string }>(
    `select least(date_trunc('month', at) - make_interval(months => $2),
       at - make_interval(days => $3))::date as day
     from (select $1::timestamptz at time zone 'UTC' as at) as now`,
    [now, rule.months, rule.lookbackDays],
  );
  return rows[0]?.day ?? '';
}

interface RemovalOrder {
  month: KeptMonth;
  keptFrom: string;
  keptMonths: number;
  who: Decider;
}

/** Removes a month, or says why not. */
export async function removeMonth(db: Database, order: RemovalOrder): Promise<RemovalVerdict> {
  try {
    return await db.transaction((tx) => removedIn(tx, order));
  } catch (error) {
    if (gaveUpWaiting(error)) {
      return { kind: 'busy', month: order.month };
    }
    throw error;
  }
}

async function removedIn(tx: Db, order: RemovalOrder): Promise<RemovalVerdict> {
  await tx.query("select set_config('lock_timeout', $1, true)", [`${LOCK_SECONDS}s`]);
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.make_month'))`);
  const { rows } = await tx.query<RawMonth>(KEPT_MONTHS, [order.keptFrom, order.month.month]);
  const row = rows.find((one) => one.month === order.month.month);
  if (!row) return { kind: 'held', month: { ...order.month, holds: ['it is gone already'] } };
  const month = asMonth(row);
  if (month.holds.length > 0) return { kind: 'held', month };
  const link = await alteredLink(tx, row);
  if (link !== null) return { kind: 'altered', month, link };
  await record(tx, row, order);
  await tx.query('select tieout.drop_month($1)', [row.month]);
  await tx.query(`select tieout.seal($1, (clock_timestamp() at time zone 'UTC')::date, false)`, [
    HOUSE_CHAIN,
  ]);
  return { kind: 'removed', month };
}

/** The first link of the chain that does not hold what is there of its snapshot; null: all do. */
async function alteredLink(tx: Db, { low, high }: RawMonth): Promise<string | null> {
  const { rows } = await tx.query<{ account_id: string; link_no: bigint | null }>(
    `select k.account_id, l.link_no
     from tieout.look_links k
     left join tieout.chain_links l on l.link_id = k.link_id and l.account_id = k.account_id
     cross join lateral tieout.link_facts(k.link_id, 'look', k.account_id) f
     where k.pull_id >= $1 and k.pull_id < $2
       and (f.facts, f.facts_sha256) is distinct from (l.facts, tieout.redacted_sha256(l))
     order by k.account_id, l.link_no limit 1`,
    [low, high],
  );
  const [row] = rows;
  return row ? `link ${row.link_no ?? '(none)'} of account ${row.account_id}` : null;
}

async function record(tx: Db, month: RawMonth, order: RemovalOrder): Promise<void> {
  const counts: Record<string, number> = {};
  for (const relation of await relations(tx)) {
    const { rows } = await tx.query<{ count: bigint }>(
      named`select count(*) as count from ${identifier('tieout', `${relation}_${month.month}`)}`,
    );
    counts[relation] = Number(rows[0]?.count ?? 0n);
  }
  await tx.query(
    `with removal as (
       insert into tieout.evidence_removals (month, first_date, last_date, nights, looks, rows,
         bytes, kept_months, by, is_claim)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning removal_id
     )
     insert into tieout.removed_looks (pull_id, account_id, removal_id, link_id, facts,
       facts_sha256)
     select k.pull_id, k.account_id, removal_id, k.link_id, l.facts, l.facts_sha256
     from removal, tieout.look_links k
     join tieout.chain_links l on l.link_id = k.link_id and l.account_id = k.account_id
     where k.pull_id >= $11 and k.pull_id < $12`,
    [
      ...[month.month, month.firstDate, month.lastDate, month.nights, month.looks],
      ...[JSON.stringify(counts), month.bytes, order.keptMonths, order.who.name],
      ...[order.who.isClaim, month.low, month.high],
    ],
  );
}

async function relations(tx: Db): Promise<string[]> {
  const { rows } = await tx.query<{ relation: string }>(
    'select unnest(tieout.month_relations()) as relation',
  );
  return rows.map((row) => row.relation);
}

function asMonth({ month, firstDate, lastDate, holds, ...row }: RawMonth): KeptMonth {
  const { nights, looks, bytes } = row;
  const sizes = { nights: Number(nights), looks: Number(looks), bytes: Number(bytes) };
  return { month, firstDate, lastDate, ...sizes, holds };
}
