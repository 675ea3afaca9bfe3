// May this batch be sent now? Everything that can forbid it stands behind this one function, which
// answers yes with exactly what is to be sent, or why not. It reads the ledger anew and asks
// core/decide.ts about each order: an instruction goes out only if it is still what is needed, by
// a complete look that is young enough (DESIGN laws 1 and 4).

import { ledgerCurrencies } from '../core/currency.js';
import type { Need, Rules } from '../core/decide.js';
import { decideOrder } from '../core/decide.js';
import { parseAmount } from '../core/money.js';
import type { Account } from '../gateway/account.js';
import type { BatchInstruction, BatchRow } from '../store/batches.js';
import { batchInstructions } from '../store/batches.js';
import type { FreshFacts } from '../store/facts.js';
import { batchFacts } from '../store/facts.js';
import { newestBlock } from '../store/runAccounts.js';
import type { NightDeps } from './deps.js';

export type Permit =
  | { kind: 'yes'; entries: BatchInstruction[]; needless: Map<bigint, string> }
  | { kind: 'stale'; instructionIds: bigint[] }
  | { kind: 'no'; reason: string };

/** Weighs a batch; `needless` names the entries that are no longer needed, with the reason. */
export async function maySend(deps: NightDeps, batch: BatchRow, account: Account): Promise<Permit> {
  const { operations } = deps.config;
  if (account.liveFrom === null) return { kind: 'no', reason: 'the account is only observed' };
  const block = await sendBlock(deps, batch.accountId);
  if (block !== null) return { kind: 'no', reason: block };
  const entries = await batchInstructions(deps.db, batch.batchId, 'queued');
  const facts = await batchFacts(
    deps.db,
    batch.batchId,
    operations.preflightMinutes,
    ledgerCurrencies(deps.config.gateway.profile.currencies),
  );
  const stale = facts.filter((fact) => fact.lookedAt === null);
  if (stale.length > 0) {
    return { kind: 'stale', instructionIds: stale.map((fact) => fact.instructionId) };
  }
  const needless = new Map<bigint, string>();
  for (const entry of entries) {
    const fact = facts.find((one) => one.instructionId === entry.instructionId);
    const reason = fact ? whyNot(deps, batch, account, entry, fact) : 'it left the batch';
    if (reason !== null) needless.set(entry.instructionId, reason);
  }
  return {
    kind: 'yes',
    needless,
    entries: entries.filter((entry) => !needless.has(entry.instructionId)),
  };
}

/** The newest run of the account says whether anything of it may be sent. */
async function sendBlock(deps: NightDeps, accountId: string): Promise<string | null> {
  const newest = await newestBlock(deps.db, accountId);
  if (newest === null) return 'the account has no run';
  return newest.block === null ? null : `nothing of the account is sent: ${newest.block}`;
}

function whyNot(
  deps: NightDeps,
  batch: BatchRow,
  account: Account,
  entry: BatchInstruction,
  fact: FreshFacts,
): string | null {
  const { need } = decideOrder(fact.facts, rulesFor(deps, account, fact));
  if (need === null) return 'no longer asked for';
  return isSame(batch, entry, need) ? null : 'what is needed has changed';
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
