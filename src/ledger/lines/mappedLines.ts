// A shop's own export as lines of the ledger: csvLines.ts reads it with the shape that the map
// names, core/ledger/columnMap.ts translates each line. Lines that the map leaves out are counted
// by why.

import { basename } from 'node:path';
import type { ColumnMap } from '../../core/ledger/columnMap.js';
import { columnsRead, mapLines } from '../../core/ledger/columnMap.js';
import { trailerCheck } from '../../core/ledger/trailer.js';
import { csvLines } from './csvLines.js';
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
  const { separator, encoding, headerLine } = map;
  const trailer = map.trailer === null ? null : trailerCheck(map.trailer, map);
  const fileName = basename(file);
  for await (const found of csvLines(file, columnsRead(map), {
    separator,
    encoding,
    othersToo: true,
    headerLine,
    trailer,
  })) {
    if (found.kind === 'problem') {
      yield found;
      continue;
    }
    for (const mapped of mapLines(map, found.values, fileName)) {
      if (mapped.kind === 'line') yield { kind: 'line', line: found.line, values: mapped.values };
      else if (mapped.kind === 'left_out') count(leftOut, mapped.why);
      else yield { kind: 'problem', line: found.line, problem: mapped.problem };
    }
  }
}

export function leftOutWarnings(leftOut: LeftOut): string[] {
  return [...leftOut].map(([why, lines]) => `${lines} left out by the map: ${why}`);
}

function count(leftOut: LeftOut, why: string): void {
  const name = leftOut.has(why) || leftOut.size < REASONS_MAX ? why : 'other reasons';
  leftOut.set(name, (leftOut.get(name) ?? 0) + 1);
}
