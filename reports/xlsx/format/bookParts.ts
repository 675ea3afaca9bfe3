// The parts of a workbook's file beside its sheets: what it is, which sheets it has and in which
// order, how cells look, and the list of all parts. Pure; neighbour: workbook.ts writes them.

import { columnLetters } from './cellXml.js';
import type { StyleNumbers } from './styleSheet.js';
import { styleSheetXml } from './styleSheet.js';
import type { Part } from './xml.js';
import { element, escaped, MAIN, OFFICE, OFFICE_TYPE, PACKAGE, relationsPart, XML } from './xml.js';

export interface BookProperties {
  title: string;
  environment: 'test' | 'live';
  /** Printed at the foot of each page. */
  businessDate: string;
  /** Stamped into the file instead of the clock, so that equal rows give equal bytes. */
  createdAt: Date;
}

export interface BookSheet {
  name: string;
  /** Rows that are printed on top of every page, such as `1:2`. */
  repeatedRows: string;
  /** The first columns, so many, that are printed on every page. */
  repeatedColumns?: number;
  /** The cells that are printed, such as `A1:S30`; all where it does not say. */
  printed?: string;
}

/** Named and listed alike wherever a sheet is spoken of; numbered from 1. */
export const sheetPart = (number: number): string => `xl/worksheets/sheet${number}.xml`;
export const SHEET_TYPE = `${OFFICE_TYPE}.spreadsheetml.worksheet+xml`;

/** The first part of the file, by which tools that look at its first bytes know it. */
export const FIRST_PART = relationsPart('_rels/.rels', [
  { type: 'officeDocument', target: 'xl/workbook.xml' },
  { type: `${PACKAGE}/relationships/metadata/core-properties`, target: 'docProps/core.xml' },
  { type: 'extended-properties', target: 'docProps/app.xml' },
]);

/** The last parts, once all sheets are written. */
export function lastParts(
  properties: BookProperties,
  sheets: readonly BookSheet[],
  styles: StyleNumbers,
): Part[] {
  return [
    part('docProps/app.xml', `${OFFICE_TYPE}.extended-properties+xml`, APPLICATION),
    part('docProps/core.xml', CORE_TYPE, coreXml(properties)),
    part('xl/styles.xml', `${OFFICE_TYPE}.spreadsheetml.styles+xml`, styleSheetXml(styles)),
    part('xl/workbook.xml', `${OFFICE_TYPE}.spreadsheetml.sheet.main+xml`, workbookXml(sheets)),
    relationsPart('xl/_rels/workbook.xml.rels', [
      ...sheets.map((_, at) => ({ type: 'worksheet', target: `worksheets/sheet${at + 1}.xml` })),
      { type: 'styles', target: 'styles.xml' },
    ]),
  ];
}

/** The list of all parts but itself. */
export function listOfParts(parts: readonly Pick<Part, 'name' | 'type'>[]): Part {
  const overrides = parts.flatMap(({ name, type }) =>
    type === null ? [] : [element('Override', { PartName: `/${name}`, ContentType: type })],
  );
  const extensions = {
    rels: 'application/vnd.openxmlformats-package.relationships+xml',
    xml: 'application/xml',
  };
  const defaults = Object.entries(extensions).map(([Extension, ContentType]) =>
    element('Default', { Extension, ContentType }),
  );
  const types = { xmlns: `${PACKAGE}/content-types` };
  const text = XML + element('Types', types, ...defaults, ...overrides);
  return { name: '[Content_Types].xml', type: null, text };
}

const CORE_TYPE = 'application/vnd.openxmlformats-package.core-properties+xml';

function part(name: string, type: string, text: string): Part {
  return { name, type, text };
}

/** Some readers work every formula out anew in files of programs that they do not know. */
const APPLICATION =
  XML +
  element(
    'Properties',
    { xmlns: 'http://schemas.openxmlformats.org/officeDocument/2006/extended-properties' },
    element('Application', {}, 'Microsoft Excel'),
  );

function coreXml({ title, environment, businessDate, createdAt }: BookProperties): string {
  const spaces = {
    'xmlns:cp': `${PACKAGE}/metadata/core-properties`,
    'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
    'xmlns:dcterms': 'http://purl.org/dc/terms/',
    'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  };
  const at = `${createdAt.toISOString().slice(0, 19)}Z`;
  const w3c = { 'xsi:type': 'dcterms:W3CDTF' };
  return (
    XML +
    element(
      'cp:coreProperties',
      spaces,
      element('dc:creator', {}, 'tieout'),
      element('dc:title', {}, escaped(title)),
      element('dc:subject', {}, escaped(`Business date ${businessDate}, ${environment}`)),
      element('cp:lastModifiedBy', {}, 'tieout'),
      element('dcterms:created', w3c, at),
      element('dcterms:modified', w3c, at),
    )
  );
}

/** What of a sheet is printed, and what on every page; in the order of names that files have. */
function printNames(sheet: BookSheet, at: number): string[] {
  const { name, repeatedRows, repeatedColumns, printed } = sheet;
  const inSheet = (ref: string): string =>
    `'${name.replaceAll("'", "''")}'!${ref.replace(/[A-Z]+|\d+/g, '$$$&')}`;
  const columns = repeatedColumns ? [`A:${columnLetters(repeatedColumns)}`] : [];
  const named = (kind: string, refs: readonly string[]): string =>
    element(
      'definedName',
      { name: `_xlnm.${kind}`, localSheetId: at },
      escaped(refs.map(inSheet).join(',')),
    );
  return [
    ...(printed === undefined ? [] : [named('Print_Area', [printed])]),
    named('Print_Titles', [...columns, repeatedRows]),
  ];
}

/** Sizes are in twentieths of a point; the window opens on the first sheet. */
const WINDOW = { xWindow: 0, yWindow: 0, windowWidth: 28_800, windowHeight: 16_000 };
/** A spreadsheet that is newer works all formulas out when it opens the file. */
const WORKED_OUT_BY = 171_027;

function workbookXml(sheets: readonly BookSheet[]): string {
  const listed = sheets.map(({ name }, at) =>
    element('sheet', { name, sheetId: at + 1, 'r:id': `rId${at + 1}` }),
  );
  const titles = sheets.flatMap((sheet, at) => printNames(sheet, at));
  return (
    XML +
    element(
      'workbook',
      { xmlns: MAIN, 'xmlns:r': OFFICE },
      element('fileVersion', { appName: 'xl', lastEdited: 5, lowestEdited: 5, rupBuild: 9303 }),
      element('workbookPr', {}),
      element('bookViews', {}, element('workbookView', WINDOW)),
      element('sheets', {}, ...listed),
      element('definedNames', {}, ...titles),
      element('calcPr', { calcId: WORKED_OUT_BY }),
    )
  );
}
