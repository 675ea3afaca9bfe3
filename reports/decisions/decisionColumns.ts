// The columns by which decisions come back: three for a person to fill, and a hidden one that
// carries whose row it is, what was seen, and a seal over what the other cells show. The sheet is
// read again by the same columns. Pure; neighbours: columns.ts (the sheets), decisionRows.ts (the
// way back).

import type { ShownKind } from '../../src/core/decisions/rowBinding.js';
import { sealRow, shownText } from '../../src/core/decisions/rowBinding.js';
import type { BreakRow, Chunks, InstructionRow } from '../../src/core/runs/reporting.js';
import type { Column, Table } from '../column.js';
import { entry, hidden } from '../column.js';
import type { WallClock } from '../xlsx/cells.js';
import { columnCell } from '../xlsx/columnCell.js';

type DecidableRow = Pick<BreakRow & InstructionRow, 'binding' | 'sealed'>;

const sealed = (row: DecidableRow) => row.sealed ?? null;

/** The hidden one. */
const BINDING_KEY = 'row_id';
const ADDED: readonly Column<DecidableRow>[] = [
  entry('decision', 'Decision', 13, sealed),
  entry('reason', 'Reason', 36, sealed),
  entry('to_whom', 'To whom', 18, sealed),
  hidden(BINDING_KEY, 'Row (written by tieout)', 24, sealed),
];
const ADDED_KEYS = ADDED.map(({ key }) => key);

/** The same table, to be decided about by one of these words. */
export function decidable<R extends DecidableRow>(
  table: Table<R>,
  decisions: readonly string[],
): Table<R> {
  return { ...table, columns: [...table.columns, ...ADDED], decisions };
}

/** Where the hidden column stands, counted from 0; -1: there is none. */
export function hiddenColumn<R>({ columns }: Table<R>): number {
  return columns.findIndex(({ key }) => key === BINDING_KEY);
}

/** Where the words to choose from stand. */
export function decisionColumn<R>({ columns }: Table<R>): number {
  return columns.findIndex(({ key }) => key === ADDED_KEYS[0]);
}

/** The rows with what their sheet carries of them, each sealed with what its cells will show. */
export async function* sealedRows<R extends DecidableRow>(
  table: Table<R>,
  secret: string,
  clock: WallClock,
  chunks: Chunks<R>,
): AsyncGenerator<R[]> {
  const shown = shownColumns(table);
  for await (const rows of chunks) {
    yield rows.map((row) => {
      if (!row.binding) return row;
      const keep = table.keep(row);
      const texts = shown.map((column) => {
        const value = columnCell(column, row, keep, clock, column.width)?.value ?? null;
        // Only a link is a formula here: it shows what it came to.
        const isPlain = value === null || typeof value !== 'object' || value instanceof Date;
        return shownText(kindOf(column), isPlain ? value : value.result);
      });
      return { ...row, sealed: sealRow(secret, row.binding, texts) };
    });
  }
}

/** The columns that are sealed, with how their values are compared, in their order. */
export function sealedColumns<R>(table: Table<R>): { heading: string; kind: ShownKind }[] {
  return shownColumns(table).map((column) => ({
    heading: column.heading,
    kind: kindOf(column),
  }));
}

/** The sheets in which decisions are made. */
export const DECIDED_SHEETS = ['Breaks', 'Waiting for you'] as const;

/** The headings of what is added. */
export const [DECISION_HEADING = '', REASON_HEADING = '', TO_WHOM_HEADING = '', ROW_HEADING = ''] =
  ADDED.map(({ heading }) => heading);

function shownColumns<R>({ columns }: Table<R>): Column<R>[] {
  return columns.filter(({ key }) => !ADDED_KEYS.includes(key));
}

function kindOf<R>({ kind }: Column<R>): ShownKind {
  if (kind === 'instant' || kind === 'date') return kind;
  return kind === 'money' || kind === 'count' ? 'number' : 'text';
}
