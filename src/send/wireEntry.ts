// An instruction in the words of the wire. The same instruction gives the same words, today and
// when its answer is read again after a crash.

import type { BatchInstruction } from '../core/instructions/batch.js';
import { refundTag } from '../core/instructions/instruction.js';
import { parseAmount } from '../core/money.js';
import type { InstructionOperation } from '../core/orders/order.js';
import type { BatchEntry } from '../gateway/batches/prepareBatch.js';
import { wireAmount } from '../gateway/wire/amount.js';
import type { SendDeps } from './deps.js';

type WireDeps = Pick<SendDeps, 'config'>;

/** A payout has no entries: it is its own message (prepareSend.ts). */
export function wireOf(
  deps: WireDeps,
  operation: InstructionOperation,
  entries: readonly BatchInstruction[],
): BatchEntry[] {
  return operation === 'payout' ? [] : entries.map((entry) => wireEntry(deps, entry));
}

/** False where its currency cannot express an amount of it: half a yen. */
export function canBeWritten(
  deps: WireDeps,
  operation: InstructionOperation,
  entry: BatchInstruction,
): boolean {
  if (operation === 'payout') return true;
  const { amount, refundAmount } = entry;
  return (
    writtenAs(deps, entry, amount) !== null &&
    (refundAmount === null || writtenAs(deps, entry, refundAmount) !== null)
  );
}

/** The tag lets a person find a refund in the portal. */
function wireEntry(deps: WireDeps, entry: BatchInstruction): BatchEntry {
  const { profile } = deps.config.gateway;
  const wire: BatchEntry = {
    transactionId: entry.transactionId,
    orderNo: entry.orderNo,
    currency: entry.currency,
    amount: wireText(deps, entry, entry.amount),
  };
  if (entry.refundAmount !== null) {
    const tag = profile.refundReasonTag ? refundTag(entry.instructionId) : '';
    wire.refundAmount = wireText(deps, entry, entry.refundAmount);
    wire.refundReason = [entry.refundReason ?? '', tag].filter((part) => part !== '').join(' ');
  }
  if (entry.reviewDecision !== null) wire.decision = entry.reviewDecision;
  return wire;
}

function wireText(deps: WireDeps, entry: BatchInstruction, text: string): string {
  const wire = writtenAs(deps, entry, text);
  if (wire !== null) return wire;
  const { currency, orderNo } = entry;
  throw new Error(`order ${orderNo}: ${text} ${currency} cannot be written for the gateway`);
}

/** Null where the currency of the entry cannot express it. */
function writtenAs(
  { config }: WireDeps,
  { currency }: BatchInstruction,
  text: string,
): string | null {
  const amount = parseAmount(text);
  return amount === null ? null : wireAmount(config.gateway.profile.currencies, currency, amount);
}
