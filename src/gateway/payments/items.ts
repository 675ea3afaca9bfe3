// The `items` text of a payment: records with `;` between them, four parts with `#,#` between them
// (document, "Direct payment request"). What each of the four parts means is not shown, so they
// are four texts here. Shows no way to write a separator inside a part: such a part is refused.

import { TieoutError } from '../../core/errors.js';

export type Item = readonly [string, string, string, string];

const BETWEEN_RECORDS = ';';
const BETWEEN_PARTS = '#,#';
const PARTS = 4;
const ITEMS_MAX = 1_000;

/** Throws when the text would be read back as anything but these records. */
export function buildItems(items: readonly Item[]): string {
  if (items.length === 0 || items.length > ITEMS_MAX) {
    throw new TieoutError(`items has 1 to ${ITEMS_MAX} records`);
  }
  const text = items.map((parts) => parts.join(BETWEEN_PARTS)).join(BETWEEN_RECORDS);
  const read = parseItems(text);
  // Reading back also finds parts that make a separator only together with their neighbour.
  const isSame = read?.every((item, at) => item.every((part, n) => part === items[at]?.[n]));
  if (read?.length === items.length && isSame) return text;
  throw new TieoutError(`a part of items contains ${BETWEEN_RECORDS} or ${BETWEEN_PARTS}`);
}

/** null: not a text of this kind. One separator at the very end is taken as such. */
export function parseItems(text: string): Item[] | null {
  const records = text.split(BETWEEN_RECORDS);
  if (records.length > 1 && records.at(-1) === '') records.pop();
  if (records.length > ITEMS_MAX) return null;
  const items = records.map((record) => record.split(BETWEEN_PARTS));
  return items.every(isItem) ? items : null;
}

function isItem(parts: string[]): parts is [string, string, string, string] {
  return parts.length === PARTS;
}
