// What each side of the file of all orders comes to, by account and currency: the same figures as
// on the statement of the night, as live sums over the orders themselves. Each amount counts in its
// own currency. Pure but for writing its sheet; neighbours: orders.ts, statementSheet.ts.

import { formatAmount } from '../../src/core/money.js';
import type { OrderRow } from '../../src/core/runs/reporting.js';
import { ORDERS } from '../columns.js';
import { addsExactly, freeText, hundredthsOf, idText, moneyCell } from '../xlsx/cells.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import { moneyStyle, STYLES } from '../xlsx/styles.js';
import type { Matching, Part } from '../xlsx/totals.js';
import { matchingSum } from '../xlsx/totals.js';
import type { Book } from '../xlsx/workbook.js';
import { closeSheet, openSheet, putRow } from '../xlsx/workbook.js';

interface SideTotal {
  accountId: string;
  currency: string;
  /** in the order of SUMS */
  sums: bigint[];
  /** Whether every amount in it stands in its cell as a number. */
  fits: boolean;
}

/** By account, then by currency. */
export type SideTotals = Map<string, Map<string, SideTotal>>;

const SUMS = [
  { key: 'ledger_captured', heading: 'Ledger captured', currency: 'currency' },
  { key: 'gateway_captured', heading: 'Gateway captured', currency: 'gateway_currency' },
  { key: 'ledger_refunded', heading: 'Ledger refunded', currency: 'currency' },
  { key: 'gateway_refunded', heading: 'Gateway refunded', currency: 'gateway_currency' },
] as const;

export function addSides(totals: SideTotals, row: OrderRow): void {
  const { accountId, currency, gatewayCurrency } = row;
  add(totals, accountId, currency, 0, row.ledgerCaptured);
  add(totals, accountId, gatewayCurrency, 1, row.gatewayCaptured);
  add(totals, accountId, currency, 2, row.ledgerRefunded);
  add(totals, accountId, gatewayCurrency, 3, row.gatewayRefunded);
}

function add(
  totals: SideTotals,
  accountId: string,
  shown: string | null,
  at: number,
  amount: string | null,
): void {
  if (amount === null) return;
  const currency = shown ?? '';
  const ofAccount = totals.get(accountId) ?? new Map<string, SideTotal>();
  const total = ofAccount.get(currency) ?? {
    accountId,
    currency,
    sums: [0n, 0n, 0n, 0n],
    fits: true,
  };
  total.sums[at] = (total.sums[at] ?? 0n) + hundredthsOf(amount);
  total.fits &&= addsExactly(amount);
  totals.set(accountId, ofAccount.set(currency, total));
}

export async function writeSides(
  book: Book,
  totals: SideTotals,
  parts: readonly Part[],
): Promise<void> {
  const sheet = await openSheet(book, 'Captured and refunded', {
    widths: [16, 12, 24, 24, 24, 24],
    frozenRows: 1,
    frozenColumns: 0,
    repeatedRows: '1:1',
  });
  await putRow(
    sheet,
    ['Account', 'Currency', ...SUMS.map(({ heading }) => heading)].map((value, at) => ({
      value,
      style: at < 2 ? STYLES.head : STYLES.headRight,
    })),
  );
  const all = [...totals.values()].flatMap((ofAccount) => [...ofAccount.values()]);
  const matching = all.every(isPlain) ? 'words' : 'exact';
  for (const total of all) await putRow(sheet, lineOf(total, sheet.row + 1, parts, matching));
  await closeSheet(sheet);
}

/** Other keys need the slower, exact comparison: a spreadsheet takes "0010" for 10. */
function isPlain({ accountId, currency }: SideTotal): boolean {
  return /^[A-Z][A-Z0-9_-]*$/.test(accountId) && /^[A-Z]{3}$/.test(currency);
}

function lineOf(
  { accountId, currency, sums, fits }: SideTotal,
  row: number,
  parts: readonly Part[],
  matching: Matching,
): (Cell | null)[] {
  const style = moneyStyle(currency, sums.map(formatAmount));
  const cells = SUMS.map(({ key, currency: of }, at): Cell => {
    const shown = formatAmount(sums[at] ?? 0n);
    const result = moneyCell(shown);
    const keys = { account_id: `$A${row}`, [of]: `$B${row}` };
    const isLive = fits && typeof result === 'number';
    const formula = matchingSum(ORDERS, parts, key, keys, matching);
    return { value: isLive ? { formula, result } : shown, style };
  });
  return [
    { value: idText(accountId), style: STYLES.text },
    { value: freeText(currency), style: STYLES.text },
    ...cells,
  ];
}
