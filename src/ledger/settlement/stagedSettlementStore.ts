// The SQL that brings the acquirer's settlement files into tieout.settlement_*: lines are staged by
// COPY, judged as whole sets, and kept, all in one transaction. Neighbours: importSettlement.ts
// says in which order; the statement files stand beside.

import { formatAmount } from '../../core/money.js';
import type { SettlementLine } from '../../core/settlement/settlementLine.js';
import type { CopyTexts } from '../../database/copy/copyIn.js';
import { copyText } from '../../database/copy/copyText.js';
import { plannedBy, type Tx } from '../../database/db.js';
import { statement } from '../../database/statements.js';

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

interface RefusedLine {
  readonly file_no: number;
  readonly line_no: bigint;
  readonly column: string;
  readonly value: string;
  readonly reason: string;
}

/** Of large files sums and joins stay in memory, and the planner has no use for a compiler. */
const IMPORT_SETTINGS = { work_mem: '64MB', jit: 'off' };

/** Where the lines wait until all are judged; the table lasts as long as the transaction. */
export async function stageLines(tx: Tx, texts: CopyTexts): Promise<number> {
  await plannedBy(tx, IMPORT_SETTINGS);
  await tx.query(`create temp table settlement_read (file_no int not null, line_no bigint not null,
    account_id text collate "C" not null, batch text collate "C" not null, has_id boolean not null,
    line_id text collate "C", type text not null, booked_at timestamptz not null,
    order_no text collate "C", transaction_id text collate "C", reference text collate "C",
    currency text collate "C" not null, amount numeric(20, 2) not null,
    settle_currency text collate "C" not null, gross numeric(20, 2) not null,
    fee numeric(20, 2) not null, net numeric(20, 2) not null) on commit drop`);
  return tx.copy('copy settlement_read from stdin', texts);
}

export function stagedLine(fileNo: number, lineNo: number, line: SettlementLine): string {
  const { amount, gross } = line;
  const charged = formatAmount(amount);
  const counted = gross === amount ? charged : formatAmount(gross);
  return (
    `${fileNo}\t${lineNo}\t${copyText(line.accountId)}\t${copyText(line.batch)}\t` +
    `${line.lineId === null ? 'f' : 't'}\t${copyText(line.lineId)}\t${line.type}\t` +
    `${line.bookedAt}\t${copyText(line.orderNo)}\t${copyText(line.transactionId)}\t` +
    `${copyText(line.reference)}\t${line.currency}\t${charged}\t${line.settleCurrency}\t` +
    `${counted}\t${formatAmount(line.fee)}\t${formatAmount(line.net)}\n`
  );
}

/** From here to the end no other import may write, or what is judged would not stay true. */
export async function judgeBatches(
  tx: Tx,
  files: readonly string[],
  { haveIds, since, aheadDays, limit }: JudgeOptions,
): Promise<RefusedLine[]> {
  // No lock of a table: whoever seals what a person decides writes into these, too.
  await tx.query(`select pg_advisory_xact_lock(hashtext('tieout.settlement_import'))`);
  if (haveIds) await tx.query('alter table settlement_read rename to settlement_in');
  else await tx.query(statement('ledger/settlement/numberLines'));
  const { from, cutOff, timezone } = since;
  await tx.query(statement('ledger/settlement/cutBatches'), [from, cutOff, timezone, aheadDays]);
  await tx.query(statement('ledger/settlement/foundFates'));
  await tx.query('analyze settlement_batch_in');
  const { rows } = await tx.query<RefusedLine>(statement('ledger/settlement/refusedBatches'), [
    limit,
    files,
  ]);
  return rows;
}

interface JudgeOptions {
  /** false: some have no id of the acquirer's */
  readonly haveIds: boolean;
  readonly since: { readonly from: string; readonly cutOff: string; readonly timezone: string };
  readonly aheadDays: number;
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
