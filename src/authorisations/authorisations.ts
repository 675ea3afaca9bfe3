// Reservations before they lapse: which money is reserved at the gateway and not taken, how long it
// can be taken still, and what stands in the way. The file to open first: the times are those of
// core/orders/authorisation.ts, what is reserved is told by the snapshots
// (tieout.open_authorisations), how long a reservation holds by accounts[].authorisation.

import type { Config } from '../config/config.js';
import type { AuthorisationRule, AuthorisationStanding } from '../core/orders/authorisation.js';
import {
  hoursLeft,
  obstacleOf,
  standingOf,
  wantedWords,
  warnUntil,
} from '../core/orders/authorisation.js';
import type { ReservationRow } from '../core/runs/reporting.js';
import type { Db, LongReads } from '../database/db.js';
import type {
  AuthorisationPage,
  AuthorisationSum,
  OpenAuthorisation,
  RuleRow,
} from './authorisationsStore.js';
import {
  authorisationsOfNight,
  listAuthorisations,
  sumAuthorisations,
} from './authorisationsStore.js';

type Rules = Pick<Config, 'authorisations'>;

/** When something is asked of reservations, and when a night will look at them next. */
export interface AskedAt {
  readonly now: Date;
  /** null: not known, and a day from now is meant */
  readonly nextNight: Date | null;
}

/** The accounts with what was agreed for each, as the statements take it. */
export function ruleRows(
  { authorisations }: Rules,
  accountIds: readonly string[],
  { now, nextNight }: AskedAt,
): RuleRow[] {
  return accountIds.map((accountId) => {
    const rule = authorisations[accountId];
    return {
      account_id: accountId,
      valid_hours: rule?.validHours ?? null,
      warn_until: rule === undefined ? null : warnUntil(rule, now, nextNight),
    };
  });
}

/** One account, with what its reservations come to in each currency. */
export interface AccountAuthorisations {
  readonly accountId: string;
  /** null: nobody said how long they hold, and when they lapse is not known */
  readonly rule: AuthorisationRule | null;
  readonly sums: readonly AuthorisationSum[];
}

/** `isAll` false: of what is at risk alone, which is asked faster. */
export async function accountAuthorisations(
  db: Db,
  config: Rules,
  accountIds: readonly string[],
  at: AskedAt,
  isAll: boolean,
): Promise<AccountAuthorisations[]> {
  const rules = ruleRows(config, accountIds, at);
  const sums = await sumAuthorisations(db, rules, isAll, at.now);
  return accountIds.map((accountId) => ({
    accountId,
    rule: config.authorisations[accountId] ?? null,
    sums: sums.filter((sum) => sum.accountId === accountId),
  }));
}

/** A reservation as people read it. */
export interface ShownAuthorisation extends OpenAuthorisation {
  /** null: nobody said how long reservations of its account hold */
  readonly standing: AuthorisationStanding | null;
  readonly hoursLeft: number | null;
  readonly wanted: string;
  readonly obstacle: string;
}

export async function shownAuthorisations(
  db: Db,
  config: Rules,
  accountIds: readonly string[],
  at: AskedAt,
  page: AuthorisationPage,
): Promise<ShownAuthorisation[]> {
  const found = await listAuthorisations(db, ruleRows(config, accountIds, at), page, at.now);
  return found.map((one) => shownAt(one, at.now));
}

function shownAt(one: OpenAuthorisation, now: Date): ShownAuthorisation {
  return {
    ...one,
    standing: standingOf(one, now, one.warnUntil),
    hoursLeft: hoursLeft(one.lapsesAt, now),
    wanted: wantedWords(one.expected),
    obstacle: obstacleOf(one),
  };
}

/** For its workbook: what was at risk in a night. No account has a rule: null, and no sheet. */
export function atRiskOfNight(
  reads: LongReads,
  config: Rules,
  accountIds: readonly string[],
  night: { businessDate: string; asOf: Date; nextNight: Date | null },
): (() => AsyncIterable<ReservationRow[]>) | null {
  const agreed = accountIds.filter((accountId) => config.authorisations[accountId] !== undefined);
  if (agreed.length === 0) return null;
  const rules = ruleRows(config, agreed, { now: night.asOf, nextNight: night.nextNight });
  return async function* rows() {
    for await (const found of authorisationsOfNight(reads, rules, night)) {
      yield found.map((one) => shownAt(one, night.asOf));
    }
  };
}
