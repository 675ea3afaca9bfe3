// A shop's own export as lines of the ledger: csvLines.ts reads it with the shape that the map
// names, core/mapping/columnMap.ts translates each line. Lines that the map leaves out are counted
// by why.

import { basename } from 'node:path';
import type { ColumnMap } from '../../core/mapping/columnMap.js';
import { columnsRead, mapLines } from '../../core/mapping/columnMap.js';
import { trailerCheck } from '../../core/mapping/trailer.js';
import { countText } from '../../core/text/amounts.js';
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
    const lines: ReadLine[] = [];
    for (const found of chunk) {
      if (found.kind === 'problem') lines.push(found);
      else takeMapped(lines, found.line, mapLines(map, found.values, fileName), leftOut);
    }
    yield lines;
  }
}

function takeMapped(
  lines: ReadLine[],
  line: number,
  mapped: ReturnType<typeof mapLines>,
  leftOut: LeftOut,
): void {
  for (const one of mapped) {
    if (one.kind === 'line') lines.push({ kind: 'line', line, values: one.values });
    else if (one.kind === 'left_out') count(leftOut, one.why);
    else lines.push({ kind: 'problem', line, problem: one.problem });
  }
}

export function leftOutWarnings(leftOut: LeftOut): string[] {
  return [...leftOut].map(([why, lines]) => `${countText(lines)} left out by the map: ${why}`);
}

function count(leftOut: LeftOut, why: string): void {
  const name = leftOut.has(why) || leftOut.size < REASONS_MAX ? why : 'other reasons';
  leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
}
