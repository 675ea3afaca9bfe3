// The accounts of a run: what was open before it began, what may forbid sending, where it ended.

import type { MoneyTie } from '../core/runs/reporting.js';
import type { AccountSummary } from '../core/runs/summary.js';
import type { Db } from '../database/db.js';
import { inTransaction } from '../database/db.js';
import { named } from '../database/identifiers.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

/** An account of the configuration, as far as a run records it. */
interface EnteredAccount {
  readonly merchantId: string;
  readonly accountId: string;
  readonly liveFrom: Date | null;
}

/**
 * Enters accounts into a run; those already in it stay as they are. What is open before is taken
 * over from the newest earlier run. An account without a trustworthy history sends nothing: see
 * `send_block`. False: the database was put back, and has no such run.
 */
export async function enterAccounts(
  db: Db,
  run: { runId: bigint; businessDate: string },
  accounts: readonly EnteredAccount[],
  now: Date,
): Promise<boolean> {
  // Nor is one in it of which nobody has decided whether it may send.
  return inTransaction(db, async (tx) => {
    const { rowCount } = await tx.query(statement('runs/enterAccounts'), [
      run.runId,
      run.businessDate,
      accountsJson(accounts),
    ]);
    if (rowCount === 0) return false;
    await decideBlocks(tx, run, accounts, now);
    return true;
  });
}

/** Accounts that nobody configured, of which the ledger asks for refunds: nobody looks at them. */
export async function enterUnconfigured(
  db: Db,
  run: { runId: bigint; businessDate: string },
  accountIds: readonly string[],
): Promise<void> {
  await db.query(
    `insert into tieout.run_accounts (run_id, account_id, business_date, state, open_before,
       stake_before, events_after)
     select $1, wanted.account_id, $2::date, 'running', coalesce(e.open_after, '{}'),
       coalesce(e.stake_after, '{}'), coalesce(e.events_until, 0)
     from unnest($3::text[]) as wanted (account_id)
     left join lateral (
       select ra.* from tieout.run_accounts ra join tieout.runs r using (run_id)
       where ra.account_id = wanted.account_id collate "C" and not r.is_dry and ra.run_id <> $1
         and ra.business_date < $2::date and ra.events_until is not null
       order by ra.business_date desc limit 1) e on true
     on conflict (run_id, account_id) do update set merchant_id = null
       where run_accounts.pull_id is null`,
    [run.runId, run.businessDate, accountIds],
  );
}

/** Those of a run. */
export async function unconfiguredOf(db: Db, runId: bigint): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    named`select account_id from ${relationsOf(db).run_accounts}
     where run_id = $1 and merchant_id is null order by account_id`,
    [runId],
  );
  return rows.map((row) => row.account_id);
}

/** Accounts of the configuration that an earlier try entered and left, beside those of this one. */
export async function notFinished(
  db: Db,
  runId: bigint,
  own: readonly string[],
  configured: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    named`select account_id from ${relationsOf(db).run_accounts}
     where run_id = $1 and state = 'running' and merchant_id is not null
       and account_id <> all ($2) and account_id = any ($3) order by account_id`,
    [runId, own, configured],
  );
  return rows.map((row) => row.account_id);
}

/** liveFrom older than this, with no history to show for it, smells of a lost database. */
const HISTORY_DAYS = 3;

/**
 * `observed`: no liveFrom, or one that lies ahead. `no_history`: the database knows no earlier run
 * that came to its plan or could send by this liveFrom, nor is this one run again after it could,
 * and liveFrom is more than three days ago: a lost or new database would pay everything twice. The
 * block stays until a person sets liveFrom anew, since a blocked run is no history either.
 */
async function decideBlocks(
  db: Db,
  run: { runId: bigint; businessDate: string },
  accounts: readonly EnteredAccount[],
  now: Date,
): Promise<void> {
  await db.query(statement('runs/blockAccounts'), [
    run.runId,
    run.businessDate,
    accountsJson(accounts),
    now,
    HISTORY_DAYS,
  ]);
}

/** Those of which the next run would send nothing for want of an earlier one. */
export async function accountsWithoutHistory(
  db: Db,
  accounts: readonly { accountId: string; liveFrom: Date | null }[],
  now: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select a.account_id
     from unnest($1::text[], $2::timestamptz[]) as a (account_id, live_from)
     where a.live_from < $3::timestamptz - make_interval(days => $4) and not exists (
       select from tieout.run_accounts e join tieout.runs r using (run_id)
       where e.account_id = a.account_id and not r.is_dry
         and tieout.is_history(e, a.live_from))
     order by a.account_id`,
    [
      accounts.map(({ accountId }) => accountId),
      accounts.map(({ liveFrom }) => liveFrom),
      now,
      HISTORY_DAYS,
    ],
  );
  return rows.map((row) => row.account_id);
}

/** Accounts of a run of which nothing is sent, with the reason. */
export async function blockedAccounts(
  db: Db,
  runId: bigint,
): Promise<{ accountId: string; block: 'observed' | 'no_history' }[]> {
  const { rows } = await db.query<{ account_id: string; send_block: 'observed' | 'no_history' }>(
    `select account_id, send_block from tieout.run_accounts
     where run_id = $1 and send_block is not null order by account_id`,
    [runId],
  );
  return rows.map((row) => ({ accountId: row.account_id, block: row.send_block }));
}

/** Instructions that wait because no earlier run of their account is known. */
export async function keptBack(
  db: Db,
  accountIds: readonly string[],
): Promise<{ accountId: string; instructions: number }[]> {
  const { rows } = await db.query<{ account_id: string; instructions: bigint }>(
    `select a.account_id, count(i.*) as instructions
     from unnest($1::text[]) as a (account_id)
     left join tieout.instructions i on i.account_id = a.account_id
       and i.state = 'held' and i.hold_reason = 'no_history'
     group by a.account_id order by a.account_id`,
    [accountIds],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    instructions: Number(row.instructions),
  }));
}

/** The newest snapshot of each account is the one that its figures come from. */
export async function noteSnapshot(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  pull: { pullId: bigint; asOf: Date },
): Promise<void> {
  await db.query(
    `update tieout.run_accounts set pull_id = $2, as_of = $3
     where run_id = $1 and account_id = any ($4)`,
    [runId, pull.pullId, pull.asOf, accountIds],
  );
}

/** The oldest of the accounts' newest snapshots: no figure of the run is older. */
export async function snapshotTime(db: Db, runId: bigint): Promise<Date> {
  const { rows } = await db.query<{ as_of: Date | null }>(
    named`select min(as_of) as as_of from ${relationsOf(db).run_accounts} where run_id = $1`,
    [runId],
  );
  const asOf = rows[0]?.as_of;
  if (!asOf) throw new Error(`run ${runId} has no snapshot`);
  return asOf;
}

/** Writes where each account ended, and how far its breaks were counted. */
export async function closeAccounts(
  db: Db,
  runId: bigint,
  accounts: readonly AccountSummary[],
  stakes: readonly MoneyTie[],
): Promise<void> {
  const { run_accounts: entered, break_events: events } = relationsOf(db);
  await db.query(
    named`update ${entered} ra
     set state = a.state, open_after = a.open_after, stake_after = a.stake_after,
       events_until = (select coalesce(max(event_id), 0) from ${events})
     from jsonb_to_recordset($2::jsonb)
       as a (account_id text, state text, open_after jsonb, stake_after jsonb)
     where ra.run_id = $1 and ra.account_id = a.account_id`,
    [
      runId,
      JSON.stringify(
        accounts.map((account) => ({
          account_id: account.accountId,
          state: account.state,
          open_after: account.breaks,
          stake_after: Object.fromEntries(
            stakes
              .filter((stake) => stake.accountId === account.accountId)
              .map((stake) => [stake.currency, stake.openAfter]),
          ),
        })),
      ),
    ],
  );
}

/** What was found of these after their figures were closed is as much as a break. */
export async function breakAccounts(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return;
  await db.query(
    `update tieout.run_accounts set state = 'broken'
     where run_id = $1 and account_id = any ($2) and state = 'tied_out'`,
    [runId, accountIds],
  );
}

function accountsJson(accounts: readonly EnteredAccount[]): string {
  return JSON.stringify(
    accounts.map((account) => ({
      account_id: account.accountId,
      merchant_id: account.merchantId,
      live_from: account.liveFrom,
    })),
  );
}

/** The accounts of a run that were looked at, each with its snapshot. */
export async function runSnapshots(
  db: Db,
  runId: bigint,
): Promise<{ accountId: string; pullId: bigint }[]> {
  const { rows } = await db.query<{ accountId: string; pullId: bigint }>(
    `select account_id as "accountId", pull_id as "pullId" from tieout.run_accounts
     where run_id = $1 and pull_id is not null order by account_id`,
    [runId],
  );
  return rows;
}
