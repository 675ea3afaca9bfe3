// Rows of drift.ts: a sample of the answers of a run, and what is kept of their fields.

import type { DriftMemory, FieldChange, FieldCount, KnownField } from '../core/drift/drift.js';
import { NO_MEMORY } from '../core/drift/drift.js';
import type { Db } from '../database/db.js';
import { relationsOf } from '../database/monthPartitions.js';
import { statement } from '../database/statements.js';

/** The compressed pages of an account in the newest look of a run, evenly over all of it. */
export async function samplePages(
  db: Db,
  runId: bigint,
  accountId: string,
  pagesMax: number,
): Promise<Buffer[]> {
  const newest = await db.query<{ pull_id: bigint }>(
    `select pull_id from tieout.pulls where run_id = $1 and kind = 'night'
     order by pull_id desc limit 1`,
    [runId],
  );
  const pullId = newest.rows[0]?.pull_id;
  if (pullId === undefined) return [];
  const { rows } = await db.query<{ body: Buffer }>(
    statement('drift/samplePages', relationsOf(db, pullId)),
    [pullId, accountId, pagesMax],
  );
  return rows.map(({ body }) => body);
}

interface SampledAnswer {
  accountId: string;
  /** the operation of its batch */
  answer: string;
  body: Buffer;
}

export async function sampleAnswers(
  db: Db,
  runId: bigint,
  accountIds: readonly string[],
  answersMax: number,
): Promise<SampledAnswer[]> {
  const values = [accountIds, runId, answersMax];
  return (await db.query<SampledAnswer>(statement('drift/sampleAnswers'), values)).rows;
}

/** The memory as it is stored. */
interface MemoryRow {
  known: Record<string, KnownField>;
  steady: string[] | null;
  recent: Record<string, FieldCount>;
}

/** What the run before left, and whether a later run than this has been there already. */
export async function memoryBefore(
  db: Db,
  runId: bigint,
  accountId: string,
  answer: string,
): Promise<{ memory: DriftMemory; isPast: boolean }> {
  const { rows } = await db.query<{ memory: MemoryRow; is_past: boolean }>(
    `select memory, run_id > $3 as is_past from tieout.answer_shapes
     where account_id = $1 and answer = $2 and run_id <> $3
     order by run_id > $3 desc, run_id desc limit 1`,
    [accountId, answer, runId],
  );
  const [row] = rows;
  if (!row) return { memory: NO_MEMORY, isPast: false };
  const { known, steady, recent } = row.memory;
  return {
    memory: { known: mapOf(known), steady, recent: mapOf(recent) },
    isPast: row.is_past,
  };
}

export async function keepShape(
  db: Db,
  key: { runId: bigint; accountId: string; answer: string },
  lookedAt: Date,
  { known, steady, recent }: DriftMemory,
  changes: readonly FieldChange[],
): Promise<void> {
  const memory = { known: Object.fromEntries(known), steady, recent: Object.fromEntries(recent) };
  const { accountId, answer, runId } = key;
  const row = [accountId, answer, runId, lookedAt, JSON.stringify(memory), JSON.stringify(changes)];
  await db.query(statement('drift/keepShape'), row);
}

function mapOf<T>(record: Record<string, T>): ReadonlyMap<string, T> {
  return new Map(Object.entries(record));
}
