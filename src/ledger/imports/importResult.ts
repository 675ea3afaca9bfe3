// What an import says of itself: counts, or the lines that were refused. Owns the limit of refused
// lines, how a refused value is shown, and the words of the result. Never shows a card number.
// Neighbours: tableImport.ts and importResponses.ts make results, cli/ledger/import.ts prints them.

import type { ValueProblem } from '../../core/ledger/ledgerRow.js';
import { cutText } from '../../core/text/heldText.js';
import { maskCardNumbers } from '../../core/text/masking.js';

/** An import stops at this many refused lines: the file as a whole is then the problem. */
export const MAX_PROBLEMS = 20;

const SHOWN_VALUE_LENGTH = 80;

export interface ImportProblem {
  readonly file: string;
  /** null: the file as a whole. */
  readonly line: number | null;
  readonly column: string | null;
  readonly value: string | null;
  readonly reason: string;
  /** of the column as a whole: there is no value */
  readonly isHeader?: true;
}

export interface ImportCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
}

export type ImportResult =
  | ({
      readonly kind: 'imported';
      /** true: --check; the counts say what would have happened. */
      readonly check: boolean;
      readonly warnings: readonly string[];
    } & ImportCounts)
  | {
      readonly kind: 'refused';
      readonly problems: readonly ImportProblem[];
      /** true: reading stopped at MAX_PROBLEMS, there may be more. */
      readonly more: boolean;
    };

export interface ProblemList {
  readonly problems: ImportProblem[];
  add(file: string, line: number | null, problem: ValueProblem | string): void;
  isFull(): boolean;
}

export function problemList(): ProblemList {
  const problems: ImportProblem[] = [];
  return {
    problems,
    add(file, line, problem) {
      if (problems.length >= MAX_PROBLEMS) return;
      if (typeof problem === 'string') {
        problems.push({ file, line, column: null, value: null, reason: problem });
        return;
      }
      const { column, value, reason, isHeader } = problem;
      const said = { file, line, column, value: shown(column, value), reason };
      problems.push(isHeader ? { ...said, isHeader } : said);
    },
    isFull: () => problems.length >= MAX_PROBLEMS,
  };
}

export function refusal(list: ProblemList): ImportResult {
  return { kind: 'refused', problems: list.problems, more: list.isFull() };
}

/** The result in words, without a line break at its end. */
export function formatImport(result: ImportResult): string {
  if (result.kind === 'refused') return refusedLines(result);
  const { inserted, updated, unchanged, skipped } = result;
  const written = `inserted ${inserted}, updated ${updated}`;
  const counts = `${written}, unchanged ${unchanged}, skipped ${skipped}`;
  const head = result.check ? `check only, nothing was written: ${counts}` : counts;
  return [head, ...result.warnings.map((warning) => `warning: ${warning}`)].join('\n');
}

export function refusedLines({
  problems,
  more,
}: {
  readonly problems: readonly ImportProblem[];
  readonly more: boolean;
}): string {
  const lines = problems.map(problemLine);
  if (more) lines.push(`stopped at ${MAX_PROBLEMS} problems, there may be more`);
  return ['refused, nothing was imported', ...lines].join('\n  ');
}

function problemLine({ file, line, column, value, reason, isHeader }: ImportProblem): string {
  const where = line === null ? file : `${file} line ${line}`;
  if (column === null) return `${where}: ${reason}`;
  if (isHeader) return `${where}: column ${JSON.stringify(column)} ${reason}`;
  return `${where}: ${column} ${value === null ? '(empty)' : JSON.stringify(value)}: ${reason}`;
}

/** Order numbers are never altered; one in ten would pass for a card number. */
function shown(column: string | null, value: string | null): string | null {
  if (value === null) return null;
  const text = column === 'order_no' ? value : maskCardNumbers(value);
  return text.length > SHOWN_VALUE_LENGTH ? `${cutText(text, SHOWN_VALUE_LENGTH)}...` : text;
}
