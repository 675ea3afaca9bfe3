// How wide columns and how high rows have to be, so that nothing is cut on the screen or on paper:
// files are never opened between writing and reading, so no program fits them for us. Estimates on
// the safe side, in characters of the standard font. Pure; neighbours: table.ts, reconciliation.ts.

import type { Cell } from './format/cellXml.js';

/** One line of the standard font; a font of another size takes as much more or less. */
export const LINE_POINTS = 15;
const STANDARD_SIZE = 11;
/** The highest row that a spreadsheet takes; longer text is whole in its cell all the same. */
const HEIGHT_MAX_POINTS = 409;
/** The indent and a little room on the other side. */
const PADDING = 2.5;
const BOLD_SCALE = 1.1;
/** `2026-11-19 23:59` */
const INSTANT_LENGTH = 16;

/** The width of a column that shows this cell on one line, padding included. */
export function wantedWidth(cell: Cell | null): number {
  if (cell === null || cell.value === null) return 0;
  return shownLength(cell) * scaleOf(cell) + PADDING;
}

/** The same for a heading, which may break between its words. */
export function wantedHeadingWidth(cell: Cell | null): number {
  if (typeof cell?.value !== 'string') return 0;
  const words = cell.value.split(' ').map((value) => wantedWidth({ value, style: cell.style }));
  return Math.max(...words);
}

/** Whether text stands on one line of a column. */
export function fitsOneLine(text: string, width: number): boolean {
  if (text.includes('\n')) return false;
  const room = width - PADDING;
  return text.length * WIDEST < room || textLength(text) <= room;
}

/** Whether an amount, given with its text, stands in a column with its thousands apart. */
export function fitsFigure(cell: Cell, amount: string, width: number): boolean {
  return surelyFitsFigure(amount, width) || wantedWidth(cell) <= width;
}

/** The same by its length alone: grouping a million amounts to know takes its time. */
export function surelyFitsFigure(amount: string, width: number): boolean {
  // Three digits make at most four characters.
  return (amount.length * 4) / 3 + PADDING <= width;
}

/** The height that the wrapped cells of a row need; null when one line is enough for all. */
export function rowHeight(
  cells: readonly (Cell | null)[],
  widths: readonly number[],
): number | null {
  let height = 0;
  for (const [index, cell] of cells.entries()) {
    if (cell === null || typeof cell.value !== 'string' || !cell.style.alignment?.wrapText)
      continue;
    const scale = scaleOf(cell);
    const lines = wrappedLines(cell.value, ((widths[index] ?? 0) - PADDING + 1) / scale);
    if (lines > 1 || scale > BOLD_SCALE) height = Math.max(height, lines * LINE_POINTS * scale);
  }
  return height === 0 ? null : Math.min(Math.ceil(height), HEIGHT_MAX_POINTS);
}

/** The height of one line in the font of this cell. */
export function lineHeight(cell: Cell | null): number {
  const size = cell?.style.font?.size ?? STANDARD_SIZE;
  return Math.ceil((LINE_POINTS * size) / STANDARD_SIZE);
}

const BREAKS_AFTER = /(?<=[ -])/;

/** How many lines a reader makes of a text that breaks between words, and inside longer ones. */
export function wrappedLines(text: string, room: number): number {
  const perLine = Math.max(1, Math.floor(room));
  let lines = 0;
  for (const paragraph of text.split('\n')) {
    let used = 0;
    lines += 1;
    for (const word of paragraph.split(BREAKS_AFTER)) {
      const length = textLength(word.trimEnd());
      if (used + length <= perLine) {
        used += textLength(word);
        continue;
      }
      const needed = Math.ceil(length / perLine);
      lines += used === 0 ? needed - 1 : needed;
      used = textLength(word) - (needed - 1) * perLine;
    }
  }
  return lines;
}

function shownLength({ value, style }: Cell): number {
  if (value === null) return 0;
  if (typeof value === 'string') return Math.max(...value.split('\n').map(textLength));
  if (value instanceof Date) return INSTANT_LENGTH;
  const shown = typeof value === 'number' ? value : value.result;
  if (typeof shown === 'string') return textLength(shown);
  return numberLength(shown, /\.(0+)$/.exec(style.numFmt ?? '')?.[1]?.length ?? 0);
}

/** As in `-1,234.50`. Counted here: asking for a locale's text costs more than writing the row. */
function numberLength(shown: number, decimals: number): number {
  const digits = Math.abs(shown).toFixed(decimals);
  const whole = digits.length - (decimals === 0 ? 0 : decimals + 1);
  return digits.length + Math.floor((whole - 1) / 3) + (shown < 0 ? 1 : 0);
}

function scaleOf({ style }: Cell): number {
  return (
    ((style.font?.size ?? STANDARD_SIZE) / STANDARD_SIZE) * (style.font?.bold ? BOLD_SCALE : 1)
  );
}

/** Places by character, a digit being 1: as in the fonts that spreadsheets show for Calibri. */
const PLACES: readonly (readonly [characters: RegExp, places: number])[] = [
  [/[ .,:;'|!ijlI]/, 0.5],
  [/[tfr()[\]/-]/, 0.7],
  [/[mwMW@%]/, 1.6],
  [/[A-Z_&]/, 1.15],
];
const WIDEST = 2;
const ASCII_PLACES = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return PLACES.find(([characters]) => characters.test(character))?.[1] ?? 1;
});
const DOUBLE_WIDTH_FROM = 0x1100;

/** How many digits' places a text takes on one line. */
function textLength(text: string): number {
  let places = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    places += ASCII_PLACES[code] ?? (code < DOUBLE_WIDTH_FROM ? 1 : WIDEST);
  }
  return places;
}
