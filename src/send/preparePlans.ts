// Every connection plans the statements of a claim and of what becomes of it once, which takes
// longer than to run them. Connections that are about to be used do so ahead, by asking for an
// account, a batch and an attempt that do not exist. Neighbours: attemptsStore.ts, facts.ts,
// sending.ts, journalsStore.ts have the statements; compose.ts says when.

import { randomUUID } from 'node:crypto';
import type { Database, Db } from '../database/db.js';
import type { Runner } from '../runs/runsStore.js';
import { claimBatch, recordOutcomes } from './batches/attemptsStore.js';
import { batchFacts } from './batches/batchFactsStore.js';
import { batchStatus, statusInClaim } from './batches/sendingStatusStore.js';
import { claimFacts } from './journal/journalsStore.js';

const NO_ACCOUNT = '';
const NO_BATCH = 0n;
const NOBODY: Runner = { id: '', host: '', boot: '', pid: 0, started: '' };

/** On so many connections at once; nothing is written. */
export async function planAhead(db: Database, connections: number): Promise<void> {
  const each = Array.from({ length: connections }, () => db.durably(planOn));
  for (const done of await Promise.allSettled(each)) {
    if (done.status === 'rejected') throw done.reason;
  }
}

async function planOn(tx: Db): Promise<void> {
  const now = new Date();
  await batchStatus(tx, NO_BATCH);
  await statusInClaim(tx, NO_ACCOUNT);
  await claimFacts(tx, { newest: null, journalId: null }, () => now);
  await batchFacts(tx, NO_BATCH, 1);
  const claim = {
    attemptId: randomUUID(),
    instructionIds: [],
    bodySha256: '',
    requestGzip: Buffer.alloc(0),
    runId: null,
    journalId: null,
  };
  await claimBatch(tx, NO_BATCH, claim, NOBODY);
  const said = { isSenderGone: true, tellsOfGateway: true };
  const outcome = { answered: false, reason: null, outcomes: [], ...said };
  await recordOutcomes(tx, claim.attemptId, outcome, now);
}
