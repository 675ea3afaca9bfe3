// Payout requests of the ledger on their way to the plan: each is built once as it would be sent,
// so that one that cannot be is held with the reason instead of failing at night; and its amount is
// put into money where the profile knows the unit. The policies are plan.sql's, as for all else.

import { decimalsOf } from '../core/currency.js';
import { TieoutError } from '../core/errors.js';
import type { Account } from '../gateway/account.js';
import type { Payout } from '../gateway/document/payoutMessages.js';
import type { Profile } from '../gateway/document/profile.js';
import type { PayoutRequest } from '../instructions/payoutsStore.js';
import {
  confirmAcceptedPayouts,
  waitingPayouts,
  withdrawPayouts,
} from '../instructions/payoutsStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules } from '../runs/deps.js';
import type { PlannedPayout } from './planStore.js';
import { notePayoutsLeft } from './planStore.js';

/** Requests weighed in one run; older ones come first, the rest waits for the next. */
export const REQUESTS_MAX = 10_000;

/** Settles and withdraws what can be, and answers the requests that wait for a payout. */
export async function payoutsToPlan(
  deps: Pick<RunDeps, 'config' | 'gateway' | 'now'>,
  run: Run,
): Promise<PlannedPayout[]> {
  const accountIds = accountIdsOf(run);
  const now = deps.now();
  // Accepted, and its process died before it said so.
  await confirmAcceptedPayouts(run.db, accountIds, now);
  await withdrawPayouts(run.db, run.runId, accountIds, now);
  await notePayoutsLeft(run.db, accountIds, now);
  if (deps.config.operations.mode.payout === 'off') return [];
  const requests = await waitingPayouts(run.db, accountRules(run.accounts), {
    limit: REQUESTS_MAX,
    now,
  });
  return requests.flatMap((request) => {
    const account = run.accounts.find((one) => one.accountId === request.accountId);
    return account ? [plannedPayout(deps, account, request)] : [];
  });
}

/** What is sent for a request: its payload as it is, and its id. */
export function payoutMessage(
  requestId: string,
  payload: Readonly<Record<string, unknown>>,
): Payout {
  return { ...payload, request_id: requestId } as unknown as Payout;
}

function plannedPayout(
  deps: Pick<RunDeps, 'config' | 'gateway'>,
  account: Account,
  request: PayoutRequest,
): PlannedPayout {
  const { profile } = deps.config.gateway;
  const { payload, requestId } = request;
  const currency = typeof payload.payment_currency === 'string' ? payload.payment_currency : '';
  const amount = payoutMoney(profile, currency, payload.payment_amount);
  return {
    accountId: request.accountId,
    requestId,
    currency,
    amount: amount ?? '0',
    requestedAt: request.requestedAt,
    problem:
      request.problem ??
      problemOf(deps, account, request) ??
      (amount === null ? 'no amount above zero' : null),
    payload,
    source: sourceOf(profile, payload),
    isInTotals: profile.payout.unit !== null && amount !== null,
    doubled: request.isTwin ? 'twin_request' : null,
  };
}

/** What leaves the payer's account where the request names it, too: limits hold for both. */
export function sourceOf(
  profile: Profile,
  { source_amount: printed, source_currency: named }: Readonly<Record<string, unknown>>,
): PlannedPayout['source'] {
  if (printed === undefined || printed === '') return null;
  const currency = typeof named === 'string' ? named : '';
  // Of an amount that is none, or in no currency, nobody can say that it keeps to a limit.
  return { currency, amount: payoutMoney(profile, currency, printed) };
}

function problemOf(
  deps: Pick<RunDeps, 'gateway'>,
  account: Account,
  { requestId, payload, elsewhere, byHandOf }: PayoutRequest,
): string | null {
  if (elsewhere !== null) {
    return `account ${elsewhere} has this request or a payout of it, too: a request is paid once`;
  }
  if (byHandOf !== null) {
    return `${byHandOf} paid it by hand, or may have: another payment is another request`;
  }
  if (payload.request_id !== undefined && payload.request_id !== requestId) {
    return 'request_id of the payload is not that of the request';
  }
  try {
    deps.gateway.preparePayout(account, payoutMessage(requestId, payload));
    return null;
  } catch (error) {
    if (error instanceof TieoutError) return error.message;
    throw error;
  }
}

const WHOLE_DIGITS_MAX = 15;

/** The amount with two decimals; as printed where nobody knows its unit. Null: it is none. */
export function payoutMoney(
  profile: Pick<Profile, 'payout' | 'currencies'>,
  currency: string,
  printed: unknown,
): string | null {
  const digits = typeof printed === 'string' ? printed : '';
  if (!new RegExp(`^\\d{1,${WHOLE_DIGITS_MAX}}$`).test(digits) || /^0+$/.test(digits)) return null;
  return profile.payout.unit === 'minor' ? ofMinor(profile, currency, digits) : `${digits}.00`;
}

function ofMinor(
  { currencies }: Pick<Profile, 'currencies'>,
  currency: string,
  digits: string,
): string | null {
  const decimals = decimalsOf(currency, currencies);
  if (decimals === null || decimals > 2) return null;
  const padded = digits.padStart(decimals + 1, '0');
  const point = padded.length - decimals;
  return `${padded.slice(0, point)}.${padded.slice(point).padEnd(2, '0')}`;
}

/** A fee, which may have decimals, with two of them; null where nobody knows what it comes to. */
export function feeMoney(
  profile: Pick<Profile, 'payout' | 'currencies'>,
  { fee_amount: printed, fee_currency: currency }: Record<'fee_amount' | 'fee_currency', unknown>,
): string | null {
  const { unit } = profile.payout;
  const [, whole = '', part = ''] = FEE.exec(String(printed ?? '')) ?? [];
  if (unit === null || whole === '' || !/^[A-Z]{3}$/.test(String(currency ?? ''))) return null;
  if (unit === 'major') return `${whole}.${part.padEnd(2, '0')}`;
  return part === '' ? ofMinor(profile, String(currency), whole) : null;
}

/** Zeros behind the second decimal say nothing. */
const FEE = /^(\d{1,15})(?:\.(\d{0,2}?)0*)?$/;
