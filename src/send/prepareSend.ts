// What goes out for a batch, and how its answer is read: a batch of entries, or one payout, which
// is a message of its own. Pure: the same instructions give the same bytes, today and when a stored
// answer is read again after a crash.

import type { BatchInstruction } from '../core/instructions/batch.js';
import type { Account } from '../gateway/account.js';
import type { EntryOutcome } from '../gateway/batches/answers.js';
import { payoutMessage } from '../gateway/batches/payoutMoney.js';
import type { BatchEntry, BatchReading, PreparedBatch } from '../gateway/batches/prepareBatch.js';
import type { PayoutOutcome } from '../gateway/batches/preparePayout.js';
import type { RawAnswer } from '../gateway/transport/transport.js';
import type { PreparedRequest } from '../gateway/wire/requests.js';
import type { BatchRow } from './batches/batchesStore.js';
import type { SendDeps } from './deps.js';

type PrepareDeps = Pick<SendDeps, 'gateway'>;

/** What went out, in the order in which it was sent. */
export interface SentBatch {
  batch: BatchRow;
  account: Account;
  entries: readonly BatchInstruction[];
  wire: readonly BatchEntry[];
}

export function prepareSend(deps: PrepareDeps, sent: SentBatch): PreparedBatch {
  const { operation } = sent.batch;
  return operation === 'payout'
    ? preparedPayout(deps, sent)
    : deps.gateway.prepareBatch(sent.account, operation, sent.wire);
}

export function readSent(deps: PrepareDeps, sent: SentBatch, answer: RawAnswer): BatchReading {
  const { operation } = sent.batch;
  if (operation !== 'payout') {
    return deps.gateway.readBatchAnswer(sent.account, operation, sent.wire, answer);
  }
  const outcome = deps.gateway.readPayoutAnswer(preparedPayout(deps, sent), answer);
  const entries = sent.entries.map((entry) => entryOf(outcome, entry.transactionId));
  return outcome.kind === 'unknown'
    ? { trusted: false, reason: outcome.reason, entries }
    : { trusted: true, signatureWarning: null, entries };
}

function preparedPayout(deps: PrepareDeps, { account, entries }: SentBatch): PreparedRequest {
  const [entry, second] = entries;
  if (!entry || second || entry.payload === null) throw new Error('a payout travels alone');
  return deps.gateway.preparePayout(account, payoutMessage(entry.transactionId, entry.payload));
}

/** status, failure_type and failure_reason are the outcome of a payout. */
function entryOf(outcome: PayoutOutcome, requestId: string): EntryOutcome {
  const ids = { transactionId: requestId, orderNo: requestId };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_sent') {
    const { reason } = outcome;
    return { ...ids, kind: 'unknown', reason, code: null, message: null, reference: null };
  }
  const { status, failure_type, failure_reason, transaction_id } = outcome.record;
  const isRejected = outcome.kind === 'rejected';
  return {
    ...ids,
    // Pending waits as accepted until somebody settles it.
    kind: isRejected ? 'rejected' : 'accepted',
    ...(isRejected ? { reason: failure_reason ?? failure_type ?? `status ${status}` } : {}),
    code: isRejected ? (failure_type ?? status) : status,
    message: failure_reason,
    reference: transaction_id,
    payout: { ...outcome.record, meaning: MEANINGS[outcome.kind] },
  };
}

const MEANINGS = { accepted: 'done', pending: 'pending', rejected: 'failed' } as const;
