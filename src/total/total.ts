// Step 6, total: the figures of the run, and the law that the run ties (law 6 of
// ARCHITECTURE.md). A run whose figures do not add up fails loudly instead of handing finance a
// number.

import type { ToleratedSum } from '../breaks/explainedStore.js';
import { toleratedSums } from '../breaks/explainedStore.js';
import { alikeLines, whoseLine } from '../core/accounts/alike.js';
import { driftNotice, unseenDriftNotice } from '../core/drift/driftWords.js';
import { TieoutError } from '../core/errors.js';
import { formatAmount } from '../core/money.js';
import type { Coverage, CoverageFigures } from '../core/orders/coverage.js';
import type { ConfirmedMoney } from '../core/orders/totals.js';
import { untoldMoney } from '../core/orders/totals.js';
import type { Notice } from '../core/runs/notices.js';
import { type PayoutsLeftOut, payoutsLeftOutNotice } from '../core/runs/pendingPayouts.js';
import { type MoneyTie, workedOutStake } from '../core/runs/reporting.js';
import type {
  AccountSummary,
  OrderClass,
  PullFigures,
  RunState,
  RunSummary,
} from '../core/runs/summary.js';
import { ORDER_CLASSES, workedOutOpenAfter, worstOf } from '../core/runs/summary.js';
import { amountIn, moneyIn } from '../core/text/amounts.js';
import { type Db, inTransaction } from '../database/db.js';
import { findDrift } from '../drift/drift.js';
import { countSettledBetween } from '../instructions/decisionsStore.js';
import { toLookAt } from '../instructions/payoutsStore.js';
import { coverageCounts } from '../pull/snapshot/coverageStore.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import { closeAccounts, snapshotTime, unconfiguredOf } from '../runs/runAccountsStore.js';
import { recordWorking } from '../runs/runRecordStore.js';
import type { SendDeps } from '../send/deps.js';
import type { AccountFigures, KindTieRow, SnapshotFigures } from './figuresStore.js';
import {
  accountFigures,
  confirmedMoney,
  currencyTotals,
  holdDecisionsStill,
  instructionFigures,
  onlyBreaks,
  openBreaks,
  snapshotFigures,
  tieByKind,
  tieByMoney,
  unfinishedOfRun,
} from './figuresStore.js';
import { noticesOf, statesOfOthers } from './noticesOfRun.js';

type TotalDeps = Pick<SendDeps, 'config' | 'gateway' | 'log' | 'now'>;

/** What the snapshots of a run said, counted; it changes no more once they are finished. */
interface SnapshotCounts {
  snapshots: readonly SnapshotFigures[];
  covered: Awaited<ReturnType<typeof coverageCounts>>;
}

export async function countSnapshots(db: Db, runId: bigint): Promise<SnapshotCounts> {
  const snapshots = await snapshotFigures(db, runId);
  return { snapshots, covered: await coverageCounts(db, runId) };
}

/** Reads every other figure, checks that they tie, and states what the run has come to. */
export async function total(
  deps: TotalDeps,
  run: Run,
  leftOut: readonly PayoutsLeftOut[],
): Promise<RunSummary> {
  const counts = await countSnapshots(run.db, run.runId);
  const accountIds = [...accountIdsOf(run), ...(await unconfiguredOf(run.db, run.runId))];
  const drift = await findDrift(deps.now(), run);
  // A decision in between would stand in one figure and not in the other, or in no night at all.
  return inTransaction(run.db, async (tx) => {
    await holdDecisionsStill(tx);
    await countSettledBetween(tx, run.runId);
    if (!run.isDry) {
      await recordWorking(tx, run.runId, accountIds, { kind: 'total' });
    }
    const still = { ...run, db: tx };
    const notices = [
      ...drift.changed.map(driftNotice),
      ...drift.unseen.map(unseenDriftNotice),
      ...(await noticesOf(deps, still)),
      ...leftOut.map(payoutsLeftOutNotice),
    ];
    for (const line of alikeLines(notices)) {
      const { accountId: account, text, names = [] } = line.first;
      const kept = names.length === 0 ? {} : { names };
      const isOne = line.accountIds.length === 1;
      const of = isOne ? { account, ...kept } : { names: [...line.accountIds, ...names] };
      deps.log(`${whoseLine(line)}: ${text}`, of);
    }
    const summary = await sumUp(deps, still, counts, notices);
    return drift.changed.length === 0 ? summary : { ...summary, drift: drift.changed };
  });
}

/** The figures of a run out of what its steps recorded, checked. */
export async function sumUp(
  deps: Pick<SendDeps, 'config'>,
  run: Run,
  { snapshots, covered }: SnapshotCounts,
  notices: readonly Notice[],
): Promise<RunSummary> {
  const figures = await countedFigures(run, snapshots);
  const accountIds = figures.map((account) => account.accountId);
  const breaks = await openBreaks(run.db, accountIds);
  const ties = await tieByKind(run.db, run.runId);
  const stakes = await tieByMoney(run.db, run.runId);
  const instructions = await instructionFigures(run.db, run.runId);
  const unfinished = await unfinishedOfRun(run.db, run.runId);
  const totals = await currencyTotals(run.db, run.runId, snapshots);
  const loose = await toLookAt(run.db, run.runId);
  const tolerated = await toleratedSums(run.db, run.runId);
  const accounts = figures.map((account): AccountSummary => {
    const { accountId, pagesLater } = account;
    const summary = {
      ...(pagesLater === 0 ? { accountId } : { accountId, failedLater: pagesLater }),
      orders: ordersOf(account),
      breaks: breaks.get(accountId) ?? {},
      notSearched: notSearched(deps),
      tie: tieOf(ties.filter((row) => row.accountId === accountId)),
      ...(instructions.get(accountId) ?? { instructions: {} }),
      totals: totals.get(accountId) ?? [],
      ...toleratedOf(tolerated.filter((sum) => sum.accountId === accountId)),
    };
    // A dry run plans and sends nothing on purpose: what it would send is no gap.
    const unsent = run.isDry ? 0 : (unfinished.get(accountId) ?? 0);
    const missing = notices.filter((one) => one.accountId === accountId && isGap(one)).length;
    const gaps = unsent + missing;
    const toSee = loose.get(accountId) ?? 0;
    return { ...summary, state: stateOf(account, summary, gaps, toSee) };
  });
  checkTies(figures, ties, accounts);
  checkStakes(stakes);
  checkTotals(await confirmedMoney(run.db, run.runId), accounts);
  const summary: RunSummary = {
    run: run.businessDate,
    businessDate: run.businessDate,
    covers: [...run.covers],
    asOf: toSeconds(await snapshotTime(run.db, run.runId)),
    environment: deps.config.environment,
    state: worstOf([
      ...accounts.map((account) => account.state),
      ...statesOfOthers(notices, accounts.length),
    ]),
    pull: sumPulls(figures.map((account) => account.pull)),
    accounts,
    coverage: figures.map((account) => {
      const { accountId } = account;
      return { accountId, ...coverageOf(account, covered.get(accountId) ?? {}) };
    }),
    reports: [],
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
  await closeAccounts(run.db, run.runId, accounts.map(leftOpen(notices)), stakes);
  return summary;
}

function isGap({ kind }: Notice): boolean {
  return kind === 'ledger_feed' || kind === 'not_finished';
}

async function countedFigures(run: Run, snapshots: readonly SnapshotFigures[]): Promise<Counted[]> {
  const own = new Set(accountIdsOf(run));
  const figures = await accountFigures(run.db, run.runId, snapshots);
  const unconfigured = await unconfiguredOf(run.db, run.runId);
  return [
    ...figures.map((one) => (own.has(one.accountId) ? one : leftInTheMiddle(one))),
    ...unconfigured.map(onlyBreaks),
  ];
}

/** Figures of an account; `isLeft`: whoever worked on it did not come to all of its orders. */
type Counted = AccountFigures & { isLeft?: true };

/**
 * Of an account that another process worked on, and left: what it had not come to is not compared,
 * and an order that was judged by a look before the newest, and is gone from both sides in that, is
 * told as one of the gateway's. Of our own the same would be a mistake, and is found as one.
 */
function leftInTheMiddle(account: AccountFigures): Counted {
  const { classes, orders, pull } = account;
  const missing = orders - ORDER_CLASSES.reduce((sum, name) => sum + Number(classes[name] ?? 0), 0);
  if (missing < 0) {
    return { ...account, orders: orders - missing, gatewayOnly: account.gatewayOnly - missing };
  }
  if (missing === 0) return account;
  const silent = pull.asked - account.askedAnswered;
  return {
    ...account,
    isLeft: true,
    classes: { ...classes, notCompared: Number(classes.notCompared ?? 0) + missing },
    pull: { ...pull, unanswered: Math.max(pull.unanswered, Math.min(missing, silent)) },
  };
}

/** What this try did not finish is on record as under way, until one that works on it ends. */
function leftOpen(notices: readonly Notice[]): (account: AccountSummary) => AccountSummary {
  const left = notices.filter(({ kind }) => kind === 'not_finished');
  const isLeft = (accountId: string) => left.some((one) => one.accountId === accountId);
  return (account) => (isLeft(account.accountId) ? { ...account, state: 'running' } : account);
}

function coverageOf(account: Counted, counts: Partial<Record<Coverage, number>>): CoverageFigures {
  const { asked } = account.pull;
  const twiceSame = counts.twice_same ?? 0;
  const twiceDifferent = counts.twice_different ?? 0;
  const unanswered = account.isLeft ? account.pull.unanswered : (counts.unanswered ?? 0);
  return {
    asked,
    answered: account.askedAnswered,
    noEntry: asked - unanswered - account.askedAnswered,
    unanswered,
    notAsked: counts.not_asked ?? 0,
    twiceSame,
    twiceDifferent,
    ...(counts.other_result === undefined ? {} : { otherResult: counts.other_result }),
    unasked: counts.unasked ?? 0,
  };
}

function toleratedOf(sums: readonly ToleratedSum[]): Pick<AccountSummary, 'tolerated'> {
  if (sums.length === 0) return {};
  return {
    tolerated: sums.map(({ currency, orders, below, above, net }) => {
      return { currency, orders, below, above, net };
    }),
  };
}

function ordersOf(account: AccountFigures): AccountSummary['orders'] {
  const classes = Object.fromEntries(
    ORDER_CLASSES.map((name) => [name, Number(account.classes[name] ?? 0)]),
  ) as Record<OrderClass, number>;
  const { ledger, gatewayOnly, gateway } = account;
  return { ledger, strangers: gatewayOnly, gateway, ...classes };
}

/** What this way of asking cannot find is said to be not searched (law 4 of ARCHITECTURE.md). */
function notSearched(deps: Pick<SendDeps, 'config'>): string[] {
  return deps.config.gateway.profile.query.select === 'order_list' ? ['missing_in_ledger'] : [];
}

function tieOf(rows: readonly KindTieRow[]): AccountSummary['tie'] {
  const tie = { openBefore: 0, new: 0, reopened: 0, waived: 0, resolved: 0, openAfter: 0 };
  for (const row of rows) {
    for (const key of Object.keys(tie) as (keyof typeof tie)[]) tie[key] += row[key];
  }
  return tie;
}

/** 4 wins over 3 (docs/CONTRACT.md section 1): incomplete before broken. */
function stateOf(
  account: AccountFigures,
  summary: Pick<AccountSummary, 'orders' | 'tie'>,
  unfinished: number,
  loose: number,
): RunState {
  const failedPages = account.pull.failedPages + account.failedLater;
  const gaps = failedPages + summary.orders.notCompared + unfinished;
  if (gaps > 0) return 'incomplete';
  // A payout has no order that could be broken, and no break: somebody has to look all the same.
  const open = summary.orders.broken + summary.tie.openAfter + loose;
  return open > 0 ? 'broken' : 'tied_out';
}

function sumPulls(pulls: readonly PullFigures[]): PullFigures {
  const sum = { pages: 0, failedPages: 0, asked: 0, answered: 0, unanswered: 0, unasked: 0 };
  for (const pull of pulls) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += pull[key];
  }
  return sum;
}

/** Each order in one class, each break accounted for; throws the figures that do not add up. */
function checkTies(
  figures: readonly AccountFigures[],
  ties: readonly KindTieRow[],
  accounts: readonly AccountSummary[],
): void {
  for (const [index, account] of figures.entries()) {
    const orders = accounts[index]?.orders;
    const classed = ORDER_CLASSES.reduce((sum, name) => sum + (orders?.[name] ?? 0), 0);
    if (classed !== account.orders) {
      throw new TieoutError(
        `account ${account.accountId} does not tie: ${account.orders} orders, ` +
          `${classed} in a class`,
      );
    }
  }
  for (const tie of ties) {
    if (workedOutOpenAfter(tie) !== tie.openAfter) {
      throw new TieoutError(
        `account ${tie.accountId} does not tie: ${tie.kind} should leave ` +
          `${workedOutOpenAfter(tie)} open, ${tie.openAfter} are`,
      );
    }
  }
}

/** The open breaks tie in money too, each currency by itself; throws the one that does not. */
function checkStakes(stakes: readonly MoneyTie[]): void {
  for (const tie of stakes) {
    const expected = formatAmount(workedOutStake(tie));
    if (expected === tie.openAfter) continue;
    throw new TieoutError(
      `account ${tie.accountId} does not tie: open breaks should come to ` +
        `${moneyIn(expected, tie.currency)}, they come to ${amountIn(tie.openAfter, tie.currency)}`,
    );
  }
}

/** The totals are what the run confirmed; throws the first figure that is not. */
function checkTotals(
  confirmed: readonly ConfirmedMoney[],
  accounts: readonly AccountSummary[],
): void {
  const problem = untoldMoney(confirmed, accounts);
  if (problem !== null) throw new TieoutError(problem);
}

function toSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
