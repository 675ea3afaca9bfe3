// Drift: whether the gateway's answers still have the fields that they had. The file to open first;
// the rules are core/drift/drift.ts. It reads what the run has kept anyway, a sample of it whose
// size has a limit, so that neither asking nor sending knows of it.

import { gunzipSync } from 'node:zlib';
import type { FoldedAnswers } from '../core/drift/answerFields.js';
import { foldAnswers } from '../core/drift/answerFields.js';
import { driftOf } from '../core/drift/drift.js';
import type { AnswerDrift, UnseenDrift } from '../core/drift/driftWords.js';
import { DatabaseAwayError, messageOf, TakenOverError } from '../core/errors.js';
import { gaveUpWaiting } from '../database/server/lockWaits.js';
import type { Run } from '../runs/deps.js';
import { accountIdsOf } from '../runs/deps.js';
import { keepShape, memoryBefore, sampleAnswers, samplePages } from './driftStore.js';

/** Pages of an account and night that are looked through: 5,000 entries, all of a small shop. */
const PAGES_MAX = 50;
/** Answers to batches of one operation. */
const ANSWERS_MAX = 50;
const PAGE_BYTES_MAX = 64 * 1024 * 1024;

interface FoundDrift {
  changed: AnswerDrift[];
  unseen: UnseenDrift[];
}

/** What changed in the answers of a run against all runs before; kept for the next one. */
export async function findDrift(now: Date, run: Run): Promise<FoundDrift> {
  const accountIds = accountIdsOf(run);
  const found: FoundDrift = { changed: [], unseen: [] };
  const look = async (about: Answers, fold: () => Promise<FoldedAnswers>): Promise<void> => {
    try {
      const drift = await heldAgainst(now, run, about, await fold());
      if (drift.changes.length > 0) found.changed.push(drift);
    } catch (error) {
      // In a dry run, which is one transaction, nothing could be asked behind it.
      if (isOfAll(error) || (run.isDry && error instanceof Error && 'code' in error)) throw error;
      found.unseen.push({ ...about, reason: messageOf(error) });
    }
  };
  for (const accountId of accountIds) {
    await look({ accountId, answer: 'query' }, async () => {
      const folded = foldAnswers();
      for (const page of await samplePages(run.db, run.runId, accountId, PAGES_MAX)) {
        addJson(folded, unpacked(page));
      }
      return folded.come();
    });
  }
  const byKind = new Map<string, Answers & { bodies: Buffer[] }>();
  for (const row of await sampleAnswers(run.db, run.runId, accountIds, ANSWERS_MAX)) {
    const { accountId, answer, body } = row;
    const key = `${answer} ${accountId}`;
    const kind = byKind.get(key) ?? { accountId, answer, bodies: [] };
    kind.bodies.push(body);
    byKind.set(key, kind);
  }
  for (const { accountId, answer, bodies } of byKind.values()) {
    await look({ accountId, answer }, async () => {
      const folded = foldAnswers();
      for (const body of bodies) addJson(folded, body);
      return folded.come();
    });
  }
  return found;
}

/** `answer`: query, or the operation of a batch */
interface Answers {
  accountId: string;
  answer: string;
}

/** The database is away or locked, or the run is another's: then it is nothing of these answers. */
function isOfAll(error: unknown): boolean {
  const isLost = error instanceof DatabaseAwayError || error instanceof TakenOverError;
  return isLost || gaveUpWaiting(error);
}

async function heldAgainst(
  now: Date,
  run: Run,
  about: Answers,
  tonight: FoldedAnswers,
): Promise<AnswerDrift> {
  if (tonight.fields.get('')?.seen === 0) return { ...about, changes: [] };
  const { accountId, answer } = about;
  const before = await memoryBefore(run.db, run.runId, accountId, answer);
  // Nothing of a run that others have come after is told anew.
  if (before.isPast) return { ...about, changes: [] };
  const { changes, memory } = driftOf(before.memory, tonight);
  await keepShape(run.db, { ...about, runId: run.runId }, now, memory, changes);
  return { ...about, changes };
}

/** What is no JSON object the steps of the run have told; here it says nothing. */
function addJson({ add }: ReturnType<typeof foldAnswers>, body: Buffer): void {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return;
  }
  if (answer !== null && typeof answer === 'object' && !Array.isArray(answer)) add(answer);
}

function unpacked(gzip: Buffer): Buffer {
  try {
    return gunzipSync(gzip, { maxOutputLength: PAGE_BYTES_MAX });
  } catch {
    return Buffer.alloc(0);
  }
}
