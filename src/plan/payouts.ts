// Payout requests of the ledger on their way to the plan: each is built once as it would be sent,
// so that one that cannot be is held with the reason instead of failing at night; and its amount is
// put into money where the profile knows the unit (payoutMoney.ts). The policies are plan.sql's, as
// for all else.

import { TieoutError } from '../core/errors.js';
import type { PayoutsLeftOut } from '../core/runs/pendingPayouts.js';
import type { Account } from '../gateway/account.js';
import {
  payoutAmountProblem,
  payoutMessage,
  payoutMoney,
  sourceOf,
} from '../gateway/batches/payoutMoney.js';
import type { PayoutRequest } from '../instructions/payoutsStore.js';
import {
  confirmAcceptedPayouts,
  waitingPayouts,
  withdrawOtherwiseRead,
  withdrawPayouts,
} from '../instructions/payoutsStore.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountIdsOf, accountRules } from '../runs/deps.js';
import type { PlannedPayout } from './planStore.js';
import { notePayoutsLeft } from './planStore.js';

/** Requests weighed at once; older ones come first, what is held last, and the rest waits. */
export const REQUESTS_MAX = 10_000;
/** A ledger that is another one at each read is believed at the last of so many. */
const READS_MAX = 10;

interface PayoutsToPlan {
  payouts: PlannedPayout[];
  leftOut: PayoutsLeftOut[];
}

/** Settles and withdraws what can be, and answers the requests that wait for a payout. */
export async function payoutsToPlan(
  deps: Pick<RunDeps, 'config' | 'gateway'>,
  run: Run,
  now: Date,
): Promise<PayoutsToPlan> {
  const accountIds = accountIdsOf(run);
  // Accepted, and its process died before it said so.
  await confirmAcceptedPayouts(run.db, accountIds, now);
  await withdrawPayouts(run.db, run.runId, accountIds, now);
  if (deps.config.operations.mode.payout === 'off') {
    await noteLeft(run, now);
    return { payouts: [], leftOut: [] };
  }
  const { requests, leftOut } = await requestsToWeigh(run, now);
  const payouts = requests.flatMap((request) => {
    const account = run.accounts.find((one) => one.accountId === request.accountId);
    return account ? [plannedPayout(deps, account, request)] : [];
  });
  await withdrawOtherwiseRead(run.db, run.runId, payouts, now);
  return { payouts, leftOut };
}

/**
 * What left the ledger is noted after the requests were read, and they are read again where
 * something had left or is back: one that came in its place, in between, is never weighed without
 * it, nor one beside another that only seemed to have left.
 */
async function requestsToWeigh(run: Run, now: Date) {
  const rules = accountRules(run.accounts);
  const read = () => waitingPayouts(run.db, rules, { limit: REQUESTS_MAX, now });
  let waiting = await read();
  for (let reads = 1; (await noteLeft(run, now)) > 0; reads += 1) {
    if (reads === READS_MAX) break;
    waiting = await read();
  }
  return waiting;
}

/** A dry run holds up no night of another account. */
function noteLeft(run: Run, now: Date): Promise<number> {
  return notePayoutsLeft(run.db, now, run.isDry ? accountIdsOf(run) : null);
}

function plannedPayout(
  deps: Pick<RunDeps, 'config' | 'gateway'>,
  account: Account,
  request: PayoutRequest,
): PlannedPayout {
  const { profile } = deps.config.gateway;
  const { payload, requestId } = request;
  const currency = typeof payload.payment_currency === 'string' ? payload.payment_currency : '';
  const printed = payload.payment_amount;
  const amount = payoutMoney(profile, currency, printed);
  return {
    accountId: request.accountId,
    requestId,
    currency,
    amount: amount ?? '0',
    requestedAt: request.requestedAt,
    problem:
      request.problem ??
      problemOf(deps, account, request) ??
      payoutAmountProblem(profile, currency, printed),
    payload,
    source: sourceOf(profile, payload),
    isInTotals: profile.payout.unit !== null && amount !== null,
    doubled: request.isTwin ? 'twin_request' : null,
  };
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
