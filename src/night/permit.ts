// May this batch be sent now? Everything that can forbid it stands behind this one function, which
// answers yes with exactly what is to be sent, or why not. It reads the ledger anew and asks
// core/decide.ts about each order: an instruction goes out only if it is still what is needed, by
// a complete look that is young enough (DESIGN laws 1 and 4).

import { ledgerCurrencies } from '../core/currency.js';
import type { Need, Rules } from '../core/decide.js';
import { decideOrder } from '../core/decide.js';
import type { ApprovalLapse } from '../core/decision.js';
import { parseAmount } from '../core/money.js';
import type { Account } from '../gateway/account.js';
import type { BatchInstruction, BatchRow } from '../store/batches.js';
import type { Db } from '../store/db.js';
import type { FreshFacts } from '../store/facts.js';
import { batchFacts } from '../store/facts.js';
import { newestBlock } from '../store/runAccounts.js';
import type { NightDeps } from './deps.js';

export type Permit =
  | {
      kind: 'yes';
      entries: BatchInstruction[];
      /** no longer needed, with the reason */
      needless: Map<bigint, string>;
      /** their approval no longer holds: a person is asked again */
      lapsed: Map<bigint, ApprovalLapse>;
    }
  | { kind: 'stale'; instructionIds: bigint[] }
  | { kind: 'no'; reason: string };

/** Weighs a batch as it stands now. */
export async function maySend(
  deps: NightDeps,
  tx: Db,
  batch: BatchRow,
  account: Account,
): Promise<Permit> {
  const problem = await accountProblem(deps, tx, account);
  if (problem !== null) return { kind: 'no', reason: problem };
  const facts = await batchFacts(
    tx,
    batch.batchId,
    deps.config.operations.preflightMinutes,
    ledgerCurrencies(deps.config.gateway.profile.currencies),
  );
  const stale = facts.filter((fact) => fact.lookedAt === null);
  if (stale.length > 0) {
    return { kind: 'stale', instructionIds: stale.map((fact) => fact.instructionId) };
  }
  const needless = new Map<bigint, string>();
  const lapsed = new Map<bigint, ApprovalLapse>();
  const entries: BatchInstruction[] = [];
  for (const fact of facts) {
    const reason = whyNot(deps, batch, account, fact);
    if (reason !== null) needless.set(fact.instructionId, reason);
    else if (fact.lapse !== null) lapsed.set(fact.instructionId, fact.lapse);
    else entries.push(fact);
  }
  return { kind: 'yes', needless, lapsed, entries };
}

/** Why nothing of this account is sent, whatever the batch; null: it may. */
export async function accountProblem(
  _deps: NightDeps,
  db: Db,
  account: Account,
): Promise<string | null> {
  if (account.liveFrom === null) return 'the account is only observed';
  const newest = await newestBlock(db, account.accountId);
  if (newest === null) return 'the account has no run';
  return newest.block === null ? null : `nothing of the account is sent: ${newest.block}`;
}

function whyNot(
  deps: NightDeps,
  batch: BatchRow,
  account: Account,
  fact: FreshFacts,
): string | null {
  const { need } = decideOrder(fact.facts, rulesFor(deps, account, fact));
  if (need === null) return 'no longer asked for';
  return isSame(batch, fact, need) ? null : 'what is needed has changed';
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

function rulesFor(deps: NightDeps, account: Account, fact: FreshFacts): Rules {
  const { reconcile, operations, gateway } = deps.config;
  const asOf = fact.asOf ?? deps.now();
  return {
    asOf,
    dateEnd: fact.dateEnd ?? asOf,
    graceMs: reconcile.graceHours * HOUR_MS,
    staleMs: reconcile.staleAuthorisationDays * 24 * HOUR_MS,
    tolerance: reconcile.tolerance,
    partialCapture: gateway.profile.partialCapture,
    liveFrom: account.liveFrom,
    off: new Set(
      (['capture', 'cancel', 'refund', 'review'] as const).filter(
        (operation) => operations.mode[operation] === 'off',
      ),
    ),
  };
}
