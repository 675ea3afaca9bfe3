// Reservations as the newest snapshots show them (tieout.open_authorisations): a page of them, and
// what they come to.

import type { LapsingMoney } from '../core/alertMessages.js';
import type { Db, LongReads } from '../database/db.js';
import { statement } from '../database/statements.js';

/** An account with what was agreed for it; null: nobody said how long its reservations hold. */
export interface RuleRow {
  readonly account_id: string;
  readonly valid_hours: number | null;
  readonly warn_until: Date | null;
}

/** Money that is reserved at the gateway, and neither taken nor to be let go. */
export interface OpenAuthorisation {
  readonly accountId: string;
  readonly orderNo: string;
  readonly transactionId: string | null;
  readonly currency: string | null;
  readonly amount: string | null;
  readonly since: Date | null;
  readonly lapsesAt: Date | null;
  readonly warnUntil: Date | null;
  readonly expected: string | null;
  readonly seenAt: Date;
  readonly isGap: boolean;
  readonly instructionId: string | null;
  readonly operation: string | null;
  readonly state: string | null;
  readonly holdReason: string | null;
  readonly isSettledSince: boolean;
  readonly breaks: readonly string[];
  readonly waived: readonly string[];
  readonly owner: string | null;
}

export const AUTHORISATION_ORDERS = ['hours', 'amount', 'order', 'account', 'since'] as const;
export type AuthorisationOrder = (typeof AUTHORISATION_ORDERS)[number];

export interface AuthorisationPage {
  /** also those that are in time, and those of accounts without a rule */
  readonly isAll: boolean;
  readonly order: AuthorisationOrder;
  readonly limit: number;
  readonly offset: number;
}

export async function listAuthorisations(
  db: Db,
  rules: readonly RuleRow[],
  { isAll, order, limit, offset }: AuthorisationPage,
  now: Date,
): Promise<OpenAuthorisation[]> {
  const { rows } = await db.query<OpenAuthorisation>(
    statement('authorisations/listAuthorisations'),
    [JSON.stringify(rules), isAll, order, limit, offset, null, now],
  );
  return rows;
}

const CHUNK_ROWS = 500;

/** What was at risk as the night of this business date saw it, the first to lapse first. */
export function authorisationsOfNight(
  reads: LongReads,
  rules: readonly RuleRow[],
  { businessDate, asOf }: { businessDate: string; asOf: Date },
): AsyncIterable<OpenAuthorisation[]> {
  const values = [JSON.stringify(rules), false, 'hours', null, 0, businessDate, asOf];
  return reads.stream(statement('authorisations/listAuthorisations'), values, CHUNK_ROWS);
}

/** Of one account and currency; amounts are sums of those that can be read, null: none can. */
export interface AuthorisationSum {
  readonly accountId: string;
  readonly currency: string | null;
  readonly orders: number;
  /** one a transaction: an order may have several */
  readonly reservations: number;
  readonly amount: string | null;
  /** orders with an amount that cannot be read: no sum has it */
  readonly unread: number;
  /** to lapse soon; those that lapsed stand apart */
  readonly atRisk: number;
  readonly atRiskAmount: string | null;
  readonly atRiskUnread: number;
  readonly lapsed: number;
  readonly lapsedAmount: string | null;
  readonly lapsedUnread: number;
  readonly undated: number;
  readonly gaps: number;
  readonly nextLapse: Date | null;
  readonly oldest: Date | null;
  readonly seenAt: Date;
}

export async function sumAuthorisations(
  db: Db,
  rules: readonly RuleRow[],
  isAll: boolean,
  now: Date,
): Promise<AuthorisationSum[]> {
  const { rows } = await db.query<AuthorisationSum>(statement('authorisations/sumAuthorisations'), [
    JSON.stringify(rules),
    isAll,
    now,
  ]);
  return rows;
}

/** Writes down, once each, what has to be told now; answers what that comes to. */
export async function warnOnce(
  tx: Db,
  rules: readonly RuleRow[],
  now: Date,
): Promise<(LapsingMoney & { accountId: string })[]> {
  const { rows } = await tx.query<LapsingMoney & { accountId: string }>(
    statement('authorisations/warnOnce'),
    [JSON.stringify(rules), now],
  );
  return rows;
}
