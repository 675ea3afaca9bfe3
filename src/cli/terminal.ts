// How lines for a person look: columns that stand under each other, colours where a terminal shows
// them, every instant in one format of the schedule's zone. What data brings along steers nothing:
// colours are ours alone, and are put around a text that was cleaned. Pure.

import type { WriteStream } from 'node:tty';
import { plainLine } from '../core/log.js';
import { moreOf } from '../core/text/amounts.js';
import { withZonedTimes } from '../core/text/zonedTimes.js';

/** What a colour says; the words beside it say the same. */
type Tone = 'good' | 'warn' | 'bad' | 'faint';

interface Said {
  text: string;
  tone?: Tone;
  /** as it was said elsewhere, such as an answer of the gateway: its times stay as they are */
  isVerbatim?: boolean;
}

export type Part = string | Said;
/** One line: a text, or its parts one after the other. */
export type Line = Part | readonly Part[];

export interface Screen {
  /** the zone of the schedule */
  zone: string;
  hasColours: boolean;
}

const COLOURS: Readonly<Record<Tone, number>> = { bad: 31, good: 32, warn: 33, faint: 2 };

/** Whether a stream shows colours: a terminal that has some, and NO_COLOR does not forbid them. */
export function showsColours(stream: Partial<Pick<WriteStream, 'isTTY' | 'hasColors'>>): boolean {
  return stream.isTTY === true && stream.hasColors?.() === true;
}

/** JSON leaves these as they are, and a terminal takes some of them for the begin of a command. */
const RAW_IN_JSON = /[\u007f-\u009f]/g;

/** A value as JSON that steers no terminal either: the same value to whoever reads it. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
  return tameJson(json);
}

/** JSON that somebody else made, likewise. */
export function tameJson(json: string): string {
  return json.replace(RAW_IN_JSON, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

/** A line as it is written, without its end. */
export function shownLine(line: Line, screen: Screen): string {
  const parts = isParts(line) ? line : [line];
  return parts
    .map((part) => shownPart(typeof part === 'string' ? { text: part } : part, screen))
    .join('');
}

function isParts(line: Line): line is readonly Part[] {
  return Array.isArray(line);
}

function shownPart({ text, tone, isVerbatim }: Said, { zone, hasColours }: Screen): string {
  const plain = plainLine(isVerbatim === true ? text : withZonedTimes(text, zone));
  if (tone === undefined || !hasColours) return plain;
  return `\u001b[${COLOURS[tone]}m${plain}\u001b[0m`;
}

/** Under a list that is cut: how many follow, and how they are seen. */
export function moreLines(rest: number, how: string, isUncounted = false): string[] {
  const least = isUncounted ? 'more than ' : '';
  return moreOf(rest).map((more) => `... and ${least}${more}: ${how}`);
}

/** A cell may be longer: then its own line is, and the others stay in their columns. */
const WIDTH_MAX = 48;

type Rows = readonly (readonly Part[])[];

/** A list as it is printed: what stands over its columns, and the cells of a row. */
export interface Listing<Row> {
  readonly head: readonly string[];
  /** columns of figures, counted from 0 */
  readonly figures: readonly number[];
  readonly cells: (row: Row) => readonly Part[];
}

/** Rows as lines in which the same column begins, or of figures ends, at the same place. */
export function columns(rows: Rows, figures: readonly number[] = []): Line[] {
  return growingColumns(figures)(rows);
}

/** The same of rows that come in parts: a column becomes wider where a later part needs it. */
export function growingColumns(figures: readonly number[] = []): (rows: Rows) => Line[] {
  const widths: number[] = [];
  return (rows) => {
    for (const row of rows) {
      for (const [at, cell] of row.entries()) {
        widths[at] = Math.max(widths[at] ?? 0, Math.min(WIDTH_MAX, textOf(cell).length));
      }
    }
    return rows.map((row) =>
      row.flatMap((cell, at): Part[] => {
        const gap = at === 0 ? '' : '  ';
        const room = ' '.repeat(Math.max(0, (widths[at] ?? 0) - textOf(cell).length));
        if (figures.includes(at)) return [gap + room, cell];
        return at === row.length - 1 ? [gap, cell] : [gap, cell, room];
      }),
    );
  };
}

function textOf(cell: Part): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** A state of a run, a break, an instruction and the like, in the colour of what it asks for. */
export function stateWord(state: string, text: string = state.replaceAll('_', ' ')): Said {
  const tone = STATE_TONES[state];
  return tone === undefined ? { text } : { text, tone };
}

const STATE_TONES: Readonly<Record<string, Tone>> = {
  tied_out: 'good',
  confirmed: 'good',
  resolved: 'good',
  closed: 'good',
  locked: 'good',
  active: 'good',
  incomplete: 'warn',
  running: 'warn',
  held: 'warn',
  waiver_asked: 'warn',
  invited: 'warn',
  disabled: 'warn',
  broken: 'bad',
  failed: 'bad',
  unknown: 'bad',
  open: 'bad',
};

/** As wide as commander fills its own lines where there is no terminal. */
const HELP_WIDTH = 80;

/** A text behind the options of a help: words in lines that fit, after the first one indented. */
export function filled(text: string, indent = 0): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const isFirst = last === undefined || last.trim() === '';
    if (!isFirst && last.length + 1 + word.length > HELP_WIDTH) {
      lines.push(' '.repeat(indent) + word);
    } else {
      lines[Math.max(0, lines.length - 1)] = last === undefined ? word : `${last} ${word}`;
    }
  }
  return lines.join('\n');
}
