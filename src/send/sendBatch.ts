// The sending of one batch, the most dangerous page of the program (law 1 of ARCHITECTURE.md):
// connect, permit, claim, one write, raw answer kept, answer read, outcomes recorded. From the
// first byte on whatever is not a fully checked answer is unknown; nothing below retries. Safe to
// be called twice for the same batch: the second caller finds the claim taken.

import { createHash } from 'node:crypto';
import { inDiskWords, messageOf } from '../core/errors.js';
import type { BatchInstruction } from '../core/instructions/batch.js';
import { isQueueAway } from '../core/queuePort.js';
import type { Db } from '../database/db.js';
import type { Account } from '../gateway/account.js';
import type { PreparedBatch } from '../gateway/batches/prepareBatch.js';
import type { MoneyConnection } from '../gateway/transport/moneyTransport.js';
import type { RawAnswer } from '../gateway/transport/transport.js';
import { inLedgerWords, mayBeLedger } from '../ledger/ledgerTroubleStore.js';
import { pullAgain } from '../pull/pullAgain.js';
import type { ChunkDeps } from '../pull/pullChunk.js';
import type { StoredAnswer } from './batches/attemptsStore.js';
import { ClaimChanged, claimBatch } from './batches/attemptsStore.js';
import type { BatchRow } from './batches/batchesStore.js';
import {
  deferBatch,
  dropBatch,
  holdAgain,
  holdBatch,
  noteBatch,
  withdrawFromBatch,
} from './batches/batchesStore.js';
import { batchStatus, beginCanary, splitBatch } from './batches/sendingStatusStore.js';
import type { SendDeps } from './deps.js';
import type { EnqueueDeps } from './enqueueWaiting.js';
import { enqueueWaiting } from './enqueueWaiting.js';
import { JournalError, journalTrouble, notWritten } from './journal/journalTrouble.js';
import type { PermitLine } from './journal/permitSegments.js';
import type { OutcomeDeps } from './outcomes.js';
import { outcomesOf, recordAnswer, recordUnknown, tellUnanswered } from './outcomes.js';
import type { Permit, PermitDeps } from './permit.js';
import { beginningOf, maySend } from './permit.js';
import type { SentBatch } from './prepareSend.js';
import { prepareSend } from './prepareSend.js';
import type { Moment } from './sendBudget.js';
import { isInBudget, momentOf } from './sendBudget.js';
import { storedRequest } from './storedRequest.js';
import type { Unsent } from './undoClaim.js';
import { recordUnwritten, undoClaim } from './undoClaim.js';
import { canBeWritten, wireOf } from './wireEntry.js';

type BatchDeps = ChunkDeps &
  PermitDeps &
  OutcomeDeps &
  EnqueueDeps &
  Pick<SendDeps, 'answers' | 'fitness' | 'runner' | 'turns'>;

/** Sends a batch if it still waits and may be sent. */
export async function sendBatch(deps: BatchDeps, batchId: bigint): Promise<void> {
  await deps.fitness.through(() => tryBatch(deps, batchId));
}

async function tryBatch(deps: BatchDeps, batchId: bigint): Promise<void> {
  const found = await batchStatus(deps.db, batchId);
  if (found?.batch.state !== 'queued') return;
  const { batch, status } = found;
  const account = deps.config.accounts.find((one) => one.accountId === batch.accountId);
  if (!account) return deps.fitness.leave(batch.accountId);
  try {
    const beginning = beginningOf(deps, account, status);
    if (beginning.kind === 'stop') return await noteBatch(deps.db, batchId, beginning.reason);
    if (beginning.kind === 'wait') return;
    const unfit = await whyUnfit(deps);
    if (unfit !== null) return await leaveBatch(deps, batchId, unfit);
    const awaited = await deps.journal.awaited();
    if (awaited !== null) return await noteBatch(deps.db, batchId, awaited);
    const stale = await sendInTurn(deps, batch, account);
    if (stale === null) return;
    await pullAgain(deps, batch.runId, stale);
    if ((await sendInTurn(deps, batch, account)) === null) return;
    await deferBatch(deps.db, batchId, 'the look before sending was not answered');
  } catch (error) {
    if (error instanceof JournalError) return await leaveBatch(deps, batchId, error.message);
    // A view of the ledger that fails for one row says neither which view nor which row.
    const failure = mayBeLedger(error)
      ? await inLedgerWords(deps, error)
      : inDiskWords(error, [deps.config.dataDir]);
    // Only a batch that still waits is touched: after the claim, recoverAttempts.ts says what it
    // is.
    const reason = `tieout failed: ${messageOf(failure)}`;
    await deferBatch(deps.db, batchId, reason).catch((error: unknown) => {
      // Where the database is gone, too, what came first is the cause.
      deps.log(`batch ${batchId}: why it waits could not be recorded: ${messageOf(error)}`, {
        level: 'warn',
        account: batch.accountId,
        batch: String(batchId),
      });
    });
    throw failure;
  }
}

/** Where nothing could be sent a moment ago, no claim is made to find the disk as it was. */
async function whyUnfit(deps: BatchDeps): Promise<string | null> {
  const trouble = deps.fitness.isUnfit() ? await whyUnwritable(deps) : null;
  return trouble ?? deps.journal.verify();
}

/** A folder may take a file where its journal takes no line, and a line where its disk is full. */
async function whyUnwritable({ config, journal }: BatchDeps): Promise<string | null> {
  return journalTrouble(config.dataDir) ?? journal.whyNoLine();
}

/** What is wrong with this process is no try of the batch: another one may send it. */
async function leaveBatch(
  { db, fitness }: Pick<BatchDeps, 'db' | 'fitness'>,
  batchId: bigint,
  reason: string,
): Promise<void> {
  await noteBatch(db, batchId, fitness.unfit(reason));
}

type Tried =
  /** these need a fresh snapshot before anything of the batch may go */
  { kind: 'stale'; instructionIds: readonly bigint[] } | { kind: 'done' };

const DONE: Tried = { kind: 'done' };

/**
 * Its turn lasts from the connection until its outcomes are on record, where the breaker counts
 * them. Answers which instructions need a fresh snapshot before, if any.
 */
async function sendInTurn(
  deps: BatchDeps,
  batch: BatchRow,
  account: Account,
): Promise<readonly bigint[] | null> {
  const tried = await deps.turns(() => connectAndSend(deps, batch, account));
  return tried.kind === 'stale' ? tried.instructionIds : null;
}

/** Connects first, so that nothing lies between the permit and the write but the claim. */
async function connectAndSend(deps: BatchDeps, batch: BatchRow, account: Account): Promise<Tried> {
  const opened = await deps.gateway.connectMoney(account);
  if (opened.kind === 'not_sent') {
    await deferBatch(deps.db, batch.batchId, deps.fitness.unreached(opened.reason));
    return DONE;
  }
  try {
    const claim = await claimPermitted(deps, batch, account);
    switch (claim.kind) {
      case 'claimed':
        await postClaimed(deps, claim.claimed, opened.connection);
        return DONE;
      case 'stop':
        await noteBatch(deps.db, batch.batchId, claim.reason);
        return DONE;
      case 'unverified':
        if (claim.isAwaited) await noteBatch(deps.db, batch.batchId, claim.reason);
        else await leaveBatch(deps, batch.batchId, claim.reason);
        return DONE;
      case 'changed':
        await deferBatch(deps.db, batch.batchId, 'it changed while it was claimed');
        return DONE;
      case 'stale':
        return claim;
      case 'wait':
      case 'nothing':
        return DONE;
    }
  } finally {
    opened.connection.close();
  }
}

interface Claimed {
  sent: SentBatch;
  prepared: PreparedBatch;
  attemptId: string;
  xid: string;
  isCanary: boolean;
  began: Moment;
}

type Claim =
  | Exclude<Permit, { kind: 'yes' }>
  | { kind: 'claimed'; claimed: Claimed }
  /** nothing in it is needed any more, or what is needed waits for a person */
  | { kind: 'nothing' }
  /** an entry came or went meanwhile */
  | { kind: 'changed' };

/** Permit and claim in one transaction; goes on only when its COMMIT was acknowledged. */
async function claimPermitted(deps: BatchDeps, batch: BatchRow, account: Account): Promise<Claim> {
  let made: Claimed | null = null;
  try {
    return await deps.db.durably(async (tx) => {
      const permit = await maySend(deps, tx, batch, account);
      if (permit.kind !== 'yes') return permit;
      const claim = await claimEntries(deps, tx, batch, account, permit);
      if (claim.kind === 'claimed') made = claim.claimed;
      return claim;
    });
  } catch (error) {
    if (error instanceof ClaimChanged) return { kind: 'changed' };
    if (made !== null) await undoClaim(deps, made);
    throw error;
  }
}

const HELD_WHOLE = 'what was still needed of it waits for a person';

async function claimEntries(
  deps: BatchDeps,
  tx: Db,
  batch: BatchRow,
  account: Account,
  permit: Permit & { kind: 'yes' },
): Promise<Claim> {
  const { isCanary, runId, needless, held } = permit;
  const fit = writable(deps, batch, permit.entries);
  const isCut = needless.size > 0 || held.size > 0 || fit.length < permit.entries.length;
  // Whoever takes it apart holds the batch first, and then its instructions: dissolveWaiting does,
  // and holdRestored.
  if ((isCut || isCanary) && !(await holdBatch(tx, batch.batchId))) throw new ClaimChanged('taken');
  await withdrawFromBatch(tx, needless, deps.now());
  await holdAgain(tx, held);
  if (fit.length < permit.entries.length) await splitBatch(tx, batch.batchId, idsOf(fit));
  const [first] = fit;
  if (!first) {
    const isHeld = permit.held.size > 0;
    await dropBatch(tx, batch.batchId, isHeld ? HELD_WHOLE : 'nothing in it is needed any more');
    return { kind: 'nothing' };
  }
  if (isCanary && !(await becomesCanary(tx, runId, batch, first))) return { kind: 'wait' };
  const entries = isCanary ? [first] : fit;
  const sent = { batch, account, entries, wire: wireOf(deps, batch.operation, entries) };
  const prepared = prepareSend(deps, sent);
  const attemptId = deps.newId();
  const instructionIds = idsOf(entries);
  const journalId = deps.journal.journalId();
  const requestGzip = storedRequest(prepared.body, sent);
  const bodySha256 = prepared.sha256;
  const claim = { attemptId, instructionIds, bodySha256, requestGzip, runId, journalId };
  const began = momentOf(deps);
  const attempt = await claimBatch(tx, batch.batchId, claim, deps.runner);
  if (attempt === null) throw new ClaimChanged('taken');
  const { xid } = attempt;
  return { kind: 'claimed', claimed: { sent, prepared, attemptId, xid, isCanary, began } };
}

/** What no amount of the gateway expresses keeps nobody else: it fails in a batch of its own. */
function writable(
  deps: Pick<SendDeps, 'config'>,
  { operation }: BatchRow,
  entries: readonly BatchInstruction[],
): readonly BatchInstruction[] {
  const fit = entries.filter((entry) => canBeWritten(deps, operation, entry));
  return fit.length === 0 ? entries : fit;
}

function idsOf(entries: readonly BatchInstruction[]): bigint[] {
  return entries.map((entry) => entry.instructionId);
}

/** The batch goes ahead with one of its entries alone; the others wait in a batch of their own. */
async function becomesCanary(
  tx: Db,
  runId: bigint,
  batch: BatchRow,
  first: BatchInstruction,
): Promise<boolean> {
  if (!(await beginCanary(tx, runId, batch.accountId, batch.batchId))) return false;
  await splitBatch(tx, batch.batchId, [first.instructionId]);
  return true;
}

async function postClaimed(
  deps: BatchDeps,
  claimed: Claimed,
  connection: MoneyConnection,
): Promise<void> {
  await post(deps, claimed, connection);
  // Whoever cannot send calls nobody: it would be the first to hear.
  if (!claimed.isCanary || deps.fitness.isUnfit()) return;
  // What waited for the canary need not wait for the sweep, save where the queue is away.
  await enqueueWaiting(deps, [claimed.sent.batch.accountId]).catch((error: unknown) => {
    if (!isQueueAway(error)) throw error;
  });
}

async function post(deps: BatchDeps, claimed: Claimed, connection: MoneyConnection): Promise<void> {
  const { sent, prepared, attemptId, began } = claimed;
  try {
    await deps.journal.append(permitLine(sent, prepared, attemptId));
  } catch (error) {
    const reason = deps.fitness.unfit(notWritten(error));
    // What the next look at this host does not find holds no claim up: its tries alone end that.
    const isTry = (await whyUnwritable(deps)) === null;
    await notSent(deps, sent, attemptId, { reason, isTry });
    return;
  }
  deps.fitness.fit();
  const posted = await connection.post({
    path: prepared.path,
    headers: { ...prepared.headers, 'content-type': prepared.contentType },
    body: prepared.body,
    deadlineMs: deps.config.gateway.profile.limits.timeoutMs,
    // Asked in the tick of the first write: a sender that slept past its budget writes nothing.
    mayWrite: () => isInBudget(deps, began),
  });
  switch (posted.kind) {
    case 'not_sent':
      await notSent(deps, sent, attemptId, { reason: posted.reason, isTry: true });
      return;
    case 'unknown':
      await recordUnknown(deps, sent, attemptId, posted.reason);
      tellUnanswered(deps, sent, posted.reason);
      return;
    case 'answered':
      await takeAnswer(deps, sent, attemptId, posted);
  }
}

/** Why is told here where the database does not take it. */
async function notSent(
  deps: BatchDeps,
  { batch }: SentBatch,
  attemptId: string,
  unsent: Unsent,
): Promise<void> {
  try {
    await recordUnwritten(deps, attemptId, unsent);
  } catch (error) {
    deps.log(`batch ${batch.batchId} was not sent, which could not be recorded: ${unsent.reason}`, {
      level: 'warn',
      account: batch.accountId,
      batch: String(batch.batchId),
    });
    throw error;
  }
}

/** Keeps the answer, and only then reads it. */
async function takeAnswer(
  deps: BatchDeps,
  sent: SentBatch,
  attemptId: string,
  answer: RawAnswer,
): Promise<void> {
  const { toStore, during } = await deps.answers.keep(deps.db, attemptId, storedAnswer(answer));
  const read = outcomesOf(deps, sent, answer);
  await during(() => recordAnswer(deps, sent, attemptId, read, { isSenderGone: true, toStore }));
}

function permitLine(sent: SentBatch, prepared: PreparedBatch, attemptId: string): PermitLine {
  const { batchId, accountId, operation } = sent.batch;
  return {
    attemptId,
    batchId: batchId.toString(),
    accountId,
    operation,
    bodySha256: prepared.sha256,
    entries: sent.entries.map((entry) => ({
      id: entry.instructionId.toString(),
      order: entry.orderNo,
      transaction: entry.transactionId,
      refund: entry.refundId,
      amount: entry.refundAmount ?? entry.amount,
      currency: entry.currency,
    })),
  };
}

function storedAnswer({ status, contentType, contentEncoding, body }: RawAnswer): StoredAnswer {
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { status, contentType, contentEncoding, body, sha256 };
}
