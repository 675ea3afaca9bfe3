// Works the formulas of a workbook out again, without looking at the values stored beside them: the
// few functions that our reports use, as a spreadsheet computes them. Only for tests.

import { compileFunction } from 'node:vm';
import type { Cell, Workbook, Worksheet } from 'exceljs';
import { sheetOf } from './openXlsx.js';

type Value = number | string | null;

export interface Evaluated {
  cell: string;
  formula: string;
  stored: unknown;
  workedOut: Value;
}

/** Every formula of the workbook with its stored and its worked-out value. */
export function evaluateAll(workbook: Workbook): Evaluated[] {
  const found: Evaluated[] = [];
  const known: Known = new Map();
  for (const sheet of workbook.worksheets) {
    sheet.eachRow((row) => {
      row.eachCell((cell) => {
        if (!cell.formula) return;
        const cellName = `${sheet.name}!${cell.address}`;
        // The library reads a stored 0 as nothing.
        const stored = cell.result ?? 0;
        const workedOut = workOut(workbook, sheet, cell, known);
        found.push({ cell: cellName, formula: cell.formula, stored, workedOut });
      });
    });
  }
  return found;
}

/** Formulas that are worked out, by sheet and cell: sums of sums would come to each of them often. */
type Known = Map<string, Value>;

function workOut(workbook: Workbook, sheet: Worksheet, cell: Cell, known: Known): Value {
  if (!cell.formula) return cell.value as Value;
  const place = `${sheet.name}!${cell.address}`;
  const before = known.get(place);
  if (before !== undefined) return before;
  const range = (name: string, from: string, to: string): Value[] => {
    const target = name === '' ? sheet : sheetOf(workbook, name);
    const [first, last] = [target.getCell(from), target.getCell(to)];
    const values: Value[] = [];
    for (let row = first.fullAddress.row; row <= last.fullAddress.row; row += 1) {
      for (let column = first.fullAddress.col; column <= last.fullAddress.col; column += 1) {
        values.push(workOut(workbook, target, target.getCell(row, column), known));
      }
    }
    return values;
  };
  const compute = compileFunction(`return ${toScript(cell.formula)}`, NAMES);
  const worked = compute(range, ...Object.values(FUNCTIONS)) as Value;
  known.set(place, worked);
  return worked;
}

const REFERENCE =
  /"[^"]*"|(?:'([^']+)'!)?\$?([A-Z]{1,3})\$?(\d+)(?::\$?([A-Z]{1,3})\$?(\d+))?(?![(\w])/g;

function toScript(formula: string): string {
  const script = formula.replace(REFERENCE, (match, sheet, column, row, lastColumn, lastRow) => {
    if (match.startsWith('"')) return match;
    const from = JSON.stringify(`${column}${row}`);
    if (lastColumn === undefined) return `range(${JSON.stringify(sheet ?? '')},${from},${from})[0]`;
    return `range(${JSON.stringify(sheet ?? '')},${from},${JSON.stringify(lastColumn + lastRow)})`;
  });
  return script
    .replace(/--\((range\([^)]*\))([<>])0\)/g, 'SIGNED($1,"$2")')
    .replace(/--\((range\([^)]*\))=(range\([^)]*\)\[0\])\)/g, 'EQUAL($1,$2)')
    .replaceAll('--EXACT', 'EXACT')
    .replaceAll('=0,', '===0,');
}

function sum(values: readonly unknown[]): number {
  return values.reduce<number>(
    (total, value) => total + (typeof value === 'number' ? value : 0),
    0,
  );
}

function rowsMatching(pairs: readonly unknown[]): number[] {
  const [first] = pairs as Value[][];
  return (first ?? []).map((_, row) => {
    for (let i = 0; i < pairs.length; i += 2) {
      const matches = meets((pairs[i] as Value[])[row] ?? null, pairs[i + 1]);
      if (!matches) return 0;
    }
    return 1;
  });
}

/** A criterion: equal, or one of ">=2" and "<=7". */
function meets(value: Value, criterion: unknown): boolean {
  const [, sign, limit] = /^([<>])=(\d+)$/.exec(String(criterion)) ?? [];
  if (sign === undefined) return value === criterion;
  if (typeof value !== 'number') return false;
  return sign === '>' ? value >= Number(limit) : value <= Number(limit);
}

const FUNCTIONS = {
  HYPERLINK: (_to: Value, shown: Value) => shown,
  SIGNED: (values: Value[], sign: string) =>
    values.map((value) => {
      if (typeof value !== 'number') return 0;
      return Number(sign === '>' ? value > 0 : value < 0);
    }),
  IF: (test: boolean, yes: Value, no: Value) => (test ? yes : no),
  SUM: (...values: unknown[]) => sum(values.flat()),
  ABS: (values: Value[]) => values.map((value) => Math.abs(Number(value))),
  ROUND: (value: number, decimals: number) => {
    const shifted = Math.round(Math.abs(value) * 10 ** decimals + 1e-6) / 10 ** decimals;
    return value < 0 ? -shifted : shifted;
  },
  // Of text a spreadsheet compares more loosely than this: only numbers and dates are given to it.
  EQUAL: (values: Value[], one: Value) =>
    values.map((value) => (Number(value) === Number(one) ? 1 : 0)),
  EXACT: (values: Value[], text: Value) =>
    values.map((value) => ((value ?? '') === (text ?? '') ? 1 : 0)),
  SUMPRODUCT: (...columns: Value[][]) =>
    sum(
      (columns[0] ?? []).map((_, row) =>
        columns.reduce((product, column) => {
          const value = column[row];
          return product * (typeof value === 'number' ? value : 0);
        }, 1),
      ),
    ),
  SUBTOTAL: (_kind: number, values: Value[]) => values.filter((value) => value !== null).length,
  COUNTIFS: (...pairs: unknown[]) => sum(rowsMatching(pairs)),
  SUMIFS: (values: Value[], ...pairs: unknown[]) => {
    const matching = rowsMatching(pairs);
    return sum(values.filter((_, row) => matching[row] === 1));
  },
};

/** What a formula calls. */
const NAMES = ['range', ...Object.keys(FUNCTIONS)];
