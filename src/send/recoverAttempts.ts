// What a process that died, or never came back, left in flight. An attempt without an outcome whose
// sender is gone, or whose time is long over, is read from its stored answer where there is one and
// is unknown otherwise. Nothing here ever turns an attempt into "not sent".

import { messageOf } from '../core/errors.js';
import { isOfValues } from '../database/connection.js';
import { differsFrom } from '../instructions/changedSettings.js';
import { ANSWERED_AFTER_ALL, disputeByAnswers } from '../instructions/lateAnswersStore.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import { acceptedOfLeft, leaveAccepted, leftInFlight } from '../runs/leftAccountsStore.js';
import type { OpenAttempt } from './batches/attemptsStore.js';
import { openAttempts, SEND_BUDGET_MS } from './batches/attemptsStore.js';
import { batchInstructions, dissolveWaiting, loadBatch } from './batches/batchesStore.js';
import type { SendDeps } from './deps.js';
import type { OutcomeDeps } from './outcomes.js';
import { outcomesOf, readOrUnknown, recordAnswer, recordUnknown } from './outcomes.js';
import { wireOf } from './wireEntry.js';

export type RecoverDeps = OutcomeDeps &
  Pick<SendDeps, 'answers' | 'config' | 'isAlive' | 'monotonic'>;

/** Added to the time a send may take before a silent sender is given up. */
const GRACE_SECONDS = 15;
/** The same for one of an account that is not configured here. */
const LEFT_GRACE_SECONDS = 3_600;

/**
 * Classifies everything in flight of the run's accounts before it begins, and of accounts that left
 * the configuration, of which nobody else would: what they have under way waits for a person. Takes
 * apart what waits in batches: it goes when the plan has weighed it by the settings of this run.
 */
export async function recover(deps: RecoverDeps, run: Run): Promise<void> {
  const configured = deps.config.accounts.map(({ accountId }) => accountId);
  const left = await leftInFlight(deps.db, configured);
  const isPlanning = true;
  await recoverAttempts(deps, accountIdsOf(run), { isPlanning });
  // Another host may have the account still, by a file of before or of a part, and read the answer.
  await recoverAttempts(deps, left, { isPlanning, grace: LEFT_GRACE_SECONDS });
  await leaveLooked(deps, configured);
  await dissolveWaiting(deps.db, accountIdsOf(run));
}

/** Who has the account still looks soon at what was accepted, unless its sender is surely gone. */
async function leaveLooked(
  deps: Pick<RecoverDeps, 'db' | 'isAlive'>,
  configured: readonly string[],
): Promise<void> {
  const accepted = await acceptedOfLeft(deps.db, configured);
  const left = accepted.filter(
    ({ sender, isRecent }) => !isRecent || deps.isAlive(sender) === false,
  );
  await leaveAccepted(
    deps.db,
    left.map((one) => one.instructionId),
  );
}

/**
 * Answers the batches of which nothing could be recorded: nobody is to wait for them. `isPlanning`:
 * all is planned anew by the settings here, which read each answer that was left.
 */
export async function recoverAttempts(
  deps: RecoverDeps,
  accountIds: readonly string[],
  { isPlanning = false, grace = GRACE_SECONDS } = {},
): Promise<bigint[]> {
  await bringIn(deps);
  await askAgain(deps, accountIds);
  const { timeoutMs } = deps.config.gateway.profile.limits;
  const graceSeconds = timeoutMs / 1000 + grace;
  const open = await openAttempts(deps.db, accountIds, graceSeconds);
  forgetEnded(firstSeen, accountIds, open);
  forgetEnded(leftAsTheyAre, accountIds, open);
  const left: bigint[] = [];
  for (const attempt of open) {
    const isGone = deps.isAlive(attempt.runner) === false;
    const isOverdue =
      attempt.isOverdue || (attempt.isDatedAhead && seenFor(deps, attempt) > graceSeconds);
    if (!(isOverdue || isGone)) continue;
    if (!(isPlanning || (await mayRead(deps, attempt)))) continue;
    await classify(deps, attempt, isGone).catch((error: unknown) => {
      leaveAsItIs(deps, attempt, error);
      left.push(attempt.batchId);
    });
  }
  return left;
}

/** Told of by this process: it is tried again at each look, and said once. */
const leftAsTheyAre = new Map<string, { accountId: string }>();

/** One that not even as unknown can be recorded keeps no other waiting: it stays as being sent. */
function leaveAsItIs(
  { log }: Pick<RecoverDeps, 'log'>,
  attempt: OpenAttempt,
  error: unknown,
): void {
  if (!isOfValues(error)) throw error;
  const { attemptId, accountId, batchId } = attempt;
  if (leftAsTheyAre.has(attemptId)) return;
  leftAsTheyAre.set(attemptId, { accountId });
  const words = `batch ${batchId}: what became of it could not be recorded: ${messageOf(error)}`;
  log(words, { level: 'warn', account: accountId, batch: String(batchId) });
}

async function bringIn({ answers, db, log }: Pick<RecoverDeps, 'answers' | 'db' | 'log'>) {
  const { stored, torn, stuck } = await answers.bringIn(db);
  if (stored > 0) log(`${stored} answer(s) that the database had missed are stored now`);
  for (const path of torn) {
    const words = 'an answer of the gateway was never written whole: what there is of it stays in';
    log(`${words} ${path}, named by its attempt`, { level: 'warn' });
  }
  for (const path of stuck) {
    const words = 'the database has this answer of the gateway, and the disk does not let it go:';
    log(`${words} ${path}`, { level: 'warn' });
  }
}

/** An answer that means something else here than to the last plan waits for who reads it so. */
async function mayRead(
  deps: Pick<RecoverDeps, 'config' | 'db'>,
  { answer, accountId }: OpenAttempt,
): Promise<boolean> {
  return answer === null || (await differsFrom(deps, deps.db, accountId)).readsOther === null;
}

/** When this process first saw an attempt that is dated ahead, by the clock that nobody sets. */
const firstSeen = new Map<string, { accountId: string; since: number }>();

/** What became of the others of these accounts is on record. */
function forgetEnded(
  known: Map<string, { accountId: string }>,
  accountIds: readonly string[],
  open: readonly OpenAttempt[],
): void {
  for (const [attemptId, { accountId }] of known) {
    const isOpen = open.some((attempt) => attempt.attemptId === attemptId);
    if (!isOpen && accountIds.includes(accountId)) known.delete(attemptId);
  }
}

/** In seconds, with the time that a sender has until its first byte. */
function seenFor(deps: Pick<SendDeps, 'monotonic'>, { attemptId, accountId }: OpenAttempt): number {
  const since = firstSeen.get(attemptId)?.since ?? deps.monotonic();
  firstSeen.set(attemptId, { accountId, since });
  return (deps.monotonic() - since - SEND_BUDGET_MS) / 1000;
}

/** A person had said that it did not happen, before the answer that proves more was found. */
async function askAgain(
  deps: Pick<SendDeps, 'db' | 'log' | 'now'>,
  accountIds: readonly string[],
): Promise<void> {
  for (const id of await disputeByAnswers(deps.db, accountIds, deps.now())) {
    const words = `instruction ${id}: ${ANSWERED_AFTER_ALL}; it waits for a person again`;
    deps.log(words, { level: 'warn' });
  }
}

async function classify(deps: RecoverDeps, attempt: OpenAttempt, isGone: boolean): Promise<void> {
  const batch = await loadBatch(deps.db, attempt.batchId);
  const account = deps.config.accounts.find((one) => one.accountId === attempt.accountId);
  if (!batch) return;
  const entries = await batchInstructions(deps.db, attempt.batchId, 'sending');
  // Somebody else recovered it, or its sender woke up, before we did: nothing is left to record.
  if (entries.length === 0) return;
  const about = { account: attempt.accountId, batch: String(batch.batchId) };
  const log: typeof deps.log = leftAsTheyAre.has(attempt.attemptId) ? () => {} : deps.log;
  const { answer } = attempt;
  if (answer && account) {
    log(`batch ${batch.batchId}: its sender stopped; the stored answer is read now`, about);
    const said = readOrUnknown(entries, () => {
      const wire = wireOf(deps, batch.operation, entries);
      return outcomesOf(deps, { batch, account, entries, wire }, answer);
    });
    const more = { isSenderGone: isGone };
    await recordAnswer(deps, { batch, entries }, attempt.attemptId, said, more);
    return;
  }
  // By no account of ours: nobody could say whether the answer is signed as it should be.
  const reason = answer
    ? 'the sender stopped, and its account left the configuration before its answer was read'
    : 'the sender stopped before an answer came';
  const words = `batch ${batch.batchId}: ${reason}; its entries are unknown`;
  log(words, { ...about, level: 'warn' });
  const its = { isSenderGone: isGone, tellsOfGateway: false };
  await recordUnknown(deps, { entries }, attempt.attemptId, reason, its);
}
