// A workbook of ours that came back: the rows that a person filled, found by the headings of their
// columns and not by their place, each with what it carries and whether its other cells are those
// that were written. What nobody filled is passed over. Neighbours: decisionColumns.ts (the
// columns), xlsx/read/ (the file).

import { openRow, shownText } from '../../src/core/decisions/rowBinding.js';
import type { EnteredCell, EnteredRow } from '../../src/core/decisions/wantedDecision.js';
import { isFilled } from '../../src/core/decisions/wantedDecision.js';
import { UsageError } from '../../src/core/errors.js';
import { BREAKS_SHEET, WAITING_SHEET } from '../columns.js';
import { linkedText } from '../xlsx/columnCell.js';
import { entryText, openArchive } from '../xlsx/read/archive.js';
import { bookParts, sharedTexts } from '../xlsx/read/bookParts.js';
import type { ReadCell, ReadRow } from '../xlsx/read/sheetRows.js';
import { scanRows } from '../xlsx/read/sheetRows.js';
import {
  DECIDED_SHEETS,
  DECISION_HEADING,
  REASON_HEADING,
  ROW_HEADING,
  sealedColumns,
  TO_WHOM_HEADING,
} from './decisionColumns.js';

/** Rows of one workbook that are decided at once. */
const FILLED_ROWS_MAX = 10_000;
/** The heading stands below a title and a block of sums. */
const HEADING_ROWS_MAX = 2_000;

/** The filled rows, in the order of the file; throws where it is no workbook with decisions. */
export async function filledRows(bytes: Buffer, secret: string): Promise<EnteredRow[]> {
  const archive = openArchive(bytes);
  const parts = await bookParts(archive);
  const shared = await sharedTexts(archive, parts.sharedTexts);
  const filled: EnteredRow[] = [];
  const headed = new Set<string>();
  for (const { name, part } of parts.sheets) {
    const text = entryText(archive, part);
    if (text === null) throw new UsageError(`the sheet ${name} is not in the file`);
    let places: Places | null = null;
    await scanRows(text, shared, (row, cells) => {
      if (places === null) {
        places = row <= HEADING_ROWS_MAX ? placesOf(cells, name) : null;
        if (places !== null) headed.add(name);
        return;
      }
      const entered = enteredRow({ sheet: name, row }, cells, places, secret);
      if (!isFilled(entered)) return;
      if (filled.length >= FILLED_ROWS_MAX) {
        throw new UsageError(`more than ${FILLED_ROWS_MAX} rows are filled: split the workbook`);
      }
      filled.push(entered);
    });
  }
  if (headed.size === 0) {
    throw new UsageError('this is no workbook of a night in which decisions can be made');
  }
  const names = parts.sheets.map(({ name }) => name);
  for (const sheet of DECIDED_SHEETS) refuseUnheaded(sheet, names, headed);
  return filled;
}

/** What was filled under a heading that is changed would be passed over as if nobody had. */
function refuseUnheaded(
  sheet: string,
  names: readonly string[],
  headed: ReadonlySet<string>,
): void {
  if (headed.has(sheet)) return;
  if (names.includes(sheet)) {
    throw new UsageError(
      `the sheet ${sheet} has no row with the headings ${DECISION_HEADING} and ${ROW_HEADING}: ` +
        'fill a copy of the workbook as it was written',
    );
  }
  // One that was given another name is found by its headings.
  if (headed.size < DECIDED_SHEETS.length) {
    throw new UsageError(`the workbook has no sheet ${sheet}: fill a copy of it as it was written`);
  }
}

/** Where the columns of a sheet stand; -1 where one is not there. */
interface Places {
  readonly decision: number;
  readonly reason: number;
  readonly toWhom: number;
  readonly row: number;
  /** of each table that the sheet may be: its columns, with how they are compared */
  readonly shown: Readonly<Record<'break' | 'instruction', readonly Shown[]>>;
}

interface Shown {
  readonly at: number;
  readonly kind: Parameters<typeof shownText>[0];
}

/** Null: this row is no heading. */
function placesOf(cells: ReadRow, sheet: string): Places | null {
  const at = (heading: string, kind: Shown['kind'] = 'text'): number => {
    const found = [...cells].filter(([, { value }]) => isHeading(value, heading, kind));
    if (found.length > 1) throw new UsageError(`the sheet ${sheet} has ${heading} twice`);
    return found[0]?.[0] ?? -1;
  };
  const [decision, row] = [at(DECISION_HEADING), at(ROW_HEADING)];
  if (decision === -1 || row === -1) return null;
  const shownOf = (columns: ReturnType<typeof sealedColumns>): Shown[] =>
    columns
      .map(({ heading, kind }) => ({ at: at(heading, kind), kind }))
      // A workbook of before a column was added has none, and its seal no place for it.
      .filter((column) => column.at !== -1);
  return {
    ...{ decision, row, reason: at(REASON_HEADING), toWhom: at(TO_WHOM_HEADING) },
    shown: {
      break: shownOf(sealedColumns(BREAKS_SHEET)),
      instruction: shownOf(sealedColumns(WAITING_SHEET)),
    },
  };
}

/** That of a time has its zone behind it. */
function isHeading(value: string | number, heading: string, kind: Shown['kind']): boolean {
  const text = shownText('text', value);
  return kind === 'instant' ? text.startsWith(`${heading} (`) : text === heading;
}

function enteredRow(
  place: Pick<EnteredRow, 'sheet' | 'row'>,
  cells: ReadRow,
  { decision, reason, toWhom, row, shown }: Places,
  secret: string,
): EnteredRow {
  const carried = cells.get(row);
  const text = carried === undefined || carried.formula !== null ? '' : String(carried.value);
  const columns = text.startsWith('instruction') ? shown.instruction : shown.break;
  const values = columns.map(({ at }) => shownValue(cells.get(at)));
  const isWorkedOut = values.includes(undefined);
  const texts = columns.map(({ kind }, at) => shownText(kind, values[at] ?? null));
  const opened = openRow(secret, text, texts);
  return {
    ...place,
    decision: enteredCell(cells.get(decision)),
    reason: enteredCell(cells.get(reason)),
    toWhom: enteredCell(cells.get(toWhom)),
    carried: opened === null ? null : { ...opened, isWhole: opened.isWhole && !isWorkedOut },
  };
}

/** Null: nothing is in it; undefined: a formula that is no link of ours. */
function shownValue(cell: ReadCell | undefined): string | number | null | undefined {
  if (cell === undefined || cell.formula === null) return cell?.value ?? null;
  return linkedText(cell.formula, cell.value) ?? undefined;
}

function enteredCell(cell: ReadCell | undefined): EnteredCell {
  if (cell === undefined) return null;
  if (cell.formula !== null) return { kind: 'formula' };
  const text = shownText('text', cell.value) === '' ? '' : String(cell.value);
  return text === '' ? null : { kind: 'words', text };
}
