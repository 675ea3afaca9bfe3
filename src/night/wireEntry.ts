// An instruction in the words of the wire. The same instruction gives the same words, today and
// when its answer is read again after a crash.

import { parseAmount } from '../core/money.js';
import type { Movement } from '../core/order.js';
import { wireAmount } from '../gateway/amount.js';
import type { BatchEntry } from '../gateway/batchOps.js';
import type { BatchInstruction } from '../store/batches.js';
import type { NightDeps } from './deps.js';

/** A payout has no entries: it is its own message (prepareSend.ts). */
export function wireOf(
  deps: NightDeps,
  operation: Movement,
  entries: readonly BatchInstruction[],
): BatchEntry[] {
  return operation === 'payout' ? [] : entries.map((entry) => wireEntry(deps, entry));
}

/** The tag lets a person find a refund in the portal. */
function wireEntry(deps: NightDeps, entry: BatchInstruction): BatchEntry {
  const { profile } = deps.config.gateway;
  const wire: BatchEntry = {
    transactionId: entry.transactionId,
    orderNo: entry.orderNo,
    currency: entry.currency,
    amount: wireText(deps, entry.currency, entry.amount),
  };
  if (entry.refundAmount !== null) {
    const tag = profile.refundReasonTag ? refundTag(entry.instructionId) : '';
    wire.refundAmount = wireText(deps, entry.currency, entry.refundAmount);
    wire.refundReason = [entry.refundReason ?? '', tag].filter((part) => part !== '').join(' ');
  }
  if (entry.reviewDecision !== null) wire.decision = entry.reviewDecision;
  return wire;
}

/** Stands in refund_reason. */
export function refundTag(instructionId: bigint): string {
  return `[tieout ${instructionId}]`;
}

function wireText(deps: NightDeps, currency: string, text: string): string {
  const amount = parseAmount(text);
  const wire =
    amount === null ? null : wireAmount(deps.config.gateway.profile.currencies, currency, amount);
  if (wire === null) throw new Error(`${text} ${currency} cannot be written for the gateway`);
  return wire;
}
