// The port through which everything is told to whoever watches: one line of words, and the ids that
// a search for it would use. Whatever comes from outside is made one harmless line here: no line
// breaks, no colours of a terminal, no card numbers. Pure; who writes it where is not known here.

import { cutText } from './text/heldText.js';
import { maskCardNumbers } from './text/masking.js';

type LogLevel = 'info' | 'warn' | 'error';

/** What a line is about. All are identifiers: they stand as they are, and are never free text. */
interface LogFields {
  /** default: info */
  level?: LogLevel;
  /** business date */
  run?: string;
  account?: string;
  batch?: string;
  queue?: string;
  /** what a job of the queue named */
  job?: string;
  /** id of a message to the outside */
  message?: string;
  step?: string;
  /** what happened at the doors (core/securityEvents.ts), who came, and from where */
  event?: string;
  who?: string;
  address?: string;
  /** orders and transactions that the line names: they stay whole */
  names?: readonly string[];
}

export type Log = (line: string, fields?: LogFields) => void;

/** The same log, with these fields on every line; a line's own win. */
export function withFields(log: Log, fields: LogFields): Log {
  return (line, own) => log(line, { ...fields, ...own });
}

/** Control characters, those that turn or hide text, and the two separators of lines and pages. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;
const READ_LENGTH = 20_000;
const LINE_MAX = 4_000;

/** Text as one line of at most so many characters; `keep` are identifiers that stay whole. */
export function oneLine(text: string, lengthMax: number, keep: readonly string[] = []): string {
  const line = text.slice(0, READ_LENGTH).replaceAll(CONTROL, ' ').trim();
  // Masked before it is cut: half a card number would not be known for one.
  return cutText(maskCardNumbers(line, keep), lengthMax);
}

/**
 * Text of any length for a terminal: tabs stay, what follows a line break is indented, so that it
 * reads as no line of ours, and every other control character is a blank.
 */
export function plainLine(text: string): string {
  return text
    .replaceAll(/\r?\n/g, '\n    ')
    .replaceAll(/[^\P{Cc}\n\t]|\p{Cf}|[\u2028\u2029]/gu, ' ');
}

/** Text of several lines for a person: none but the first begins where a line of a log would. */
export function indentedLines(text: string): string {
  const lines = text.split('\n').map((line) => oneLine(line, LINE_MAX));
  return lines.filter((line, at) => at === 0 || line !== '').join('\n    ');
}

/**
 * A log whose lines are safe to write, whatever was told: `hide` takes out what the configuration
 * keeps secret, `write` gets one line and the fields.
 */
export function guardedLog(
  write: (line: string, fields: LogFields) => void,
  hide: (text: string) => string,
): Log {
  return (line, fields = {}) => {
    const shown = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map(hide) : hide(String(value)),
      ]),
    ) as LogFields;
    write(oneLine(hide(line), LINE_MAX, Object.values(shown).flat()), shown);
  };
}
