// What stands in a sheet's part before its rows and behind them, in the order that the format
// (ECMA-376, CT_Worksheet) gives to it; a spreadsheet refuses a file with another order. Pure;
// neighbour: workbook.ts writes the rows between.

import { columnLetters } from './cellXml.js';
import { FAILED } from './styleSheet.js';
import { counted, element, escaped, MAIN, OFFICE, XML } from './xml.js';

export interface SheetLayout {
  widths: readonly number[];
  /** A column that nobody sees, counted from 0. */
  hiddenColumn?: number;
  frozenRows: number;
  frozenColumns: number;
  /** Rows that are printed on top of every page, such as `1:2`. */
  repeatedRows: string;
  /** Printed on so many pages beside each other; default: one. */
  pagesWide?: number;
  /** Printed on so many pages, smaller where it must be; default: as many as the rows need. */
  pagesHigh?: number;
}

export interface SheetEnd {
  /** Where the filter's arrows stand, such as `A4:M400`. */
  filter?: string;
  /** All cells but unlocked ones are kept from changes; no password holds them. */
  isProtected?: true;
  /** The cells that are printed, such as `A1:S30`; all where it does not say. */
  printed?: string;
  /** Cells with words to choose from. */
  choice?: { ref: string; words: readonly string[] };
  /** Cells that are red unless they show 0. */
  zeroOrRed?: readonly string[];
  /** A cell that is red unless it shows this text. */
  textOrRed?: { ref: string; text: string };
}

/** What is gathered while the rows are written. */
export interface SheetMarks {
  /** Cells that are one, such as `A1:M1`. */
  merged: string[];
  /** Rows after which a printed page ends. */
  pageEnds: number[];
}

/** All up to the first row. */
export function sheetHead(
  { widths, hiddenColumn, ...layout }: SheetLayout,
  tabColour: string,
): string {
  const columns = widths.map((width, at) => {
    const hidden = at === hiddenColumn ? 1 : undefined;
    return element('col', { min: at + 1, max: at + 1, width, hidden, customWidth: 1 });
  });
  const tab = element('tabColor', { rgb: tabColour });
  return (
    `${XML}<worksheet xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
    element('sheetPr', {}, tab, element('pageSetUpPr', { fitToPage: 1 })) +
    element('sheetViews', {}, element('sheetView', { workbookViewId: 0 }, ...frozenXml(layout))) +
    element('sheetFormatPr', { defaultRowHeight: 15 }) +
    `${element('cols', {}, ...columns)}<sheetData>`
  );
}

/** All behind the last row. */
export function sheetTail(
  { pagesHigh, pagesWide }: Pick<SheetLayout, 'pagesHigh' | 'pagesWide'>,
  { merged, pageEnds }: SheetMarks,
  end: SheetEnd,
  footer: string,
  hasDrawing: boolean,
): string {
  return (
    '</sheetData>' +
    (end.isProtected ? element('sheetProtection', PROTECTION) : '') +
    (end.filter === undefined ? '' : element('autoFilter', { ref: end.filter })) +
    counted(
      'mergeCells',
      merged.map((ref) => element('mergeCell', { ref })),
    ) +
    rulesXml(end) +
    choiceXml(end) +
    element('pageMargins', MARGINS) +
    // A4; in width one page where it does not say.
    element('pageSetup', { ...PAPER, fitToWidth: pagesWide, fitToHeight: pagesHigh ?? 0 }) +
    element('headerFooter', {}, element('oddFooter', {}, escaped(footer))) +
    pageEndsXml(pageEnds) +
    DIGITS_AS_TEXT +
    // The one relation that a sheet has.
    `${hasDrawing ? element('drawing', { 'r:id': 'rId1' }) : ''}</worksheet>`
  );
}

/** 0 is what stays allowed: to filter, to sort, and to make columns wider. */
const PROTECTION = {
  ...{ sheet: 1, objects: 1, scenarios: 1 },
  ...{ formatColumns: 0, formatRows: 0, sort: 0, autoFilter: 0 },
};

function choiceXml({ choice }: SheetEnd): string {
  if (choice === undefined) return '';
  const words = choice.words.join(',');
  const rule = {
    ...{ type: 'list', allowBlank: 1, showInputMessage: 1, showErrorMessage: 1 },
    ...{ errorTitle: 'No such decision', error: `Choose one of: ${words}`, sqref: choice.ref },
  };
  const list = element('formula1', {}, escaped(`"${words}"`));
  return counted('dataValidations', [element('dataValidation', rule, list)]);
}

/** In inches: narrow, so that a wide table is not printed small. */
const PAPER = { paperSize: 9, orientation: 'landscape' };
const MARGINS = { left: 0.4, right: 0.4, top: 0.45, bottom: 0.6, header: 0.3, footer: 0.3 };

/** An account "0010" is text on purpose; a reader would mark each such cell as a mistake. */
const DIGITS_AS_TEXT = element(
  'ignoredErrors',
  {},
  element('ignoredError', { sqref: 'A1:XFD1048576', numberStoredAsText: 1 }),
);

function frozenXml({ frozenRows, frozenColumns }: Omit<SheetLayout, 'widths'>): string[] {
  if (frozenRows === 0 && frozenColumns === 0) return [];
  const below = frozenRows === 0 ? 'top' : 'bottom';
  const pane = below + (frozenColumns === 0 ? 'Left' : 'Right');
  const split = {
    xSplit: frozenColumns || undefined,
    ySplit: frozenRows || undefined,
    topLeftCell: `${columnLetters(frozenColumns + 1)}${frozenRows + 1}`,
  };
  return [
    element('pane', { ...split, activePane: pane, state: 'frozen' }),
    element('selection', { pane }),
  ];
}

function rulesXml({ zeroOrRed = [], textOrRed }: SheetEnd): string {
  const rules = zeroOrRed.map((ref) => ({ ref, unless: '0' }));
  if (textOrRed) rules.push({ ref: textOrRed.ref, unless: `"${textOrRed.text}"` });
  return rules
    .map(({ ref, unless }, at) => {
      const rule = { type: 'cellIs', dxfId: FAILED, priority: at + 1, operator: 'notEqual' };
      const formula = element('formula', {}, escaped(unless));
      return element('conditionalFormatting', { sqref: ref }, element('cfRule', rule, formula));
    })
    .join('');
}

/** So many a spreadsheet takes of one sheet; what stands below them is printed as it fits. */
const PAGE_ENDS_MAX = 1_026;

function pageEndsXml(all: readonly number[]): string {
  if (all.length === 0) return '';
  const rows = all.slice(0, PAGE_ENDS_MAX);
  const counts = { count: rows.length, manualBreakCount: rows.length };
  const breaks = rows.map((id) => element('brk', { id, max: LAST_COLUMN, man: 1 }));
  return element('rowBreaks', counts, ...breaks);
}

/** Counted from 0: a page ends in all columns. */
const LAST_COLUMN = 16_383;
