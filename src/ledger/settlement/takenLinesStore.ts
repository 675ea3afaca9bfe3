// The SQL that brings the acquirer's settlement files into tieout.settlement_*: lines go to where
// they stay as they are read, behind a savepoint, are judged there as whole sets, and are taken
// back where one of them does not hold. Neighbours: importSettlement.ts says in which order,
// lineTaker.ts tells new lines from those that were taken before; the statements stand beside.

import type { CopyTexts } from '../../database/copy/copyIn.js';
import { plannedBy, type Tx } from '../../database/db.js';
import { columnList, named } from '../../database/identifiers.js';
import { statement } from '../../database/statements.js';
import type { BatchDigest, BookedBounds } from './metBatches.js';

/** A batch as an import tells of it, by currency. */
export interface FoundBatch {
  readonly accountId: string;
  readonly batch: string;
  readonly currency: string;
  readonly lines: number;
  readonly payout: string;
  readonly fate: 'inserted' | 'unchanged';
  readonly sums: Readonly<
    Record<string, { lines: number; gross: string; fee: string; net: string }>
  >;
}

interface TakenBatch {
  readonly account_id: string;
  readonly batch: string;
}

interface RefusedLine {
  readonly file_no: number;
  readonly line_no: bigint;
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

const COLUMNS = columnList([
  ...['account_id', 'batch', 'line_id', 'line_no', 'type', 'booked_at', 'order_no'],
  ...['transaction_id', 'reference', 'currency', 'amount', 'settle_currency', 'gross', 'fee'],
  'net',
]);

/** Of large files sums and joins stay in memory. */
const IMPORT_SETTINGS = { work_mem: '64MB' };

/** Lines booked before settlement is kept, and lines booked further ahead than acquirers book. */
interface BookedTimes {
  readonly from: string;
  readonly cutOff: string;
  readonly timezone: string;
  readonly aheadDays: number;
}

/** From here to the end no other import may write, or what is judged would not stay true. */
export async function beginImport(tx: Tx, times: BookedTimes): Promise<BookedBounds> {
  await plannedBy(tx, IMPORT_SETTINGS);
  // No lock of a table: whoever seals what a person decides writes into these, too.
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.settlement_import'))`);
  await tx.query('savepoint settlement_import');
  await tx.query(named`create temp table settlement_again on commit drop as
    select 0 as file_no, false as has_id, ${COLUMNS} from tieout.settlement_lines limit 0`);
  await tx.query(statement('ledger/settlement/partsTable'));
  const { from, cutOff, timezone, aheadDays } = times;
  const { rows } = await tx.query<BookedBounds>(
    `select to_char(since at time zone 'UTC', shape) as since,
       to_char(ahead at time zone 'UTC', shape) as ahead
     from (select ($1::date + $2::time) at time zone $3::text as since,
       now() + make_interval(days => $4) as ahead,
       'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' as shape) bounds`,
    [from, cutOff, timezone, aheadDays],
  );
  const [bounds] = rows;
  if (bounds === undefined) throw new Error('settlement.from is no instant');
  return bounds;
}

/** Of all that was written since its beginning nothing stays. */
export async function undoImport(tx: Tx): Promise<void> {
  await tx.query('rollback to savepoint settlement_import');
}

export async function stayInTouch(tx: Tx): Promise<void> {
  await tx.query('select 1');
}

/**
 * So many ids of lines that follow one another, which no other import takes meanwhile; answers the
 * first. To ask for each by itself costs as much as a key.
 */
export async function takeIds(tx: Tx, count: number): Promise<number> {
  const { rows } = await tx.query<{ last: bigint }>(
    `select setval(ids, nextval(ids) + $1::int - 1) as last
     from (values ('tieout.settlement_lines_settlement_line_id_seq'::regclass)) as s (ids)`,
    [count],
  );
  const [{ last } = { last: 0n }] = rows;
  return Number(last) - count + 1;
}

/** All that were taken before this import, or null where they are more than so many. */
export async function allTakenBefore(tx: Tx, limit: number): Promise<TakenBatch[] | null> {
  const { rows } = await tx.query<TakenBatch>(
    'select distinct account_id, batch from tieout.settlement_batches limit $1::int + 1',
    [limit],
  );
  return rows.length > limit ? null : rows;
}

/** Of these batches, by account and name, those that were taken before this import. */
export async function takenBefore(
  tx: Tx,
  accounts: readonly string[],
  batches: readonly string[],
): Promise<TakenBatch[]> {
  const { rows } = await tx.query<TakenBatch>(
    `select distinct account_id, batch from tieout.settlement_batches
     join unnest($1::text[], $2::text[]) as asked (account_id, batch) using (account_id, batch)`,
    [accounts, batches],
  );
  return rows;
}

export function copyLines(tx: Tx, texts: CopyTexts): Promise<number> {
  return tx.copy(
    named`copy tieout.settlement_lines (settlement_line_id, ${COLUMNS}) from stdin`,
    texts,
  );
}

/** Lines of batches that were taken before: they are compared, and never kept. */
export function copyAgain(tx: Tx, texts: CopyTexts): Promise<number> {
  return tx.copy(named`copy settlement_again (file_no, has_id, ${COLUMNS}) from stdin`, texts);
}

/** Parts of batches, as metBatches.ts adds them up. */
export function copyParts(tx: Tx, texts: CopyTexts): Promise<number> {
  return tx.copy('copy settlement_parts from stdin', texts);
}

export async function judgeBatches(
  tx: Tx,
  files: readonly string[],
  { firstIds, mayRepeat, limit }: JudgeOptions,
): Promise<RefusedLine[]> {
  await tx.query(statement('ledger/settlement/cutBatches'));
  await tx.query(statement('ledger/settlement/foundFates'));
  await tx.query('analyze settlement_batch_in');
  const { rows } = await tx.query<RefusedLine>(statement('ledger/settlement/refusedBatches'), [
    ...[limit, files, firstIds, mayRepeat],
  ]);
  return rows;
}

interface JudgeOptions {
  /** by file: the ids of its lines are these or above, and below those of the next */
  readonly firstIds: readonly number[];
  /** false: the ids of a batch ascend, so that none comes twice */
  readonly mayRepeat: boolean;
  readonly limit: number;
}

export async function foundBatches(tx: Tx, limit: number): Promise<FoundBatch[]> {
  const { rows } = await tx.query<FoundBatch>(statement('ledger/settlement/foundBatches'), [limit]);
  return rows;
}

interface FateCount {
  readonly fate: string;
  readonly batches: bigint;
  readonly lines: bigint;
  readonly files: bigint;
}

export async function countFates(tx: Tx): Promise<FateCount[]> {
  const { rows } = await tx.query<FateCount>(
    `select fate, count(*) as batches, sum(lines)::bigint as lines,
       count(distinct file_no) as files
     from settlement_batch_in group by fate`,
  );
  return rows;
}

/** Lines booked before settlement is kept, and lines booked further ahead than acquirers book. */
export async function countStrangeTimes(tx: Tx): Promise<{ history: bigint; ahead: bigint }> {
  const { rows } = await tx.query<{ history: bigint; ahead: bigint }>(
    `select coalesce(sum(history), 0)::bigint as history, coalesce(sum(ahead), 0)::bigint as ahead
     from settlement_sums`,
  );
  return rows[0] ?? { history: 0n, ahead: 0n };
}

/** Kept and sealed at once: nobody can change unseen what no night has seen yet. */
export async function keepFiles(
  tx: Tx,
  files: readonly string[],
  { digests, map, batches }: KeptDigests,
): Promise<void> {
  await tx.query(statement('ledger/settlement/keepFiles'), [
    ...[files, digests, map],
    ...[batches.map((one) => one.accountId), batches.map((one) => one.batch)],
    ...[batches.map((one) => one.currency), batches.map((one) => one.digest)],
  ]);
  await tx.query(
    `select tieout.seal(account_id, (clock_timestamp() at time zone 'UTC')::date, false)
     from (
       select account_id from settlement_batch_in where fate = 'inserted'
       union select '' order by 1
     ) chains`,
  );
}

interface KeptDigests {
  /** of the files, in the order of their numbers */
  readonly digests: readonly string[];
  readonly map: string;
  /** of the lines of batches; a batch without one is sealed as its lines are read again */
  readonly batches: readonly BatchDigest[];
}
