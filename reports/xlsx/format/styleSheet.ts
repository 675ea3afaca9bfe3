// The part of a workbook's file that says how its cells look. One object is one style of the file,
// with one number; whoever writes cells asks for the number. Pure but for the numbers that are
// given out; neighbour: styles.ts has the styles.

import { counted, element, MAIN, XML } from './xml.js';

/** Colours are AARRGGBB. */
export interface CellStyle {
  numFmt?: string;
  font?: Font;
  fill?: string;
  /** The colours of thin lines. */
  border?: Partial<Record<Side, string>>;
  alignment?: Alignment;
  /** May be changed also where the sheet is protected. */
  isUnlocked?: true;
}

interface Font {
  size: number;
  bold?: true;
  italic?: true;
  colour?: string;
}

interface Alignment {
  horizontal?: 'left' | 'right';
  vertical?: 'top' | 'center';
  wrapText?: true;
  indent?: number;
  shrinkToFit?: true;
}

type Side = (typeof SIDES)[number];
const SIDES = ['left', 'right', 'top', 'bottom'] as const;

/** The styles of a file by the number under which its cells name them; 0 is a cell without one. */
export type StyleNumbers = Map<CellStyle, number>;

export function styleNumber(numbers: StyleNumbers, style: CellStyle): number {
  const known = numbers.get(style);
  if (known !== undefined) return known;
  const number = numbers.size + 1;
  numbers.set(style, number);
  return number;
}

/** What the format has a number for; others are listed from the first free one on. */
const FORMATS: Readonly<Record<string, number>> = { '#,##0': 3, '#,##0.00': 4, '@': 49 };
const FIRST_OWN_FORMAT = 164;
const STANDARD_FONT: Font = { size: 11 };
/** The format has a meaning for the first two fills, whatever they are said to be. */
const FIRST_FILLS = ['none', 'gray125'].map((patternType) =>
  element('fill', {}, element('patternFill', { patternType })),
);

/** The one style that is laid over cells: a check that fails. */
export const FAILED = 0;
const OVERLAYS = [
  element(
    'dxf',
    {},
    element('font', {}, element('b', {}), element('color', { rgb: 'FFFFFFFF' })),
    fillXml('bgColor', 'FFC00000'),
  ),
];

export function styleSheetXml(numbers: StyleNumbers): string {
  const formats: string[] = [];
  const fonts = [fontXml(STANDARD_FONT)];
  const fills = [...FIRST_FILLS];
  const borders = [borderXml({})];
  const styled = [...numbers.keys()].map(
    ({ numFmt, font, fill, border, alignment, isUnlocked }) => {
      const format = numFmt === undefined ? 0 : (FORMATS[numFmt] ?? ownFormat(formats, numFmt));
      const of = {
        numFmtId: format,
        fontId: placeOf(fonts, fontXml(font ?? STANDARD_FONT)),
        fillId: fill === undefined ? 0 : placeOf(fills, fillXml('fgColor', fill)),
        borderId: placeOf(borders, borderXml(border ?? {})),
      };
      const applied = {
        applyNumberFormat: one(of.numFmtId),
        applyFont: one(of.fontId),
        applyFill: one(of.fillId),
        applyBorder: one(of.borderId),
        applyAlignment: one(alignment),
        applyProtection: one(isUnlocked),
      };
      const inside =
        (alignment === undefined ? '' : alignmentXml(alignment)) +
        (isUnlocked ? element('protection', { locked: 0 }) : '');
      return element('xf', { ...of, xfId: 0, ...applied }, inside);
    },
  );
  const plain = { numFmtId: 0, fontId: 0, fillId: 0, borderId: 0 };
  const listed = formats.map((formatCode, at) =>
    element('numFmt', { numFmtId: FIRST_OWN_FORMAT + at, formatCode }),
  );
  return (
    XML +
    element(
      'styleSheet',
      { xmlns: MAIN },
      counted('numFmts', listed),
      counted('fonts', fonts),
      counted('fills', fills),
      counted('borders', borders),
      counted('cellStyleXfs', [element('xf', plain)]),
      counted('cellXfs', [element('xf', { ...plain, xfId: 0 }), ...styled]),
      counted('cellStyles', [element('cellStyle', { name: 'Normal', xfId: 0, builtinId: 0 })]),
      counted('dxfs', OVERLAYS),
    )
  );
}

function ownFormat(formats: string[], code: string): number {
  return FIRST_OWN_FORMAT + placeOf(formats, code);
}

/** Where it stands in the list, put there if it is new. */
function placeOf(list: string[], one: string): number {
  const at = list.indexOf(one);
  return at === -1 ? list.push(one) - 1 : at;
}

/** Named in full: a reader takes some font of its own for one that has no name. */
function fontXml({ size, bold, italic, colour }: Font): string {
  return element(
    'font',
    {},
    bold ? element('b', {}) : '',
    italic ? element('i', {}) : '',
    element('sz', { val: size }),
    colour === undefined ? '' : element('color', { rgb: colour }),
    element('name', { val: 'Calibri' }),
    element('family', { val: 2 }),
  );
}

function fillXml(where: 'fgColor' | 'bgColor', rgb: string): string {
  const pattern = element('patternFill', { patternType: 'solid' }, element(where, { rgb }));
  return element('fill', {}, pattern);
}

function borderXml(border: NonNullable<CellStyle['border']>): string {
  const lines = SIDES.map((side) => {
    const rgb = border[side];
    if (rgb === undefined) return element(side, {});
    return element(side, { style: 'thin' }, element('color', { rgb }));
  });
  return element('border', {}, ...lines, element('diagonal', {}));
}

function alignmentXml({ horizontal, vertical, ...rest }: Alignment): string {
  const { wrapText, indent, shrinkToFit } = rest;
  return element('alignment', {
    ...{ horizontal, vertical, wrapText: one(wrapText), indent },
    shrinkToFit: one(shrinkToFit),
  });
}

/** As the format says yes; what is not so is left out. */
function one(value: unknown): number | undefined {
  return value ? 1 : undefined;
}
