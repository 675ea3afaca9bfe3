// The sheet of one instruction, for the person who has to find out what the gateway really did or
// whether to let it go: what to look for in the merchant portal, and the exact command for each
// finding. Shared by the command line and the console; free text in it is masked.

import { refundTag } from '../core/instructions/instruction.js';
import { maskCardNumbers, maskedStart } from '../core/text/masking.js';
import type { Db } from '../database/db.js';
import type { Seen } from './decisionsStore.js';
import type { InstructionSheet, SheetSnapshot } from './instructionListStore.js';
import { instructionSheet } from './instructionListStore.js';
import { type Evidence, evidenceOf } from './refundEvidenceStore.js';

/** Searches for a refund that are shown. */
const EVIDENCE_MAX = 3;
/** Of a request or an answer, so many characters are shown. */
const BODY_CHARS_MAX = 4_000;

export interface Sheet extends InstructionSheet {
  /** what moves: of a refund the part that is refunded */
  money: string;
  /** between these times the gateway may have done it; null: no attempt is on record */
  window: { from: string; until: string | null } | null;
  /** in refund_reason, to be found in the portal; null: no refund, or the profile has no tags */
  tag: string | null;
  /** what the gateway would call this refund if it is the next one of its transaction */
  nextReference: string | null;
  stateBefore: SheetSnapshot | null;
  stateAfter: SheetSnapshot | null;
  /** what a search for the unknown refund brought, newest first; it proves nothing by itself */
  evidence: Evidence[];
  /** what a person can decide now, as commands to copy */
  commands: string[];
}

/** `accounts`: of which ids may be named; without them of all. */
export async function sheetOf(
  deps: { db: Db; refundReasonTag: boolean; accounts?: readonly string[] },
  instructionId: bigint,
): Promise<Sheet | null> {
  const found = await instructionSheet(deps.db, instructionId, deps.accounts ?? null);
  if (found === null) return null;
  const sheet = maskedSheet(found);
  const isRefund = sheet.operation === 'refund';
  const evidence = isRefund ? await evidenceOf(deps.db, instructionId, EVIDENCE_MAX) : [];
  const nextReference = isRefund ? nextReferenceOf(sheet) : null;
  const [first] = sheet.attempts;
  const last = sheet.attempts.at(-1);
  return {
    ...sheet,
    money: `${sheet.refundAmount ?? sheet.amount} ${sheet.currency}`,
    window: first === undefined ? null : { from: first.claimedAt, until: last?.finishedAt ?? null },
    tag: isRefund && deps.refundReasonTag ? refundTag(instructionId) : null,
    nextReference,
    stateBefore: sheet.looks.filter((snapshot) => snapshot.isBefore === true).at(-1) ?? null,
    stateAfter: sheet.looks.filter((snapshot) => snapshot.isBefore === false).at(-1) ?? null,
    evidence: evidence.map((one) => ({
      ...one,
      body: one.body && maskedStart(one.body, BODY_CHARS_MAX, idsOf(sheet)),
    })),
    commands: commandsOf(sheet, nextReference),
  };
}

/** Ids that texts about it may name: given by ledger or gateway as ids, and never masked. */
export function idsOf(sheet: InstructionSheet): string[] {
  const { orderNo, transactionId, refundId, gatewayReference, references } = sheet;
  const own = [refundId, gatewayReference, sheet.refundReference].filter((id) => id !== null);
  return [orderNo, transactionId, ...own, ...references];
}

/** References count up within a transaction: `<transaction_id>-<two digits>`. */
function nextReferenceOf({ transactionId, references }: InstructionSheet): string {
  const ordinals = references.flatMap((reference) => {
    const prefix = `${transactionId}-`;
    const rest = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
    return /^\d\d$/.test(rest) ? [Number(rest)] : [];
  });
  const next = Math.max(0, ...ordinals) + 1;
  return `${transactionId}-${String(next).padStart(2, '0')}`;
}

function commandsOf(sheet: InstructionSheet, nextReference: string | null): string[] {
  const command = (verb: string, rest: string): string =>
    `tieout instructions ${verb} ${sheet.id}${rest}`;
  const resolutions = (reference: string): string[] => [
    command('resolve', ` happened --reason "..." --reference "${reference}"`),
    command('resolve', ' not-happened --reason "..." --reference "..."'),
  ];
  switch (sheet.state) {
    case 'held':
      return [
        command('approve', ` --seen ${sheet.seenSha256.slice(0, 12)}`),
        command('reject', ' --reason "..."'),
      ];
    case 'planned':
    case 'queued':
      return [command('reject', ' --reason "..."')];
    case 'accepted':
      return sheet.payout?.meaning === 'pending' ? resolutions('...') : [];
    case 'unknown':
      return resolutions(nextReference ?? '...');
    case 'rejected':
    case 'withdrawn':
      return sheet.isReplanned ? [] : [command('replan', '')];
    default:
      return [];
  }
}

function maskedSheet(sheet: InstructionSheet): InstructionSheet {
  const keep = idsOf(sheet);
  return {
    ...sheet,
    refundReason: masked(sheet.refundReason, keep),
    reason: masked(sheet.reason, keep),
    outcomeMessage: masked(sheet.outcomeMessage, keep),
    askedBy: sheet.askedBy.map((name) => maskCardNumbers(name, keep)),
    seen: maskedSeen(sheet.seen, keep),
    decisions: sheet.decisions.map((one) => ({ ...one, seen: maskedSeen(one.seen, keep) })),
    attempts: sheet.attempts.map((attempt) => ({
      ...attempt,
      request: attempt.request?.slice(0, BODY_CHARS_MAX) ?? null,
      answer: attempt.answer && {
        ...attempt.answer,
        body: maskedStart(attempt.answer.body, BODY_CHARS_MAX, keep),
      },
    })),
  };
}

const PAYOUT_WORDS = ['beneficiary', 'reference', 'reason', 'bank', 'method', 'feePaidBy'] as const;

/** Its words of the ledger, which came through no door of ours; `keep`: ids that they may name. */
export function maskedSeen(seen: Seen, keep: readonly string[]): Seen {
  const shown: Seen = { ...seen };
  if (seen.refundRequests) {
    shown.refundRequests = seen.refundRequests.map((one) => ({
      ...one,
      reason: masked(one.reason, [...keep, one.refundId]),
      requestedBy: masked(one.requestedBy, [...keep, one.refundId]),
    }));
  }
  if (seen.payout) {
    const payout = { ...seen.payout };
    for (const name of PAYOUT_WORDS) {
      const text = payout[name];
      if (text) payout[name] = maskCardNumbers(text, keep);
    }
    shown.payout = payout;
  }
  return shown;
}

function masked(text: string | null, keep: readonly string[]): string | null {
  return text === null ? null : maskCardNumbers(text, keep);
}
