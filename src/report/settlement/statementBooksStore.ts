// The lines that the statement of a run goes on with where books of settlement are kept.

import { daysBetween } from '../../core/breaks/breakAge.js';
import type { BookLine } from '../../core/runs/statementBooks.js';
import { workingDaysBefore } from '../../core/settlement/workingDays.js';
import type { LongReads } from '../../database/db.js';
import { statement } from '../../database/statements.js';
import type { SettlementRules } from '../../settlement/settlement.js';

/** Lines that are in hand at once; each is less than a kilobyte. */
const CHUNK_ROWS = 500;

interface OfRun {
  readonly runId: bigint;
  readonly businessDate: string;
  readonly rules: SettlementRules;
  /** the accounts that were looked at, each with its look of the night */
  readonly snapshots: readonly { readonly accountId: string; readonly pullId: bigint }[];
}

/** By account, currency and what explains them; ages are those at the business date. */
export async function* bookLines(
  reads: LongReads,
  { runId, businessDate, rules: { times, settings }, snapshots }: OfRun,
): AsyncGenerator<BookLine[]> {
  const dueUntil = workingDaysBefore(businessDate, settings.settleDays, settings.holidays);
  for (const { accountId, pullId } of snapshots) {
    const chunks = reads.stream<Omit<BookLine, 'ageDays'>>(
      statement('report/settlement/statementBooks'),
      [
        ...[runId, accountId, pullId, times.from, times.cutOff, times.timezone],
        ...[businessDate, dueUntil],
      ],
      CHUNK_ROWS,
    );
    for await (const rows of chunks) {
      yield rows.map((row) => {
        const ageDays = row.since === null ? null : daysBetween(row.since, businessDate);
        return { ...row, ageDays };
      });
    }
  }
}
