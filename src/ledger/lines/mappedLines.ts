// A shop's own export as lines of the ledger: csvLines.ts reads it with the shape that the map
// names, core/ledger/columnMap.ts translates each line. Lines that the map leaves out are counted
// by why.

import { basename } from 'node:path';
import type { ColumnMap } from '../../core/ledger/columnMap.js';
import { columnsRead, mapLines } from '../../core/ledger/columnMap.js';
import { trailerCheck } from '../../core/ledger/trailer.js';
import { csvChunks } from './csvLines.js';
import type { ReadLine } from './inputText.js';

/** How many lines were left out, by why. */
export type LeftOut = Map<string, number>;

/** Reasons named one by one; what is left is one number. */
const REASONS_MAX = 20;

export async function* mappedLines(
  file: string,
  map: ColumnMap,
  leftOut: LeftOut,
): AsyncGenerator<ReadLine> {
  for await (const chunk of mappedChunks(file, map, leftOut)) yield* chunk;
}

/** The same in chunks as they are read. */
export async function* mappedChunks(
  file: string,
  map: ColumnMap,
  leftOut: LeftOut,
): AsyncGenerator<readonly ReadLine[]> {
  const { separator, encoding, headerLine } = map;
  const trailer = map.trailer === null ? null : trailerCheck(map.trailer, map);
  const shape = { separator, encoding, othersToo: true, headerLine, trailer };
  const fileName = basename(file);
  for await (const chunk of csvChunks(file, columnsRead(map), shape)) {
    yield chunk.flatMap((found) => mapped(map, found, { fileName, leftOut }));
  }
}

function mapped(
  map: ColumnMap,
  found: ReadLine,
  { fileName, leftOut }: { fileName: string; leftOut: LeftOut },
): ReadLine | ReadLine[] {
  if (found.kind === 'problem') return found;
  const { line } = found;
  const lines: ReadLine[] = [];
  for (const one of mapLines(map, found.values, fileName)) {
    if (one.kind === 'line') lines.push({ kind: 'line', line, values: one.values });
    else if (one.kind === 'left_out') count(leftOut, one.why);
    else lines.push({ kind: 'problem', line, problem: one.problem });
  }
  return lines;
}

export function leftOutWarnings(leftOut: LeftOut): string[] {
  return [...leftOut].map(([why, lines]) => `${lines} left out by the map: ${why}`);
}

function count(leftOut: LeftOut, why: string): void {
  const name = leftOut.has(why) || leftOut.size < REASONS_MAX ? why : 'other reasons';
  leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
}
