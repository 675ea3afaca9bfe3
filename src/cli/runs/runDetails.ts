// What stands behind two figures of a run: the orders that were not plainly asked and answered,
// and what took yesterday's open breaks to today's. Text for `tieout runs show`; nothing is counted
// here.

import type { MovedBreak } from '../../breaks/breaksStore.js';
import type { ComparedWith } from '../../core/breaks/change.js';
import { comparedWords } from '../../core/breaks/change.js';
import { breakSentence, namesIn } from '../../core/breaks/sentence.js';
import { coverageLabel } from '../../core/orders/coverage.js';
import type { RunSummary } from '../../core/runs/summary.js';
import { moneyIn } from '../../core/text/amounts.js';
import { causeLabel, labelOf, labelStates } from '../../core/text/labels.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type { CoverageRow } from '../../pull/snapshot/coverageStore.js';
import { tieText } from './summaryText.js';

/** Lines of each, as text and as JSON; what is beyond is counted. */
export const DETAILS_MAX = 10_000;

export function coverageLines(summary: RunSummary, rows: readonly CoverageRow[]): string[] {
  const head = summary.accounts.map((account) => {
    const missing = account.notSearched.map(labelOf).join(', ');
    return missing === ''
      ? `${account.accountId}: the whole window was searched`
      : `${account.accountId}: not searched for orders that are ${missing}: ` +
          'orders are asked by number';
  });
  const lines = rows.map((row) => {
    const page = row.pageNo === null ? '' : `, page ${row.pageNo}`;
    const why = row.reason === null ? '' : ` (${row.reason})`;
    return `  ${row.accountId} ${row.orderNo}${page}: ${coverageLabel(row.how)}${why}`;
  });
  const none = '  every order was asked and answered with an entry';
  return [...head, ...(lines.length === 0 ? [none] : lines)];
}

export function tieLines(
  summary: RunSummary,
  since: readonly ComparedWith[],
  moved: readonly MovedBreak[],
): string[] {
  const ofAccounts = summary.accounts.flatMap((account) => {
    const { tie, accountId } = account;
    const mine = moved.filter((one) => one.accountId === accountId);
    return [
      `${accountId}: ${tieText(tie)}`,
      ...mine.map(movedLine),
      ...(mine.length === 0 ? ['  nothing moved'] : []),
    ];
  });
  return [comparedWords(since), ...ofAccounts];
}

const SIGNS: Readonly<Record<MovedBreak['event'], string>> = {
  opened: '+ new',
  reopened: '+ reopened',
  waived: '- waived',
  resolved: '- resolved',
};

function movedLine(one: MovedBreak): string {
  const money = one.amount === null ? '' : ` ${moneyIn(one.amount, one.currency)}`;
  const why =
    one.cause === null
      ? one.event === 'waived'
        ? `by ${one.by}: ${one.reason}`
        : labelStates(breakSentence(one.kind, one.expected, one.actual))
      : causeLabel(one.cause);
  const what = `${one.orderNo} ${labelOf(one.kind)}${money}`;
  const line = `  ${SIGNS[one.event].padEnd(10)}  ${what}: ${why}`;
  return maskCardNumbers(line, namesIn(one));
}
