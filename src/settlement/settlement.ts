// What became of the captured money: lines of the acquirer find their movements, and what differs
// is a break. Done in the night, after the movements are booked, and right after an import; doing
// it again changes nothing. Neighbours: settlementStore.ts has the statements, ledger/settlement/
// takes the files.

import type { Config } from '../config/config.js';
import type { SettlementSettings, Tariff } from '../config/settlement.js';
import { coarseCurrencies } from '../core/currency.js';
import { formatAmount } from '../core/money.js';
import { workingDaysBefore } from '../core/settlement/workingDays.js';
import { type Db, inTransaction } from '../database/db.js';
import { holdDays } from '../days/daysStore.js';
import { tellBatchLate } from '../outbox/writeAlerts.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import type { FeeRules, SettledAccount, SettlementTimes, TariffRow } from './settlementStore.js';
import {
  holdSettlement,
  lateOrders,
  matchLines,
  newestDates,
  updateBreaks,
} from './settlementStore.js';

/** What settlement is asked with: everything of the configuration that bears on it. */
export interface SettlementRules {
  readonly settings: SettlementSettings;
  readonly times: SettlementTimes;
  readonly fees: FeeRules;
}

/** Null where nothing of settlement is kept. */
export function settlementRules(config: Config): SettlementRules | null {
  const { settlement: settings, schedule, gateway } = config;
  if (settings === null) return null;
  return {
    settings,
    times: { from: settings.from, cutOff: schedule.cutOff, timezone: schedule.timezone },
    fees: {
      tariff: settings.tariff.map(tariffRow),
      coarse: coarseCurrencies(gateway.profile.currencies),
    },
  };
}

/** A step of the night: the acquirer's lines of the accounts of the run find their movements. */
export async function matchSettlement(
  deps: Pick<RunDeps, 'config' | 'now'>,
  run: Run,
): Promise<void> {
  const rules = settlementRules(deps.config);
  if (rules === null) return;
  const accountIds = accountIdsOf(run);
  await inTransaction(run.db, async (tx) => {
    const now = deps.now();
    await settleIn(tx, rules, accountIds, { now, runId: run.runId });
    const late = await lateOrders(tx, accountIds, now);
    await tellBatchLate(tx, deps.config, run.businessDate, late);
  });
}

/** Answers how many lines found their movement. */
export function settleAccounts(
  db: Db,
  rules: SettlementRules,
  accountIds: readonly string[],
  when: When,
): Promise<number> {
  return inTransaction(db, (tx) => settleIn(tx, rules, accountIds, when));
}

interface When {
  readonly now: Date;
  readonly runId: bigint | null;
}

async function settleIn(
  tx: Db,
  rules: SettlementRules,
  accountIds: readonly string[],
  { now, runId }: When,
): Promise<number> {
  await holdSettlement(tx);
  // An amount that becomes known changes the figures of an open day.
  for (const accountId of [...accountIds].sort()) await holdDays(tx, accountId);
  const accounts = await settledAccounts(tx, rules, accountIds, runId);
  const matched = await matchLines(tx, accounts, rules.times);
  await updateBreaks(tx, accounts, rules.times, rules.fees, now);
  return matched;
}

/** Accounts with the dates up to which something is overdue, and was looked at. */
export async function settledAccounts(
  db: Db,
  { settings }: SettlementRules,
  accountIds: readonly string[],
  runId: bigint | null,
): Promise<SettledAccount[]> {
  const newest = await newestDates(db, accountIds, runId);
  const { settleDays, holidays } = settings;
  const dates = [...new Set(newest.values())];
  const due = new Map(dates.map((date) => [date, workingDaysBefore(date, settleDays, holidays)]));
  return accountIds.map((accountId) => {
    const date = newest.get(accountId) ?? null;
    const until = date === null ? null : (due.get(date) ?? null);
    return { account_id: accountId, due_until: until, seen_until: date };
  });
}

/** They come by account, type and date: each holds until the next one of its kind begins. */
function tariffRow(one: Tariff, at: number, all: readonly Tariff[]): TariffRow {
  const next = all[at + 1];
  const isReplaced = next?.accountId === one.accountId && next.type === one.type;
  const fixed = Object.entries(one.fixed).map(([code, amount]) => [code, formatAmount(amount)]);
  return {
    account_id: one.accountId,
    type: one.type,
    parts_per_million: one.partsPerMillion.toString(),
    fixed: Object.fromEntries(fixed),
    from: one.from,
    until: isReplaced ? next.from : null,
    tolerance: formatAmount(one.tolerance),
  };
}
