// What is unfinished of accounts that are not in the configuration any more: open breaks, and
// instructions that have not come to an end. It is named until it is finished; not where nothing is
// left but breaks of refund requests, which the run itself keeps (compare/strayRefunds.sql).

import type { LeftAccountFacts } from '../core/runs/notices.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { ProcessMark } from '../processes/identity.js';

/** Whoever sends looks within that at what was accepted; who has the account no more never does. */
const LOOKED_AT_WITHIN = '1 hour';

/** `accountIds` are those of the configuration. */
export async function leftAccounts(
  db: Db,
  accountIds: readonly string[],
): Promise<LeftAccountFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    states: Record<string, number>;
    breaks: number;
  }>(
    `with unfinished as (
       select account_id, state as what, count(*) as count, 0 as strange
       from tieout.instructions where is_open and account_id <> all ($1) group by 1, 2
       union all
       select account_id, 'break', count(*),
         count(*) filter (where kind = 'refund_without_order')
       from tieout.breaks where state = 'open' and account_id <> all ($1) group by 1
     )
     select account_id,
       coalesce(jsonb_object_agg(what, count) filter (where what <> 'break'), '{}') as states,
       coalesce(sum(count) filter (where what = 'break'), 0)::int as breaks
     from unfinished group by 1 having sum(count) > sum(strange) order by 1`,
    [accountIds],
  );
  return rows.map(({ account_id: accountId, ...row }) => ({ accountId, ...row }));
}

/** Not of the configuration, and with breaks, instructions, movements or batches. */
export async function unconfiguredAccounts(
  db: Db,
  accountIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(statement('runs/unconfiguredAccounts'), [
    accountIds,
  ]);
  return rows.map((row) => row.account_id);
}

/** Those of the configuration, and behind them those that left it. */
export async function withLeft(db: Db, accountIds: readonly string[]): Promise<string[]> {
  return [...accountIds, ...(await unconfiguredAccounts(db, accountIds))];
}

/** Those of them of which a night looked at the gateway: they have business days. */
export async function withDays(db: Db, accountIds: readonly string[]): Promise<string[]> {
  if (accountIds.length === 0) return [];
  const { rows } = await db.query<{ account_id: string }>(
    `select account_id from unnest($1::text[]) as asked (account_id)
     where exists (select from tieout.run_accounts ra join tieout.runs r using (run_id)
       where ra.account_id = asked.account_id and ra.merchant_id is not null and not r.is_dry)
     order by account_id`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}

/** Those that belong into the books of a run: it would lack what the lists of its night have. */
export async function leftToCount(
  db: Db,
  { runId, businessDate }: { runId: bigint; businessDate: string },
  accountIds: readonly string[],
): Promise<string[]> {
  const left = await unconfiguredAccounts(db, accountIds);
  if (left.length === 0) return [];
  const { rows } = await db.query<{ account_id: string }>(statement('runs/leftToCount'), [
    left,
    runId,
    businessDate,
  ]);
  return rows.map((row) => row.account_id);
}

/** Those of which a sender left an attempt without an outcome. */
export async function leftInFlight(db: Db, accountIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from tieout.attempts
     where outcome is null and account_id <> all ($1) order by account_id`,
    [accountIds],
  );
  return rows.map((row) => row.account_id);
}

/** What was accepted of them and no look has shown, with who had sent it. */
export async function acceptedOfLeft(
  db: Db,
  accountIds: readonly string[],
): Promise<{ instructionId: bigint; sender: ProcessMark; isRecent: boolean }[]> {
  const { rows } = await db.query<{
    instruction_id: bigint;
    host: string;
    boot_id: string;
    pid: number;
    process_started: string;
    is_recent: boolean;
  }>(
    `select i.instruction_id, t.host, t.boot_id, t.pid, t.process_started,
       t.finished_at > clock_timestamp() - $2::interval as is_recent
     from tieout.instructions i
     cross join lateral (
       select * from tieout.attempts t where t.batch_id = i.batch_id
       order by t.attempt_no desc limit 1) t
     where i.is_open and i.state = 'accepted' and i.operation <> 'payout'
       and i.account_id <> all ($1)`,
    [accountIds, LOOKED_AT_WITHIN],
  );
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    sender: {
      host: row.host,
      boot: row.boot_id,
      pid: row.pid,
      started: row.process_started,
    },
    isRecent: row.is_recent,
  }));
}

/** No look shows any more what was accepted of them: a person has to say what became of it. */
export async function leaveAccepted(db: Db, instructionIds: readonly bigint[]): Promise<void> {
  await db.query(
    `update tieout.instructions set state = 'unknown', changed_by = 'tieout', reason = $2
     where instruction_id = any ($1::bigint[]) and state = 'accepted'`,
    [
      instructionIds.map(String),
      'the gateway accepted it, and its account left the configuration before a look',
    ],
  );
}
