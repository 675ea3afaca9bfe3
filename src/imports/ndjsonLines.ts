// An NDJSON file as lines of the ledger: one flat JSON object a line, every value a text or null.
// Numbers are refused, since a JSON number is a float and an order number may begin with zeros.
// Memory holds one line. Neighbours: inputText.ts, tableImport.ts.

import type { Column, RawLine, ValueProblem } from '../core/ledgerRow.js';
import type { ReadLine } from './inputText.js';
import { MAX_LINE_LENGTH, NotUtf8, textOf } from './inputText.js';

export async function* ndjsonLines(
  file: string,
  columns: readonly Column[],
): AsyncGenerator<ReadLine> {
  const known = new Set(columns.map(({ name }) => name));
  let rest = '';
  let line = 0;
  try {
    for await (const piece of textOf(file)) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        line += 1;
        if (text.trim() !== '') yield readLine(text, line, known);
      }
      if (rest.length > MAX_LINE_LENGTH) break;
    }
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error;
    const problem = 'here or below the file is not UTF-8 text';
    yield { kind: 'problem', line: line + 1, problem };
    return;
  }
  if (rest.trim() !== '') yield readLine(rest, line + 1, known);
  else if (line === 0) yield { kind: 'problem', line: 1, problem: 'the file is empty' };
}

function readLine(text: string, line: number, known: ReadonlySet<string>): ReadLine {
  const refuse = (problem: ValueProblem | string): ReadLine => ({ kind: 'problem', line, problem });
  if (text.length > MAX_LINE_LENGTH) return refuse(`is longer than ${MAX_LINE_LENGTH} characters`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return refuse('is not valid JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return refuse('is no JSON object');
  }
  const values: Record<string, string | null> = {};
  for (const [column, value] of Object.entries(parsed)) {
    const shown = typeof value === 'string' ? value : null;
    if (!known.has(column)) {
      const reason = 'is no column of this table';
      return refuse({ column: column.slice(0, 80), value: shown, reason });
    }
    if (typeof value !== 'string' && value !== null) {
      return refuse({ column, value: JSON.stringify(value), reason: 'must be text in quotes' });
    }
    values[column] = value === '' ? null : value;
  }
  const twice = keyGivenTwice(text, Object.keys(values).length);
  if (twice) return refuse('gives a key twice');
  return { kind: 'line', line, values: values satisfies RawLine };
}

/** JSON.parse keeps the last of two equal keys in silence. The object is flat and valid here. */
function keyGivenTwice(text: string, keys: number): boolean {
  // Texts are passed over whole, so that only the colons between a key and its value are counted.
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  return colons !== keys;
}
