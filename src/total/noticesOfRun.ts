// What a person has to be told of a run beside its figures: each by a query of its own, in words of
// core. Neighbour: total.ts, which adds up the figures.

import { refundsBehindExplained } from '../breaks/explainedStore.js';
import { unkeptBreaks } from '../breaks/unkeptStore.js';
import { refusedLate } from '../confirm/lateRefusals.js';
import { refundsBehindNotices } from '../core/breaks/refundBehind.js';
import { answeredLateNotices } from '../core/instructions/answeredLate.js';
import {
  becameHistoryNotice,
  datedBackNotice,
  datedBeforeNotice,
  nowHistoryNotice,
} from '../core/instructions/becameHistory.js';
import { withdrawnLateNotice } from '../core/instructions/withdrawnLate.js';
import { zonelessNotice } from '../core/ledger/zoneless.js';
import { capturedByHandNotice, refundedByHandNotice } from '../core/orders/movedByHand.js';
import { codeNotice, endedNotice } from '../core/runs/codeNotices.js';
import {
  feedNotice,
  freedNotice,
  leftAccountNotice,
  leftNotice,
  type Notice,
  noHistoryNotice,
  noOrdersNotice,
  notAnsweredNotice,
  notFinishedNotice,
  oddRefundNotice,
  sharedNotice,
  unusableRowsNotice,
} from '../core/runs/notices.js';
import {
  paidByHandNotices,
  payoutsByHandNotices,
  payoutsChangedNotices,
  pendingPayoutsNotice,
} from '../core/runs/pendingPayouts.js';
import { strangeAccountNotice, strangeOrdersNotice } from '../core/runs/strangeOrders.js';
import type { RunState } from '../core/runs/summary.js';
import { unreadableNotice } from '../core/runs/unreadable.js';
import { leftMoneyNotice, unkeptBreaksNotice } from '../core/settlement/unkeptSettlement.js';
import { freedCounts, withdrawnAsHistory } from '../instructions/freedStore.js';
import { pendingPayouts } from '../instructions/payoutsStore.js';
import { feedGaps, ledgerChangeCounts } from '../ledger/ledgerFeedStore.js';
import { accountsWithoutOrders } from '../ledger/ledgerStore.js';
import { unusableRows, zonelessColumns } from '../ledger/ledgerTroubleStore.js';
import { strangeAccounts, strangeOrders } from '../ledger/strangeOrdersStore.js';
import { leftMoney } from '../movements/leftMoneyStore.js';
import { failedPages } from '../pull/snapshot/coverageStore.js';
import { endedSubscriptions, newCodes } from '../pull/snapshot/statusCodesStore.js';
import { unreadableEntries } from '../pull/snapshot/unreadableStore.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf, lookbackFrom } from '../runs/deps.js';
import { leftAccounts } from '../runs/leftAccountsStore.js';
import { blockedAccounts, keptBack, notFinished } from '../runs/runAccountsStore.js';
import type { SendDeps } from '../send/deps.js';
import { aheadNotices, stopNotices } from '../send/stops.js';
import {
  answeredLate,
  becameHistory,
  datedBack,
  datedBefore,
  oddRefunds,
  paidByHand,
  payoutsByHand,
  payoutsChanged,
  sharedTransactions,
  withdrawnLate,
} from './anomaliesStore.js';
import { capturedByHand, refundedByHand } from './byHand/movedByHandStore.js';

/** What a person has to be told beside the figures, in words. */
export async function noticesOf(
  deps: Pick<SendDeps, 'config' | 'gateway' | 'now'>,
  run: Run,
): Promise<Notice[]> {
  const feeds = await feedGaps(run.db, run.runId);
  const words = await newCodes(run.db, run.runId);
  const changes = await ledgerChangeCounts(run.db, run.runId);
  const configured = deps.config.accounts.map((account) => account.accountId);
  const since = lookbackFrom(deps, run);
  const left = await leftAccounts(run.db, configured);
  const blocked = await blockedAccounts(run.db, run.runId);
  const unknown = blocked.filter(({ block }) => block === 'no_history');
  const kept = await keptBack(
    run.db,
    unknown.map(({ accountId }) => accountId),
  );
  return [
    ...(await accountsWithoutOrders(run.db, accountIdsOf(run))).map(noOrdersNotice),
    ...kept.map(noHistoryNotice),
    ...(await failedPages(run.db, run.runId)).map((failed) =>
      notAnsweredNotice({ ...failed, businessDate: run.businessDate }),
    ),
    ...left.map(leftAccountNotice),
    ...(await notFinished(run.db, run.runId, accountIdsOf(run), configured)).map((accountId) =>
      notFinishedNotice(accountId, run.businessDate),
    ),
    ...(await aheadNotices(run.db, run.accounts, deps.now())),
    ...feeds.map(feedNotice),
    ...words.map(codeNotice),
    ...(await endedSubscriptions(run.db, run.runId)).map(endedNotice),
    ...(await unreadableEntries(run.db, run.runId)).map(unreadableNotice),
    ...changes.filter(({ left }) => left > 0).map(leftNotice),
    ...(await sharedTransactions(run.db, run.runId)).map(sharedNotice),
    ...(await oddRefunds(run.db, run.runId)).map(oddRefundNotice),
    ...(await refundedByHand(run.db, accountIdsOf(run))).map(refundedByHandNotice),
    ...(await capturedByHand(run.db, accountIdsOf(run))).map(capturedByHandNotice),
    ...refundsBehindNotices(await refundsBehindExplained(run.db, run.runId, run.accounts)),
    // Requests of accounts that the configuration does not name: as much as a break.
    ...(await strangeAccounts(run.db, configured, since)).map(strangeAccountNotice),
    ...(await strangeOrders(run.db, configured, left, since)).map(strangeOrdersNotice),
    ...(await unkeptBreaks(run.db, deps.config, accountIdsOf(run))).map(unkeptBreaksNotice),
    ...(await leftMoney(run.db, deps.config, configured)).map(leftMoneyNotice),
    ...(await unusableRows(run.db, accountIdsOf(run))).map(unusableRowsNotice),
    ...(await zonelessNotices(run)),
    ...(await freedCounts(run.db, run.runId)).map(freedNotice),
    ...(await sentNotices(deps, run)),
    ...(await withdrawnAsHistory(run.db, run.runId)).map(nowHistoryNotice),
    ...(await becameHistory(run.db, run.runId, run.accounts, configured)).map(becameHistoryNotice),
    ...(await datedBack(run.db, run.runId, run.accounts)).map(datedBackNotice),
    ...(await datedBefore(run.db, run.runId, run.accounts)).map(datedBeforeNotice),
    ...(await withdrawnLate(run.db, run.runId)).map(withdrawnLateNotice),
    // A dry run sends nothing on purpose.
    ...(run.isDry ? [] : await stopNotices({ config: deps.config, db: run.db }, accountIdsOf(run))),
  ];
}

/** What went, by the program or by hand, and needs a person's eye. */
async function sentNotices(
  deps: Pick<SendDeps, 'config' | 'gateway'>,
  run: Run,
): Promise<Notice[]> {
  const accountIds = accountIdsOf(run);
  return [
    ...(await pendingPayouts(run.db, accountIds)).map(pendingPayoutsNotice),
    ...answeredLateNotices([
      ...(await answeredLate(run.db, accountIds)),
      ...(await refusedLate(deps, run.db, accountIds)),
    ]),
    ...payoutsByHandNotices(await payoutsByHand(run.db, accountIds)),
    ...paidByHandNotices(await paidByHand(run.db, accountIds, run, deps.config.schedule)),
    ...payoutsChangedNotices(await payoutsChanged(run.db, accountIds)),
  ];
}

async function zonelessNotices(run: Run): Promise<Notice[]> {
  const columns = await zonelessColumns(run.db);
  return columns.length === 0 ? [] : accountIdsOf(run).map((one) => zonelessNotice(one, columns));
}

/** The ledger has orders, and none of any account of the run: whose name is written otherwise? */
function isOfOthersAlone(notices: readonly Notice[], accounts: number): boolean {
  const empty = notices.filter(({ kind }) => kind === 'no_orders').length;
  return empty === accounts && notices.some(({ kind }) => kind === 'strange_orders');
}

/**
 * An account that is not looked at any more, or not yet, keeps the run from being whole; requests
 * of one that the configuration does not name, rows that name nothing, and a payout whose request
 * asks for something else than was sent, are as much as a break.
 */
export function statesOfOthers(notices: readonly Notice[], accounts: number): RunState[] {
  const gaps = ['left_account', 'not_finished'];
  if (notices.some(({ kind }) => gaps.includes(kind))) return ['incomplete'];
  if (isOfOthersAlone(notices, accounts)) return ['incomplete'];
  const odd = ['strange_account', 'unusable_rows', 'payout_changed'];
  return notices.some(({ kind }) => odd.includes(kind)) ? ['broken'] : [];
}
