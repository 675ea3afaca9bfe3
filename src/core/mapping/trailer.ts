// The last line of a file that says what stands above it: how many lines, what their columns come
// to. Pure: lines are counted as they go by, and held against it when it comes. A file without it
// was cut off. Neighbours: columnMap.ts names it, ledger/lines/csvLines.ts meets it.

import type { RawLine, ValueProblem } from '../ledger/ledgerRow.js';
import { type AmountsWritten, signedAmount, sumOf } from './mappedAmounts.js';

/** How the last line is known, and which of its values (from 1 on) says what. */
export interface Trailer {
  /** what stands first in it, and in no other line */
  readonly starts: string;
  /** where it says how many lines stand between the names of the columns and itself */
  readonly lines: number | null;
  /** by column of the file: where it says what that column comes to */
  readonly totals: Readonly<Record<string, number>>;
}

/** Of one file. */
export interface TrailerCheck {
  /** The next line below the names of the columns. */
  count(values: RawLine): void;
  isTrailer(record: readonly string[]): boolean;
  /** What the trailer says otherwise than the lines before it. */
  problems(record: readonly string[]): ValueProblem[];
  /** Said where a file ends without one. */
  readonly missing: string;
}

export function trailerCheck(
  { starts, lines: linesAt, totals }: Trailer,
  written: AmountsWritten,
): TrailerCheck {
  let lines = 0;
  const sums = new Map(Object.keys(totals).map((column) => [column, '0.00']));
  const linesProblem = (record: readonly string[]): ValueProblem[] => {
    const value = linesAt === null ? null : (record[linesAt - 1] ?? '').trim();
    if (value === null || (/^\d{1,15}$/.test(value) && Number(value) === lines)) return [];
    return [{ column: starts, value, reason: `says how many lines there are: ${lines} were read` }];
  };
  const totalProblem = (column: string, at: number, record: readonly string[]): ValueProblem[] => {
    const value = record[at - 1] ?? '';
    const said = signedAmount(written, value);
    const sum = sums.get(column) ?? '0.00';
    if (said !== null && sumOf([said]) === sum) return [];
    return [{ column: starts, value, reason: `says what ${column} comes to: it comes to ${sum}` }];
  };
  return {
    missing: `the last line does not begin with ${JSON.stringify(starts)}: the file was cut off`,
    count(values) {
      lines += 1;
      for (const [column, sum] of sums) {
        // What is no amount is refused where the map reads it.
        const amount = signedAmount(written, values[column] ?? '');
        if (amount !== null) sums.set(column, sumOf([sum, amount]));
      }
    },
    isTrailer: ([first]) => first?.trim() === starts,
    problems: (record) => [
      ...linesProblem(record),
      ...Object.entries(totals).flatMap(([column, at]) => totalProblem(column, at, record)),
    ],
  };
}
