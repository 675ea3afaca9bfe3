// A table whose size, widths and sums stand above its rows: its rows are gone through once to know
// them and once more to be written, in chunks both times, so that memory stays flat however many
// there are. It knows nothing of what the columns mean. Neighbours: table.ts, totals.ts,
// reconciliation.ts.

import type { AboutData, Chunks } from '../../src/core/runs/reporting.js';
import { counted } from '../../src/core/text/amounts.js';
import type { Table } from '../column.js';
import type { WallClock } from './cells.js';
import { freeText, wallClock } from './cells.js';
import type { Cell } from './format/cellXml.js';
import { STYLES } from './styles.js';
import { headingWidths, widenForRows, widenForTop, writeTable } from './table.js';
import type { GroupTotal, Part, TotalsSpec } from './totals.js';
import { addToGroups, plannedParts, shownCount, totalsBlock } from './totals.js';
import type { Book } from './workbook.js';

export interface PlannedSpec<R> {
  name: string;
  table: Table<R>;
  /** The block of sums above the rows; none where it is left out. */
  totals?: TotalsSpec;
}

/** What is known of the rows so far. */
export interface Planned<R> extends PlannedSpec<R> {
  timezone: string;
  clock: WallClock;
  rows: number;
  /** of them, those that have no amount, and are in no sum of the block above */
  unsummed: number;
  widths: number[];
  groups: Map<string, GroupTotal>;
}

export function planned<R>(spec: PlannedSpec<R>, { timezone }: AboutData): Planned<R> {
  const widths = headingWidths(spec.table, timezone);
  const none = { rows: 0, unsummed: 0, groups: new Map() };
  return { ...spec, timezone, clock: wallClock(timezone), widths, ...none };
}

/** The first time through the rows. */
export function addPlanned<R>(plan: Planned<R>, rows: readonly R[]): void {
  plan.rows += rows.length;
  widenForRows(plan.widths, plan.table, plan.clock, rows);
  if (plan.totals) plan.unsummed += addToGroups(plan.groups, plan.table, plan.totals, rows);
}

/** Behind a title, where an amount that is missing is one that cannot be read. */
export function unreadIn<R>({ unsummed }: Planned<R>): string {
  return unsummed === 0
    ? ''
    : `; ${counted(unsummed, 'line')} whose amount cannot be read: in no sum`;
}

/** Title, number of lines, an empty line: what stands above the block of totals. */
const LINES_BEFORE_TOTALS = 3;

/** The block of totals and, once all rows are known, where each of them will stand. */
export function placesOf<R>(plan: Planned<R>): { lines: (Cell | null)[][]; parts: Part[] } {
  const { name, table, totals, rows } = plan;
  if (totals) return totalsBlock(table, name, plan, totals, LINES_BEFORE_TOTALS);
  return { lines: [], parts: plannedParts(name, rows, LINES_BEFORE_TOTALS) };
}

/** What stands above the rows where it is not the block of totals. */
interface Above {
  title: string;
  /** Between the number of lines and the heading. */
  blocks: (Cell | null)[][];
  /** Where the rows will stand under them. */
  parts: readonly Part[];
  /** Cells that have to be 0, on the first sheet. */
  checks?: readonly string[];
}

/** The second time: rows that are not those of the first would stand beside wrong sums. */
export async function writePlanned<R>(
  book: Book,
  plan: Planned<R>,
  title: string,
  chunks: Chunks<R>,
): Promise<void> {
  const { lines, parts } = placesOf(plan);
  await writePlannedUnder(book, plan, { title, blocks: lines, parts }, chunks);
}

/** The same under blocks that a sheet has of its own. */
export async function writePlannedUnder<R>(
  book: Book,
  plan: Planned<R>,
  { title, blocks, parts, checks = [] }: Above,
  chunks: Chunks<R>,
): Promise<void> {
  const { name, table, rows, timezone, clock } = plan;
  const top: (Cell | null)[][] = [
    [{ value: freeText(title), style: STYLES.title }],
    [{ value: 'Lines shown', style: STYLES.text }, shownCount(parts, rows)],
    [],
    ...blocks,
  ];
  const widths = [...plan.widths];
  widenForTop(widths, top);
  const spec = { name, table, top, timezone, clock, widths, checks };
  const written = await writeTable(book, spec, chunks);
  const last = (all: readonly Part[]): string => JSON.stringify(all.map((part) => part.last));
  if (last(written) !== last(parts)) {
    throw new Error(`the rows of the sheet ${name} changed while the workbook was written`);
  }
}
