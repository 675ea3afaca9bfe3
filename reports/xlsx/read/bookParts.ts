// Where the sheets of a workbook lie, and its shared texts: by the relations of its parts, whatever
// the program that saved it calls them. What leads out of the file is followed by nobody.
// Neighbours: archive.ts, xmlScan.ts, sheetRows.ts.

import { posix } from 'node:path';
import { UsageError } from '../../../src/core/errors.js';
import { CELL_TEXT_MAX } from '../cells.js';
import type { Archive } from './archive.js';
import { entryText } from './archive.js';
import { attributeOf, scanXml } from './xmlScan.js';

const SHEETS_MAX = 256;
const RELATIONS_MAX = 2_000;
const SHARED_TEXTS_MAX = 4_000_000;
/** Of all shared texts together; they are kept while the sheets are read. */
const SHARED_CHARS_MAX = 64 * 1024 * 1024;

interface BookParts {
  readonly sheets: readonly { readonly name: string; readonly part: string }[];
  readonly sharedTexts: string | null;
}

interface FoundRelation {
  readonly id: string;
  readonly type: string;
  readonly part: string;
}

export async function bookParts(archive: Archive): Promise<BookParts> {
  const [book] = (await relationsOf(archive, '')).filter(({ type }) => type === 'officeDocument');
  const text = book === undefined ? null : entryText(archive, book.part);
  if (book === undefined || text === null) throw new UsageError('this is no workbook (.xlsx)');
  const relations = await relationsOf(archive, book.part);
  const sheets: { name: string; part: string }[] = [];
  await scanXml(text, {
    open: (name, attributes) => {
      if (name !== 'sheet') return;
      const id = attributeOf(attributes, ':id');
      const relation = relations.find((one) => one.id === id && one.type === 'worksheet');
      // A chart of its own is a sheet as well, and has no rows.
      if (relation === undefined) return;
      if (sheets.length >= SHEETS_MAX) {
        throw new UsageError(`the workbook has more than ${SHEETS_MAX} sheets`);
      }
      sheets.push({ name: attributeOf(attributes, 'name') ?? '', part: relation.part });
    },
    text: () => {},
    close: () => {},
  });
  const shared = relations.find(({ type }) => type === 'sharedStrings');
  return { sheets, sharedTexts: shared?.part ?? null };
}

/** The relations of a part that stay inside the file; of the whole file where it is empty. */
async function relationsOf(archive: Archive, of: string): Promise<FoundRelation[]> {
  const { dir, base } = posix.parse(of);
  const text = entryText(archive, posix.join(dir, '_rels', `${base}.rels`));
  const found: FoundRelation[] = [];
  if (text === null) return found;
  await scanXml(text, {
    open: (name, attributes) => {
      if (name !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') return;
      if (found.length >= RELATIONS_MAX) throw new UsageError('the workbook has too many parts');
      const type = attributeOf(attributes, 'Type') ?? '';
      const target = attributeOf(attributes, 'Target') ?? '';
      found.push({
        id: attributeOf(attributes, 'Id') ?? '',
        type: type.slice(type.lastIndexOf('/') + 1),
        // From the root of the file, or from where the part lies.
        part: posix.join(target.startsWith('/') ? '' : dir, target).replace(/^\/+/, ''),
      });
    },
    text: () => {},
    close: () => {},
  });
  return found;
}

/** The texts that cells name by number. */
export async function sharedTexts(archive: Archive, part: string | null): Promise<string[]> {
  const text = part === null ? null : entryText(archive, part);
  const texts: string[] = [];
  if (text === null) return texts;
  let chars = 0;
  let one = '';
  const inside: string[] = [];
  await scanXml(text, {
    open: (name) => {
      inside.push(name);
      if (name === 'si') one = '';
    },
    text: (piece) => {
      // How a word is pronounced stands beside it, and is no part of it.
      if (inside.at(-1) === 't' && !inside.includes('rPh')) one += piece;
      if (one.length > CELL_TEXT_MAX) throw tooLong();
    },
    close: (name) => {
      inside.pop();
      if (name !== 'si') return;
      chars += one.length;
      if (texts.length >= SHARED_TEXTS_MAX || chars > SHARED_CHARS_MAX) {
        throw new UsageError('the workbook has too much text');
      }
      texts.push(one);
    },
  });
  return texts;
}

export function tooLong(): UsageError {
  return new UsageError(`a cell has more than ${CELL_TEXT_MAX} characters`);
}
