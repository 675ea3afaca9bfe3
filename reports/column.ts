// What a column of a report is, and how one is written down in a line. A column has the key that
// programs read and the heading that people read; a table is a list of them. Pure; neighbours:
// columns.ts and periodColumns.ts (the tables), columnCell.ts (a cell of one), delimited.ts.

interface Shown {
  key: string;
  heading: string;
  /** In characters; where a sheet is fitted to its rows, the most that text may take. */
  width: number;
}

interface Linked<R> {
  /** Where a sheet leads from it: an address of ours, never text from outside. */
  link?: (row: R) => string | null;
}

interface Words<R> {
  /** Takes the text, empty where there is none. */
  words?: (text: string) => string;
  /** Instead, where the words come of the whole row. */
  rowWords?: (row: R) => string;
}

/**
 * `id` is never altered; `text` is free text and masked, and a sheet shows `words` where there are
 * any; `money` is text of two decimals; `date` is a business date, 2026-11-19.
 */
export type Column<R> = Shown &
  (
    | ({ kind: 'id'; read: (row: R) => string | null } & Linked<R>)
    | ({ kind: 'text'; read: (row: R) => string | null } & Words<R>)
    | { kind: 'money'; read: (row: R) => string | null; currency: (row: R) => string | null }
    | { kind: 'count'; read: (row: R) => number | null }
    | { kind: 'instant'; read: (row: R) => Date | null }
    | { kind: 'date'; read: (row: R) => string | null }
    /** a cell for a person to fill, wherever it reads anything */
    | { kind: 'entry'; read: (row: R) => string | null }
    /** what the row carries for programs; nobody sees it */
    | { kind: 'hidden'; read: (row: R) => string | null }
  );

export interface Table<R> {
  columns: readonly Column<R>[];
  /** Identifiers that free text of this row may name; masking leaves them alone. */
  keep: (row: R) => readonly string[];
  /** How many of the first columns stay in view. */
  frozenColumns: number;
  /** Printed on so many pages beside each other, those first columns on each; default: one. */
  pagesWide?: number;
  /** Where decisions may come back: the words that its column of them lists. */
  decisions?: readonly string[];
}

type Read<R, Value> = (row: R) => Value | null;

export function id<R>(
  key: string,
  heading: string,
  width: number,
  read: Read<R, string>,
  linked: Linked<R> = {},
) {
  return { key, heading, width, kind: 'id', read, ...linked } satisfies Column<R>;
}

export function text<R>(
  key: string,
  heading: string,
  width: number,
  read: Read<R, string>,
  words: Words<R> = {},
) {
  return { key, heading, width, kind: 'text', read, ...words } satisfies Column<R>;
}

/** Money in the currency of its row, or in one of its own. */
export function money<R extends { currency: string | null }>(
  key: string,
  heading: string,
  width: number,
  read: Read<R, string>,
  currency: (row: R) => string | null = (row) => row.currency,
) {
  return { key, heading, width, kind: 'money', read, currency } satisfies Column<R>;
}

export function count<R>(key: string, heading: string, width: number, read: Read<R, number>) {
  return { key, heading, width, kind: 'count', read } satisfies Column<R>;
}

export function instant<R>(key: string, heading: string, width: number, read: Read<R, Date>) {
  return { key, heading, width, kind: 'instant', read } satisfies Column<R>;
}

export function date<R>(key: string, heading: string, width: number, read: Read<R, string>) {
  return { key, heading, width, kind: 'date', read } satisfies Column<R>;
}

export function entry<R>(key: string, heading: string, width: number, read: Read<R, string>) {
  return { key, heading, width, kind: 'entry', read } satisfies Column<R>;
}

export function hidden<R>(key: string, heading: string, width: number, read: Read<R, string>) {
  return { key, heading, width, kind: 'hidden', read } satisfies Column<R>;
}

/** A file of rows has no head that would say once as of when their states are: each row does. */
export function statesAsOf<R>(table: Table<R>, words: string): Table<R> {
  return withLast(
    table,
    id('states_as_of', 'States as of', 20, () => words),
  );
}

/** Nor one that would say in large letters whether its money is real. */
export function inEnvironment<R>(table: Table<R>, environment: string): Table<R> {
  return withLast(
    table,
    id('environment', 'Environment', 12, () => environment),
  );
}

function withLast<R>(table: Table<R>, column: Column<R>): Table<R> {
  return { ...table, columns: [...table.columns, column] };
}

/** Where a column of a table stands, counted from 1 as a spreadsheet does. */
export function columnNumber<R>(table: Table<R>, key: string): number {
  return table.columns.indexOf(columnOf(table, key)) + 1;
}

export function columnOf<R>(table: Table<R>, key: string): Column<R> {
  const column = table.columns.find((one) => one.key === key);
  if (column === undefined) throw new Error(`the table has no column ${key}`);
  return column;
}

/** What a sheet shows of a text column: its words, else the text itself. */
export function sheetText<R>(column: Column<R> & { kind: 'text' }, row: R): string | null {
  if (column.rowWords !== undefined) return column.rowWords(row) || null;
  const value = column.read(row);
  if (column.words === undefined) return value;
  return column.words(value === null ? '' : String(value)) || null;
}
