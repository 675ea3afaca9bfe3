// What is kept so that others can check: the profile and settings of a run, each compare with what
// it could see, and the chain that seals facts (law 8 of ARCHITECTURE.md). Facts are written where
// they arise; here they get their links. migrations/0012 and 0013 say what is a fact and what a
// link holds; and what retention removed of it since. Neighbours: verifyChainStore.ts reads the
// chain, audit/seal.ts calls, retention/retentionStore.ts removes.

import { createHash } from 'node:crypto';
import type { Removal } from '../core/runs/removal.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';

/** The chain of what belongs to no single account: settings, workings, ends of runs, reports. */
export const HOUSE_CHAIN = '';

/** Keeps the text of a profile once, under the digest by which settings name it. */
export async function keepProfile(db: Db, profile: string): Promise<void> {
  const sha256 = createHash('sha256').update(profile, 'utf8').digest('hex');
  await db.query(
    'insert into tieout.profiles (profile_sha256, profile) values ($1, $2) on conflict do nothing',
    [sha256, profile],
  );
}

export type Working =
  | { kind: 'night' | 'again'; pullId: bigint }
  | { kind: 'gaps'; pullId: bigint; failedIn: bigint }
  | { kind: 'total' };

/** Records that orders are about to be compared or added up, and how far history has come. */
export async function recordWorking(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  working: Working,
): Promise<void> {
  await db.query(statement('runs/recordWorking'), [
    runId,
    working.kind,
    accountIds,
    working.kind === 'total' ? null : working.pullId,
    working.kind === 'gaps' ? working.failedIn : null,
  ]);
}

/**
 * Seals everything recorded of these accounts that has no link yet. An account at whose chain
 * somebody is (a person who decides, at most as long as a commit takes) is waited for alone, so
 * that nobody waits for each other.
 */
export async function sealAccounts(
  db: Db,
  accountIds: readonly string[],
  date: string,
): Promise<void> {
  const { rows } = await db.query<{ busy: string[] }>(
    'select tieout.seal_free($1, $2::date) as busy',
    [accountIds, date],
  );
  for (const accountId of rows[0]?.busy ?? []) {
    await db.query('select tieout.seal($1, $2::date)', [accountId, date]);
  }
}

interface ChainHead {
  accountId: string;
  linkNo: bigint;
  sha256: string;
}

/** Where each chain ends; the house's own is that of the empty account. */
export async function chainHeads(db: Db): Promise<ChainHead[]> {
  const { rows } = await db.query<{ account_id: string; link_no: bigint; sha256: string }>(
    'select account_id, link_no, sha256 from tieout.chain_heads order by account_id',
  );
  return rows.map((row) => ({
    accountId: row.account_id,
    linkNo: row.link_no,
    sha256: row.sha256,
  }));
}

export async function removals(db: Db): Promise<Removal[]> {
  const { rows } = await db.query<
    Omit<Removal, 'nights' | 'looks'> & Record<'nights' | 'looks', bigint>
  >(
    `select month, first_date as "firstDate", last_date as "lastDate", nights, looks, at, by,
       is_claim as "isClaim"
     from tieout.evidence_removals order by first_date`,
  );
  return rows.map((row) => ({ ...row, nights: Number(row.nights), looks: Number(row.looks) }));
}

interface RemovedRun {
  runId: bigint;
  month: string;
}

async function removedOf(db: Db, runIds: readonly bigint[]): Promise<RemovedRun[]> {
  const { rows } = await db.query<RemovedRun>(
    `select r.run_id as "runId", e.month
     from unnest($1::bigint[]) as r (run_id)
     join tieout.evidence_removals e
       on replace(e.month, '_', '') = (r.run_id / 100000000)::text
         or exists (select from tieout.removed_looks w join tieout.pulls p using (pull_id)
           where w.removal_id = e.removal_id and p.run_id = r.run_id)`,
    [runIds],
  );
  return rows;
}

/** Those of the runs of which something that they looked at is gone. */
export async function removedRuns(db: Db, runIds: readonly bigint[]): Promise<Set<bigint>> {
  return new Set((await removedOf(db, runIds)).map(({ runId }) => runId));
}

/** The business dates of whose nights something is gone. */
export async function removedDates(db: Db, dates: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ runId: bigint; date: string }>(
    `select run_id as "runId", business_date as date from tieout.runs
     where business_date = any ($1::date[]) and not is_dry`,
    [dates],
  );
  const ids = rows.map(({ runId }) => runId);
  const removed = await removedRuns(db, ids);
  return new Set(rows.filter(({ runId }) => removed.has(runId)).map(({ date }) => date));
}

/** The removal of what a run looked at; null: it is there. */
export async function removalOf(db: Db, runId: bigint): Promise<Removal | null> {
  const [found] = await removedOf(db, [runId]);
  return (await removals(db)).find(({ month }) => month === found?.month) ?? null;
}
