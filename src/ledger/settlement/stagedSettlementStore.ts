// The SQL that brings the acquirer's settlement files into tieout.settlement_*: lines are staged by
// COPY, judged as whole sets, and kept, all in one transaction. Neighbours: importSettlement.ts
// says in which order; the statement files stand beside.

import { formatAmount } from '../../core/money.js';
import type { SettlementLine } from '../../core/settlement/settlementLine.js';
import type { CopyTexts } from '../../database/copy/copyIn.js';
import { copyText } from '../../database/copy/copyText.js';
import type { Tx } from '../../database/db.js';
import { statement } from '../../database/statements.js';

/** A batch as an import tells of it, by currency. */
export interface FoundBatch {
  readonly accountId: string;
  readonly batch: string;
  readonly currency: string;
  readonly lines: number;
  readonly payout: string;
  readonly fate: 'inserted' | 'unchanged';
  readonly digest: string;
  readonly sums: Readonly<
    Record<string, { lines: number; gross: string; fee: string; net: string }>
  >;
}

interface RefusedLine {
  readonly file_no: number;
  readonly line_no: bigint;
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

/** Where the lines wait until all are judged; the table lasts as long as the transaction. */
export async function stageLines(tx: Tx, texts: CopyTexts): Promise<number> {
  await tx.query(`create temp table settlement_read (file_no int not null, line_no bigint not null,
    account_id text collate "C" not null, batch text collate "C" not null,
    given_id text collate "C", type text not null, booked_at timestamptz not null,
    order_no text collate "C", transaction_id text collate "C", reference text collate "C",
    currency text collate "C" not null, amount numeric(20, 2) not null,
    settle_currency text collate "C" not null, gross numeric(20, 2) not null,
    fee numeric(20, 2) not null, net numeric(20, 2) not null) on commit drop`);
  return tx.copy('copy settlement_read from stdin', texts);
}

export function stagedLine(fileNo: number, lineNo: number, line: SettlementLine): string {
  const values = [
    ...[String(fileNo), String(lineNo), line.accountId, line.batch, line.lineId, line.type],
    ...[line.bookedAt, line.orderNo, line.transactionId, line.reference, line.currency],
    ...[formatAmount(line.amount), line.settleCurrency, formatAmount(line.gross)],
    ...[formatAmount(line.fee), formatAmount(line.net)],
  ];
  return `${values.map(copyText).join('\t')}\n`;
}

/** From here to the end no other import may write, or what is judged would not stay true. */
export async function judgeBatches(
  tx: Tx,
  files: readonly string[],
  limit: number,
): Promise<RefusedLine[]> {
  // No lock of a table: whoever seals what a person decides writes into these, too.
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.settlement_import'))`);
  await tx.query(statement('ledger/settlement/numberLines'));
  await tx.query('analyze settlement_in');
  await tx.query(statement('ledger/settlement/cutBatches'));
  await tx.query('analyze settlement_batch_in');
  const { rows } = await tx.query<RefusedLine>(statement('ledger/settlement/refusedBatches'), [
    limit,
    files,
  ]);
  return rows;
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

/** Lines of new batches that were booked before the business date from which settlement is kept. */
export async function countHistory(
  tx: Tx,
  { from, cutOff, timezone }: { from: string; cutOff: string; timezone: string },
): Promise<bigint> {
  const { rows } = await tx.query<{ lines: bigint }>(
    `select count(*) as lines from settlement_in
     where booked_at < ($1::date + $2::time) at time zone $3::text`,
    [from, cutOff, timezone],
  );
  return rows[0]?.lines ?? 0n;
}

/** Lines that say to have been booked longer ahead than any acquirer books. */
export async function countAhead(tx: Tx, days: number): Promise<bigint> {
  const { rows } = await tx.query<{ lines: bigint }>(
    `select count(*) as lines from settlement_in
     where booked_at > now() + make_interval(days => $1)`,
    [days],
  );
  return rows[0]?.lines ?? 0n;
}

/** Kept and sealed at once: nobody can change unseen what no night has seen yet. */
export async function keepFiles(
  tx: Tx,
  files: readonly string[],
  digests: readonly string[],
  mapDigest: string,
): Promise<void> {
  await tx.query(statement('ledger/settlement/keepFiles'), [files, digests, mapDigest]);
  await tx.query(
    `select tieout.seal(account_id, (clock_timestamp() at time zone 'UTC')::date, false)
     from (
       select account_id from settlement_batch_in where fate = 'inserted'
       union select '' order by 1
     ) chains`,
  );
}
