// What the console's pages of settlement read, cut into pages by the database: the rows that a
// figure is the sum of, and a batch with its lines, its breaks and the file it came in. Neighbour:
// settlementStore.ts has the figures themselves.

import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import type { FeeRules, SettlementTimes } from './settlementStore.js';

/** Figures that are the sum of lines of the acquirer. */
export const LINE_FIGURES = ['settled', 'gross', 'fees', 'chargebacks', 'other'] as const;
type LineFigure = (typeof LINE_FIGURES)[number];

interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface Book {
  readonly accountId: string;
  readonly currency: string;
}

export interface FigureRow {
  readonly on: string;
  readonly what: string;
  readonly orderNo: string | null;
  readonly transactionId: string | null;
  readonly batch: string | null;
  /** null: nobody knows it yet */
  readonly amount: string | null;
  /** all rows, and what they come to */
  readonly found: number;
  readonly total: string;
}

export async function movementRows(
  db: Db,
  { accountId, currency }: Book,
  kind: 'captured' | 'refunded',
  { limit, offset }: Page,
): Promise<FigureRow[]> {
  const values = [accountId, currency, kind, limit, offset];
  return (await db.query<FigureRow>(statement('settlement/movementRows'), values)).rows;
}

export async function figureLines(
  db: Db,
  { accountId, currency }: Book,
  figure: LineFigure,
  { from, cutOff, timezone }: SettlementTimes,
  { limit, offset }: Page,
): Promise<FigureRow[]> {
  const values = [accountId, currency, figure, limit, offset, from, cutOff, timezone];
  return (await db.query<FigureRow>(statement('settlement/figureLines'), values)).rows;
}

/** A batch in one currency, with the file that brought it. */
interface BatchFile {
  readonly currency: string;
  readonly lines: bigint;
  /** of all its lines but the payout itself: what is paid out and the fees */
  readonly gross: string;
  readonly fees: string;
  readonly payout: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly importedAt: Date;
  readonly fileBatches: bigint;
  readonly fileLines: bigint;
}

export async function batchFiles(db: Db, accountId: string, batch: string): Promise<BatchFile[]> {
  const { rows } = await db.query<BatchFile>(
    `select b.currency, b.lines, (b.payout + b.fees)::text as gross, b.fees::text, b.payout::text,
       f.name as "fileName", f.sha256, f.imported_at as "importedAt",
       f.batches as "fileBatches", f.lines as "fileLines"
     from tieout.settlement_batches b join tieout.settlement_files f using (file_id)
     where b.account_id = $1 and b.batch = $2
     order by b.currency`,
    [accountId, batch],
  );
  return rows;
}

export interface BatchPageLine {
  readonly lineId: string;
  readonly type: string;
  readonly bookedAt: Date;
  readonly orderNo: string | null;
  readonly settleCurrency: string;
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  readonly settlesOrder: string | null;
  readonly movedOn: string | null;
  readonly matchedBy: string | null;
  /** null: nothing was agreed for it */
  readonly agreed: string | null;
  /** differs by more than the tolerance */
  readonly beyond: boolean | null;
}

export async function batchPageLines(
  db: Db,
  { accountId, batch }: { accountId: string; batch: string },
  { cutOff, timezone }: SettlementTimes,
  { tariff, coarse }: FeeRules,
  { limit, offset }: Page,
): Promise<BatchPageLine[]> {
  const { rows } = await db.query<BatchPageLine>(statement('settlement/batchPage'), [
    ...[accountId, batch, limit, offset, cutOff, timezone],
    ...[JSON.stringify(tariff), JSON.stringify(coarse)],
  ]);
  return rows;
}

export async function batchBreakIds(
  db: Db,
  accountId: string,
  batch: string,
  limit: number,
): Promise<string[]> {
  const values = [accountId, batch, limit];
  const { rows } = await db.query<{ id: string }>(statement('settlement/batchBreaks'), values);
  return rows.map(({ id }) => id);
}
