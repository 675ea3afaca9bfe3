// May this batch be sent now? Everything that can forbid it stands behind this one function, which
// answers yes with exactly what is to be sent, or why not. It reads the ledger anew and asks
// core/orders/decideVerdict.ts about each order: an instruction goes out only if it is still what
// is needed, by a complete snapshot that is young enough (laws 1 and 4 of ARCHITECTURE.md).

import { profileDigest } from '../config/view.js';
import { ledgerCurrencies } from '../core/currency.js';
import { decisionKeys } from '../core/decisions/decisionKeys.js';
import type { BatchInstruction } from '../core/instructions/batch.js';
import { mayAccountSend } from '../core/instructions/breaker.js';
import { leftBy } from '../core/instructions/decision.js';
import { historyReason } from '../core/instructions/freeing/freeingChange.js';
import type { HoldReason } from '../core/instructions/holdReasons.js';
import type { Policy, Wanted } from '../core/instructions/policy.js';
import { heldAtClaim, isUnseenDispute } from '../core/instructions/policy.js';
import { parseAmount } from '../core/money.js';
import type { Need } from '../core/orders/decideVerdict.js';
import { decideOrder } from '../core/orders/decideVerdict.js';
import type { Rules } from '../core/orders/facts.js';
import type { Db } from '../database/db.js';
import type { Account } from '../gateway/account.js';
import { payoutMoney, sourceOf } from '../gateway/batches/payoutMoney.js';
import { differsFrom } from '../instructions/changedSettings.js';
import { payoutFacts } from '../instructions/payoutsStore.js';
import { ownPolicies, policiesOfRun } from '../instructions/policies.js';
import { otherEnvironment } from '../runs/environment.js';
import { unsignedOf } from '../signatures/signaturesStore.js';
import type { BatchRow } from './batches/batchesStore.js';
import type { FreshFacts } from './batches/batchFactsStore.js';
import { batchFacts, decisionsBehind, pastLimit } from './batches/batchFactsStore.js';
import type { SendingStatus } from './batches/sendingStatusStore.js';
import { statusInClaim } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';

export type PermitDeps = Pick<SendDeps, 'config' | 'db' | 'journal' | 'now'>;

export type Permit =
  | {
      kind: 'yes';
      entries: BatchInstruction[];
      /** entries that are no longer needed, with the reason */
      needless: Map<bigint, string>;
      /** entries that need a person, or need one again */
      held: Map<bigint, HoldReason>;
      /** only one of the entries may go: the canary of the account and run */
      isCanary: boolean;
      runId: bigint;
    }
  /** these need a fresh snapshot first */
  | { kind: 'stale'; instructionIds: bigint[] }
  /** the canary of the account is on its way */
  | { kind: 'wait' }
  /** nothing of the account is sent until somebody or something lifts it */
  | { kind: 'stop'; reason: string }
  /** the database is not the one that was held against the journal of permits */
  | { kind: 'unverified'; reason: string; isAwaited: boolean };

/** Weighs a batch in the transaction that is going to claim it. */
export async function maySend(
  deps: PermitDeps,
  tx: Db,
  batch: BatchRow,
  account: Account,
): Promise<Permit> {
  const status = beginningOf(deps, account, await statusInClaim(tx, account.accountId));
  if (status.kind === 'wait' || status.kind === 'stop') return status;
  const unverified = await deps.journal.mayClaim(tx);
  if (unverified !== null) return { kind: 'unverified', ...unverified };
  const differs = await differsFrom(deps, tx, account.accountId);
  if (differs.readsOther !== null)
    return { kind: 'stop', reason: otherReading(differs.readsOther) };
  const policies = await policiesAt(deps, tx, batch, status);
  if (policies.own.policy === 'off' && policies.then.policy !== 'off') {
    return { kind: 'stop', reason: offHere(batch.operation) };
  }
  const holds = holdsOf(policies, differs);
  const weighed =
    batch.operation === 'payout'
      ? await weighPayout(deps, tx, batch, account, holds)
      : await weighOrders(deps, tx, batch, account, holds, differs.meansOther);
  if (weighed.kind === 'stale') return weighed;
  await holdUnsigned(deps, tx, batch, weighed);
  await holdPastLimit(deps, tx, batch, status.runId, weighed);
  const isCanary = status.kind === 'canary';
  return { ...weighed, kind: 'yes', isCanary, runId: status.runId };
}

/** Another worker may send it, or this one after the next plan. */
function otherReading(words: string): string {
  return `the settings of this process read answers otherwise than the last plan's: ${words}`;
}

/** The same: that it is `off` for others, too, is for the next plan to say. */
function offHere(operation: BatchRow['operation']): string {
  return `operations.${operation} is off in the settings of this process`;
}

interface Policies {
  /** by the settings of this process */
  own: Policy;
  /** by those of the account's newest run */
  then: Policy;
}

async function policiesAt(
  deps: Pick<SendDeps, 'config'>,
  tx: Db,
  { operation }: BatchRow,
  status: { runId: bigint; settingsSha256: string | null },
): Promise<Policies> {
  const own = ownPolicies(deps).policies.find((one) => one.operation === operation);
  const planned = await policiesOfRun(deps, tx, status);
  const then = planned.find((one) => one.operation === operation);
  if (!own || !then) throw new Error(`there is no policy for ${operation}`);
  return { own, then };
}

/** Why a movement needs a person after all, approved or not; null: it does not. */
type Holds = (wanted: Wanted, isApproved: boolean) => HoldReason | null;

/**
 * Settings may have changed since it was planned, those of this process or those of the run; and
 * what an answer means to this process may not be what the plan took it for.
 */
function holdsOf({ own, then }: Policies, differs: Awaited<ReturnType<typeof differsFrom>>): Holds {
  return (wanted, isApproved) => {
    // Nobody sends any of it, whoever approved it, until the setting is another one.
    if (then.policy === 'off') return 'operation_off';
    // Who approved it had not seen to whom it would go.
    if (differs.goesElsewhere) return 'newly_freed';
    if (isApproved) return null;
    return heldAtClaim(own, then, wanted) ?? (differs.meansOther ? 'newly_freed' : null);
  };
}

type Weighed =
  | ({ kind: 'weighed' } & Pick<Permit & { kind: 'yes' }, 'entries' | 'needless' | 'held'>)
  | Extract<Permit, { kind: 'stale' }>;

async function weighOrders(
  deps: Pick<SendDeps, 'config' | 'now'>,
  tx: Db,
  batch: BatchRow,
  account: Account,
  holds: Holds,
  meansOther: boolean,
): Promise<Weighed> {
  const facts = await batchFacts(
    tx,
    batch.batchId,
    deps.config.operations.preflightMinutes,
    ledgerCurrencies(deps.config.gateway.profile.currencies),
    profileDigest(deps.config),
  );
  const stale = facts.filter((fact) => fact.snapshotAt === null);
  if (stale.length > 0) {
    return { kind: 'stale', instructionIds: stale.map((fact) => fact.instructionId) };
  }
  const needless = (fact: FreshFacts) => whyNot(deps, batch, account, fact);
  return sorted(
    facts,
    // Read otherwise than the plan read it, what seems needless may be asked for all the same.
    (fact) => (meansOther ? null : needless(fact)),
    (fact) => {
      if (meansOther && needless(fact) !== null) return 'newly_freed';
      if (fact.stillHeld === 'restored') return fact.stillHeld;
      if (isUnseenDispute(fact)) return 'disputed';
      if (fact.lapse !== null) return leftBy(fact.lapse, fact.approvedFor);
      const { partialCapture } = deps.config.gateway.profile;
      if (!partialCapture && isPartialCapture(batch, fact)) return 'partial_capture';
      if (fact.doubled !== null) return fact.doubled;
      // Who approved it has seen what the check says: it is part of what is seen.
      if (fact.isFraud && !fact.isApproved) return 'fraud_rejected';
      if (fact.stillHeld !== null) return fact.stillHeld;
      return holds({ ...wantedOf(fact), isInTotals: true }, fact.isApproved);
    },
  );
}

/** Where decisions are signed, nothing goes by one that somebody wrote into the tables. */
async function holdUnsigned(
  { config }: Pick<SendDeps, 'config'>,
  tx: Db,
  { batchId }: BatchRow,
  weighed: Weighed & { kind: 'weighed' },
): Promise<void> {
  const keys = decisionKeys(config.decisions);
  if (keys === null) return;
  const behind = await decisionsBehind(tx, batchId);
  const ids = [...new Set(behind.map(({ decisionId }) => decisionId))];
  const unsigned = new Set(await unsignedOf(tx, keys, 'decision', ids));
  for (const { instructionId, decisionId, approvedFor } of behind) {
    // Of one from before its newest approval: asked for that reason again, which signs.
    if (unsigned.has(decisionId)) hold(weighed, instructionId, approvedFor ?? 'not_signed');
  }
}

/** What waited past the limits of a run goes by a plan with room for it, or by an approval. */
async function holdPastLimit(
  deps: Pick<SendDeps, 'config'>,
  tx: Db,
  { batchId, operation }: BatchRow,
  runId: bigint,
  weighed: Weighed & { kind: 'weighed' },
): Promise<void> {
  const own = ownPolicies(deps).policies.find((one) => one.operation === operation);
  if (!own || (own.maxCount === null && own.maxAmount === null)) return;
  for (const instructionId of await pastLimit(tx, batchId, runId, own)) {
    hold(weighed, instructionId, 'over_limit_of_run');
  }
}

function hold(
  weighed: Weighed & { kind: 'weighed' },
  instructionId: bigint,
  reason: HoldReason,
): void {
  const at = weighed.entries.findIndex((entry) => entry.instructionId === instructionId);
  if (at < 0) return;
  weighed.entries.splice(at, 1);
  weighed.held.set(instructionId, reason);
}

function isPartialCapture({ operation }: BatchRow, { facts, amount }: FreshFacts): boolean {
  return operation === 'capture' && facts.ledger?.amount !== parseAmount(amount);
}

function wantedOf({ refundAmount, amount, currency }: BatchInstruction) {
  return { money: parseAmount(refundAmount ?? amount) ?? 0n, currency };
}

/** The gateway shows no payouts, so that there is nothing to look at: the ledger says. */
async function weighPayout(
  deps: Pick<SendDeps, 'config' | 'now'>,
  tx: Db,
  batch: BatchRow,
  { liveFrom }: Account,
  holds: Holds,
): Promise<Weighed> {
  const isUnitKnown = deps.config.gateway.profile.payout.unit !== null;
  return sorted(
    await payoutFacts(tx, batch.batchId, deps.now()),
    ({ isAsked, requestedAt }) => {
      if (isAsked && isHistory(requestedAt, liveFrom)) return historyReason([], liveFrom);
      return isAsked ? null : 'no longer asked for';
    },
    (fact) => {
      const isInTotals = fact.isInTotals && isUnitKnown;
      const source = moneyOf(sourceOf(deps.config.gateway.profile, fact.payload ?? {}));
      if (fact.stillHeld === 'restored') return fact.stillHeld;
      if (fact.lapse !== null) return leftBy(fact.lapse, fact.approvedFor);
      if (fact.isTwin) return 'twin_request';
      if (fact.stillHeld !== null) return fact.stillHeld;
      // What was shown, and approved, was another amount than the profile reads in it by now.
      const isSame = isSameMoney(deps, fact) && isSameSource(source, moneyOf(fact.source));
      if (fact.isInTotals && !isSame) return 'newly_freed';
      return holds({ ...wantedOf(fact), isInTotals, source }, fact.isApproved);
    },
  );
}

function isSameMoney(
  { config }: Pick<SendDeps, 'config'>,
  { payload, currency, amount }: BatchInstruction,
): boolean {
  const now = payoutMoney(config.gateway.profile, currency, payload?.payment_amount);
  return now !== null && parseAmount(now) === parseAmount(amount);
}

/** What leaves the payer's account may be in another currency, in which the unit tells more. */
function isSameSource(now: Wanted['source'], planned: Wanted['source']): boolean {
  return now?.currency === planned?.currency && now?.money === planned?.money;
}

function moneyOf(source: ReturnType<typeof sourceOf>): Wanted['source'] {
  if (source === null) return null;
  const { amount, currency } = source;
  return { currency, money: amount === null ? null : parseAmount(amount) };
}

/** Puts each where it belongs; what is not needed needs no approval either. */
function sorted<F extends BatchInstruction>(
  facts: readonly F[],
  whyNeedless: (fact: F) => string | null,
  whyHeld: (fact: F) => HoldReason | null,
): Weighed {
  const needless = new Map<bigint, string>();
  const held = new Map<bigint, HoldReason>();
  const entries: BatchInstruction[] = [];
  for (const fact of facts) {
    const reason = whyNeedless(fact);
    const hold = whyHeld(fact);
    if (reason !== null) needless.set(fact.instructionId, reason);
    else if (hold !== null) held.set(fact.instructionId, hold);
    else entries.push(fact);
  }
  return { kind: 'weighed', needless, held, entries };
}

export type Beginning =
  | { kind: 'open' | 'canary'; runId: bigint; settingsSha256: string | null }
  | Extract<Permit, { kind: 'wait' | 'stop' }>;

/** The part of it that is not about orders; asked before a connection is opened, too. */
export function beginningOf(
  { config }: Pick<SendDeps, 'config'>,
  account: Account,
  status: SendingStatus | undefined,
): Beginning {
  if (!status || status.runId === null) {
    return { kind: 'stop', reason: 'the account has no run' };
  }
  const mismatch = otherEnvironment(config, status.environment);
  if (mismatch !== null) return { kind: 'stop', reason: mismatch };
  const answer = mayAccountSend(status, [account]);
  return answer.kind === 'stop' || answer.kind === 'wait'
    ? answer
    : {
        kind: answer.kind,
        runId: status.runId,
        settingsSha256: status.settingsSha256,
      };
}

function whyNot(
  deps: Pick<SendDeps, 'config' | 'now'>,
  batch: BatchRow,
  account: Account,
  fact: FreshFacts,
): string | null {
  const request = fact.facts.refunds.find(({ refundId }) => refundId === fact.refundId);
  if (request && isHistory(request.requestedAt, account.liveFrom)) {
    return historyReason([], account.liveFrom);
  }
  const { need } = decideOrder(fact.facts, rulesFor(deps, account, fact));
  if (need === null) return 'no longer asked for';
  return isSame(batch, fact, need) ? null : 'what is needed has changed';
}

function isHistory(requestedAt: Date | null, liveFrom: Date | null): boolean {
  return liveFrom !== null && requestedAt !== null && requestedAt < liveFrom;
}

function isSame(batch: BatchRow, entry: BatchInstruction, need: Need): boolean {
  return (
    need.operation === batch.operation &&
    need.transactionId === entry.transactionId &&
    need.currency === entry.currency &&
    need.amount === parseAmount(entry.amount) &&
    need.refundId === entry.refundId &&
    need.refundAmount === (entry.refundAmount === null ? null : parseAmount(entry.refundAmount)) &&
    need.reviewDecision === entry.reviewDecision
  );
}

const HOUR_MS = 3_600_000;

function rulesFor(
  deps: Pick<SendDeps, 'config' | 'now'>,
  account: Account,
  fact: FreshFacts,
): Rules {
  const { reconcile, gateway } = deps.config;
  const asOf = fact.asOf ?? deps.now();
  return {
    asOf,
    dateEnd: fact.dateEnd ?? asOf,
    graceMs: reconcile.graceHours * HOUR_MS,
    staleMs: reconcile.staleAuthorisationDays * 24 * HOUR_MS,
    tolerance: reconcile.tolerance,
    partialCapture: gateway.profile.partialCapture,
    liveFrom: account.liveFrom,
    // What `off` keeps back is not what nobody asks for: maySend has that.
    off: new Set(),
  };
}
