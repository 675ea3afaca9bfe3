// By which settings each account was last planned, and what has been freed since: freed.sql.
// Neighbours: core/instructions/freeing/freeingChange.ts says what changed, plan/plan.ts calls.

import type { DescribedConfig } from '../config/view.js';
import type { NowHistoryFacts } from '../core/instructions/becameHistory.js';
import { NOW_HISTORY } from '../core/instructions/becameHistory.js';
import type { FreeingChange } from '../core/instructions/freeing/freeingChange.js';
import type { Db } from '../database/db.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';
import type { AccountRules } from '../runs/deps.js';

export interface AccountChange {
  accountId: string;
  change: FreeingChange;
}

/** The settings of each account's newest complete plan; accounts without one are left out. */
export async function weighedBy(
  db: Db,
  accountIds: readonly string[],
): Promise<{ accountId: string; settingsId: bigint; settingsSha256: string }[]> {
  const { rows } = await db.query<{
    account_id: string;
    settings_id: bigint;
    settings_sha256: string;
  }>(
    `select wanted.account_id, s.settings_id, s.settings_sha256
     from unnest($1::text[]) as wanted (account_id)
     cross join lateral (
       select weighed_by from tieout.run_accounts ra
       where ra.account_id = wanted.account_id collate "C" and ra.weighed_by is not null
       order by ra.business_date desc limit 1
     ) plan
     join tieout.run_settings s on s.settings_id = plan.weighed_by`,
    [accountIds],
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    settingsId: row.settings_id,
    settingsSha256: row.settings_sha256,
  }));
}

export interface RecordedSettings {
  settings: DescribedConfig;
  /** null: it was not kept */
  profile: string | null;
}

export async function recordedSettings(
  db: Db,
  settingsIds: readonly bigint[],
): Promise<Map<bigint, RecordedSettings>> {
  if (settingsIds.length === 0) return new Map();
  const { rows } = await db.query<RecordedSettings & { settings_id: bigint }>(
    `select s.settings_id, s.settings, p.profile from tieout.run_settings s
     left join tieout.profiles p on p.profile_sha256 = s.settings #>> '{gateway,profileSha256}'
     where s.settings_id = any ($1::bigint[])`,
    [settingsIds.map(String)],
  );
  return new Map(rows.map(({ settings_id: id, ...kept }) => [id, kept]));
}

/** Those by which an account was planned last, whole or not; null: it never was. */
export async function plannedBy(
  db: Db,
  accountId: string,
): Promise<{ settingsId: bigint; settingsSha256: string } | null> {
  const { rows } = await db.query<{ settings_id: bigint; settings_sha256: string }>(
    `select s.settings_id, s.settings_sha256
     from (
       select planned_by from tieout.run_accounts
       where account_id = $1 and planned_by is not null
       order by business_date desc limit 1
     ) plan
     join tieout.run_settings s on s.settings_id = plan.planned_by`,
    [accountId],
  );
  const [newest] = rows;
  if (!newest) return null;
  return { settingsId: newest.settings_id, settingsSha256: newest.settings_sha256 };
}

/** Holds what the changes have freed; answers how many. */
export async function holdFreed(
  db: Db,
  runId: bigint,
  pullId: bigint,
  changes: readonly AccountChange[],
): Promise<number> {
  const rows = JSON.stringify(changes.map(changeRow));
  const text = statement('instructions/freed', relationsOf(db, runId, pullId));
  return (await db.query(text, [runId, pullId, rows])).rowCount;
}

function changeRow({ accountId, change }: AccountChange): Record<string, unknown> {
  const { kind, words } = change;
  const row = { account_id: accountId, kind, words };
  switch (kind) {
    case 'live_from':
      return { ...row, from_time: change.from, until_time: change.until };
    case 'payment_status':
    case 'query_result':
    case 'currency':
      return { ...row, codes: change.values };
    case 'policy':
    case 'limit': {
      const { before, now } = change;
      const { operation, policy, above, maxCount, maxAmount } = before;
      const limits = { max_count: maxCount, max_amount: maxAmount };
      const later = { above_now: now.above, count_now: now.maxCount, amount_now: now.maxAmount };
      return { ...row, operation, policy, above, ...limits, ...later };
    }
    case 'merchant':
    case 'partial_capture':
    case 'payout_unit':
    case 'resend':
      return row;
  }
}

/** Withdraws what waits for requests that are history now; `reason` names the setting. */
export async function withdrawHistory(
  db: Db,
  runId: bigint,
  accounts: readonly (AccountRules & { reason: string })[],
  now: Date,
): Promise<void> {
  const given = accounts.filter((account) => account.live_from !== null);
  await db.query(statement('instructions/withdrawHistory'), [runId, JSON.stringify(given), now]);
}

/** So many are named of each account. */
const HISTORY_NAMED_MAX = 5;

/** What was withdrawn since the run before because its request became history. */
export async function withdrawnAsHistory(db: Db, runId: bigint): Promise<NowHistoryFacts[]> {
  const { rows } = await db.query<{
    account_id: string;
    setting: string;
    instructions: bigint;
    approved: bigint;
    samples: NowHistoryFacts['samples'];
  }>(statement('instructions/withdrawnAsHistory'), [runId, NOW_HISTORY, HISTORY_NAMED_MAX]);
  return rows.map(({ account_id: accountId, setting, instructions, approved, samples }) => {
    const counts = { instructions: Number(instructions), approved: Number(approved) };
    return { accountId, setting, ...counts, samples };
  });
}

interface FreedCount {
  accountId: string;
  setting: string;
  instructions: number;
}

/** What waits in the accounts of a run because a setting has changed. */
export async function freedCounts(db: Db, runId: bigint): Promise<FreedCount[]> {
  const { rows } = await db.query<{ account_id: string; freed_by: string; count: bigint }>(
    `select i.account_id, i.freed_by, count(*) as count from tieout.instructions i
     join tieout.run_accounts ra on ra.run_id = $1 and ra.account_id = i.account_id
     where i.is_open and i.state = 'held' and i.freed_by is not null
     group by i.account_id, i.freed_by order by i.account_id, i.freed_by`,
    [runId],
  );
  return rows.map(({ account_id: accountId, freed_by: setting, count }) => {
    return { accountId, setting, instructions: Number(count) };
  });
}
