// Sections of the first sheet by account and currency: how many orders, of the date and carried
// forward, what was confirmed and what was done elsewhere. Pure: it makes lines of cells;
// neighbours: summarySheet.ts says where they stand, statement/ has what each side says of the
// money.

import type { ElsewhereRow, ReconciliationData } from '../src/core/runs/reporting.js';
import { BETWEEN_NIGHTS } from '../src/core/runs/reporting.js';
import { ORDER_CLASSES } from '../src/core/runs/summary.js';
import { MOVED_SHEET } from './columns.js';
import type { RunFigures } from './runFigures.js';
import { keyOf } from './runFigures.js';
import { hundredthsOf } from './xlsx/cells.js';
import type { Page } from './xlsx/page.js';
import {
  addCheck,
  addColumnSums,
  addSection,
  addWide,
  count,
  endLines,
  formula,
  id,
  money,
  moneyFormula,
  text,
} from './xlsx/page.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import type { Part } from './xlsx/totals.js';
import { matchingSum } from './xlsx/totals.js';

const CLASS_HEADINGS = ['Matched', 'Explained', 'Due', 'Awaited', 'Differ', 'Not compared'];

/** Each order counted once: the date's own apart from what was carried forward. */
export function addCurrencies(page: Page, { currencies }: ReconciliationData): void {
  if (currencies.length === 0) return;
  addSection(page, 'Orders by account and currency', [
    ['Account', 'Currency', 'Of the date', 'Carried forward', 'Not in ledger', ...CLASS_HEADINGS],
    ['Difference', 'At the gateway'],
  ]);
  const first = page.lines.length + 1;
  for (const line of currencies) {
    const row = page.lines.length + 1;
    const classes = ORDER_CLASSES.map((name) => line.classes[name]);
    const orders = line.ofDate + line.carried + line.gatewayOnly;
    const difference = orders - classes.reduce((sum, one) => sum + one, 0);
    page.ties &&= difference === 0;
    page.lines.push([
      id(line.accountId),
      text(line.currency === '' ? '(none)' : line.currency),
      ...[line.ofDate, line.carried, line.gatewayOnly, ...classes].map(count),
      formula(`SUM(C${row}:E${row})-SUM(F${row}:K${row})`, difference),
      count(line.atGateway),
    ]);
  }
  addCheck(page, 'L', first);
  addColumnSums(page, first, 3, 13);
}

/** What was confirmed in this run by us; what others did beside it stands in columns of its own. */
export function addMoney(
  page: Page,
  { summary: { accounts }, elsewhere }: ReconciliationData,
  { moved: parts, figures }: { moved: readonly Part[]; figures: RunFigures },
): void {
  addSection(page, 'Money confirmed in this run, by account and currency', [
    ['Account', 'Currency', 'Captured', 'Cancelled', 'Refunded', 'Net', 'Unknown'],
    ['Listed net', 'Difference', 'Captured elsewhere', 'Cancelled elsewhere'],
    ['Refunded elsewhere', 'Payouts made', 'Payout fees'],
  ]);
  const first = page.lines.length + 1;
  for (const account of accounts) {
    for (const total of account.totals) {
      const row = page.lines.length + 1;
      const net = hundredthsOf(total.captured) - hundredthsOf(total.refunded);
      const listedNet = figures.nets.get(keyOf(account.accountId, total.currency)) ?? 0n;
      page.ties &&= net === listedNet && net === hundredthsOf(total.net);
      const keys = { account_id: `$A${row}`, currency: `$B${row}` };
      const sum = (operation: string) =>
        matchingSum(MOVED_SHEET, parts, 'amount', { ...keys, operation: `"${operation}"` });
      const inputs = [total.captured, total.refunded];
      const confirmed = [total.captured, total.cancelled, total.refunded];
      const others = elsewhereOf(elsewhere, account.accountId, total.currency);
      const paid = [total.paidOut ?? '0.00', total.payoutFees ?? '0.00'];
      const style = moneyStyle(total.currency, [...confirmed, total.unknown, ...others, ...paid]);
      const onSheet = `ROUND(${sum('capture')}-${sum('refund')},2)`;
      page.lines.push([
        id(account.accountId),
        text(total.currency),
        ...confirmed.map((amount) => money(amount, style)),
        moneyFormula(`ROUND(C${row}-E${row},2)`, net, inputs, style),
        money(total.unknown, style),
        moneyFormula(onSheet, listedNet, inputs, style),
        moneyFormula(`ROUND(F${row}-H${row},2)`, net - listedNet, inputs, style),
        ...[...others, ...paid].map((amount) => money(amount, style)),
      ]);
    }
  }
  endLines(page, first, 'I');
  const words =
    'Net = captured − refunded; fees, chargebacks and payouts of the bank are not in it. ' +
    'Listed net: what the lines of the sheet Money moved come to. Elsewhere: done at the gateway ' +
    'by somebody else while our instruction for it still waited; in no other column. ' +
    'Payouts made: ' +
    'payouts whose unit is known (payout.unit in the gateway profile); in no other column. ' +
    'Payout fees: what they cost, as the gateway said; listed on the sheet Money moved. ' +
    BETWEEN_NIGHTS;
  addWide(page, words, STYLES.note);
}

function elsewhereOf(rows: readonly ElsewhereRow[], accountId: string, currency: string): string[] {
  const found = rows.find((one) => one.accountId === accountId && one.currency === currency);
  return [found?.captured ?? '0.00', found?.cancelled ?? '0.00', found?.refunded ?? '0.00'];
}
