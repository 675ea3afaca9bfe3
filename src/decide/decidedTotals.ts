// What a workbook of decisions does, or would do, in all: how many rows of each decision, with
// their money, by what they wait for, and the two halves of a waiver apart: the first person only
// asks for it, the second one agrees. The same on page and terminal and in the record. Pure.

import { type MoneySum, sumMoney } from '../core/money.js';
import { countText } from '../core/text/amounts.js';
import type { DecidedRow } from './decideWorkbook.js';

interface DecidedTotal extends MoneySum {
  what: string;
  rows: number;
}

/** Of what is not refused or unchanged, in the order of the workbook. */
export function decidedTotals(rows: readonly DecidedRow[]): DecidedTotal[] {
  const done = rows.filter(({ result }) => result === 'done');
  return [...new Set(done.map(whatOf))].map((what) => {
    const mine = done.filter((row) => whatOf(row) === what);
    const money = mine.map(({ order }) => order ?? { amount: null, currency: null });
    return { what, rows: mine.length, ...sumMoney(money) };
  });
}

function whatOf({ of, order, decision, isAsked, isSecond }: DecidedRow): string {
  const how = isAsked ? ONLY_ASKED : isSecond ? AS_SECOND : '';
  const why = order?.waitsFor ? `, waiting because ${order.waitsFor}` : '';
  return `${decision.toLowerCase()}, ${of}s${how}${why}`;
}

const ONLY_ASKED = ': only asked for, a second person has to agree';
const AS_SECOND = ': agreed to as the second person';

/** "2 done, 0 refused, 0 unchanged" */
export function resultWords(rows: readonly DecidedRow[], done: string): string {
  const count = (result: DecidedRow['result']): string =>
    countText(rows.filter((row) => row.result === result).length);
  return `${count('done')} ${done}, ${count('refused')} refused, ${count('unchanged')} unchanged`;
}
