// An NDJSON file as lines of the ledger: one flat JSON object a line, every value a text or null.
// Numbers are refused, since an order number may begin with zeros; an amount may be one, and a
// column of JSON anything: both are taken as what stands there, so that no float touches money.
// Memory holds one line. Neighbours: inputText.ts, tableImport.ts.

import type { Column, RawLine, ValueProblem } from '../../core/ledger/ledgerRow.js';
import { isAmountColumn } from '../../core/mapping/columnMap.js';
import { cutText } from '../../core/text/heldText.js';
import type { ReadLine } from './inputText.js';
import { MAX_LINE_LENGTH, NotText, textOf } from './inputText.js';

export async function* ndjsonLines(
  file: string,
  columns: readonly Column[],
): AsyncGenerator<ReadLine> {
  const known = new Map(columns.map((column) => [column.name, column]));
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
    if (!(error instanceof NotText)) throw error;
    yield { kind: 'problem', line: error.line, problem: error.problem };
    return;
  }
  if (rest.trim() !== '') yield readLine(rest, line + 1, known);
  else if (line === 0) yield { kind: 'problem', line: 1, problem: 'the file is empty' };
}

function readLine(text: string, line: number, known: ReadonlyMap<string, Column>): ReadLine {
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
  const isPlain = Object.values(parsed).every(
    (value) => value === null || typeof value === 'string',
  );
  const members = isPlain ? [] : membersOf(text);
  const written = new Map(members);
  for (const [column, value] of Object.entries(parsed)) {
    const shown = typeof value === 'string' ? value : null;
    const found = known.get(column);
    if (found === undefined) {
      const reason = 'is no column of this table';
      return refuse({ column: cutText(column, 80), value: shown, reason });
    }
    if (typeof value === 'string' || value === null) {
      values[column] = value === '' ? null : value;
    } else if (found.isJson || (typeof value === 'number' && isAmountColumn(column))) {
      values[column] = written.get(column) ?? JSON.stringify(value);
    } else {
      return refuse({ column, value: JSON.stringify(value), reason: 'must be text in quotes' });
    }
  }
  // JSON.parse keeps the last of two equal keys in silence.
  const given = isPlain ? colonsOf(text) : members.length;
  if (given !== Object.keys(values).length) return refuse('gives a key twice');
  return { kind: 'line', line, values: values satisfies RawLine };
}

/** Colons outside of texts: as many as members where all values are, and counted 3 times faster. */
function colonsOf(text: string): number {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
}

/** The members of the object on a line of valid JSON, each with the text of its value. */
function membersOf(text: string): [string, string][] {
  const members: [string, string][] = [];
  let depth = 0;
  let quoted = '';
  let open: { key: string; start: number } | null = null;
  // Texts are passed over whole, so that only marks between values are seen.
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (depth === 1 && open !== null && (token === ',' || token === '}')) {
      members.push([open.key, text.slice(open.start, index).trim()]);
      open = null;
    }
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':') {
      if (depth === 1) open = { key: JSON.parse(quoted), start: index + 1 };
    } else quoted = token;
  }
  return members;
}
