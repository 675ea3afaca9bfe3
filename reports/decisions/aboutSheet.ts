// What a workbook that came back says of itself on its sheet *About this run*: a name and a value a
// row. It is what stands in the file, which anybody may have changed: src/decide/ holds it against
// the record.

import { UsageError } from '../../src/core/errors.js';
import { ABOUT_SHEET } from '../reconciliation.js';
import { entryText, openArchive } from '../xlsx/read/archive.js';
import { bookParts, sharedTexts } from '../xlsx/read/bookParts.js';
import { scanRows } from '../xlsx/read/sheetRows.js';

/** Of the first rows of the sheet; what it is made of stands in them. */
const ROWS_MAX = 500;

/** Null: there is no such sheet. The first of a name counts. */
export async function aboutSheet(bytes: Buffer): Promise<ReadonlyMap<string, string> | null> {
  const archive = openArchive(bytes);
  const parts = await bookParts(archive);
  const sheet = parts.sheets.find(({ name }) => name === ABOUT_SHEET);
  const text = sheet === undefined ? null : entryText(archive, sheet.part);
  if (text === null) return null;
  const said = new Map<string, string>();
  const shared = await sharedTexts(archive, parts.sharedTexts);
  try {
    await scanRows(text, shared, (row, cells) => {
      const [name, value] = [cells.get(0)?.value, cells.get(1)?.value];
      if (row > ROWS_MAX || name === undefined || value === undefined) return;
      if (!said.has(String(name))) said.set(String(name), String(value));
    });
  } catch (error) {
    // Its decisions are read all the same.
    if (error instanceof UsageError) return null;
    throw error;
  }
  return said;
}
