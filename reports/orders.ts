// Every order of a run in a file of its own. Rows come in as a stream and memory stays flat however
// many they are; the totals stand on the last sheet, since they are known only then. It decides
// nothing. Neighbours: columns.ts (ORDERS), table.ts, reconciliation.ts (the sheet About this run).

import { formatAmount } from '../src/core/money.js';
import type { RowDigest } from '../src/core/rowDigest.js';
import { orderRowDigest } from '../src/core/rowDigest.js';
import type { AboutData, OrderRow, WrittenReport } from '../src/core/runs/reporting.js';
import { classLabel } from '../src/core/text/labels.js';
import { ORDERS } from './columns.js';
import { bookProperties, writeAbout } from './reconciliation.js';
import type { SideTotals } from './statement/sideTotals.js';
import { addSides, writeSides } from './statement/sideTotals.js';
import { reachOf } from './summarySheet.js';
import { addsExactly, freeText, hundredthsOf, moneyCell, wallClock } from './xlsx/cells.js';
import type { Cell } from './xlsx/format/cellXml.js';
import { moneyStyle, STYLES } from './xlsx/styles.js';
import { writeTable } from './xlsx/table.js';
import type { Matching, Part } from './xlsx/totals.js';
import { matchingCount, matchingSum } from './xlsx/totals.js';
import type { Book } from './xlsx/workbook.js';
import { closeSheet, openSheet, putRow, writeWorkbook } from './xlsx/workbook.js';

interface OrdersOptions {
  /** Lowered only by tests: a spreadsheet's own limit otherwise. */
  rowsPerSheet?: number;
}

export async function writeOrders(
  path: string,
  about: AboutData,
  rows: AsyncIterable<readonly OrderRow[]>,
  options: OrdersOptions = {},
): Promise<WrittenReport> {
  const environment = about.environment.toUpperCase();
  const rowDigests: Record<string, string> = {};
  const written = await writeWorkbook(path, bookProperties('Orders', about), async (book) => {
    const totals: Totals = new Map();
    const sides: SideTotals = new Map();
    const digest = orderRowDigest();
    const parts = await writeTable(
      book,
      {
        name: 'Orders',
        table: ORDERS,
        top: [
          [
            {
              value: freeText(`Orders ${about.businessDate} (${environment})`),
              style: STYLES.title,
            },
          ],
          [
            {
              value: `${reachOf(about)} Totals: the two sheets after the orders.`,
              style: STYLES.quiet,
            },
          ],
        ],
        timezone: about.timezone,
        clock: wallClock(about.timezone),
        ...options,
      },
      counting(rows, totals, sides, digest),
    );
    await writeTotals(book, totals, parts);
    await writeSides(book, sides, parts);
    rowDigests.orders = digest.end();
    await writeAbout(book, { ...about, digests: { ...about.digests, ...rowDigests } });
  });
  return { ...written, rowDigests };
}

interface GroupTotal {
  class: string;
  currency: string;
  orders: number;
  ledger: bigint;
  gateway: bigint;
  /** Whether every amount in it stands in its cell as a number. */
  fits: boolean;
}

/** By class, then by currency. */
type Totals = Map<string, Map<string, GroupTotal>>;

/** Hands the rows on as they come and adds them up on the way. */
async function* counting(
  chunks: AsyncIterable<readonly OrderRow[]>,
  totals: Totals,
  sides: SideTotals,
  digest: RowDigest,
): AsyncGenerator<readonly OrderRow[]> {
  for await (const rows of chunks) {
    for (const row of rows) {
      addOrder(totals, row);
      addSides(sides, row);
    }
    digest.add(rows);
    yield rows;
  }
}

function addOrder(totals: Totals, row: OrderRow): void {
  const total = totalOf(totals, row.class, row.currency ?? '');
  total.orders += 1;
  total.ledger += hundredthsOf(row.ledgerAmount);
  total.fits &&= addsExactly(row.ledgerAmount);
  if (row.gatewayAmount === null) return;
  // Nearly always the same one; what the gateway shows in another currency is summed there.
  const { gatewayCurrency } = row;
  const shown =
    gatewayCurrency === row.currency ? total : totalOf(totals, row.class, gatewayCurrency ?? '');
  shown.gateway += hundredthsOf(row.gatewayAmount);
  shown.fits &&= addsExactly(row.gatewayAmount);
}

function totalOf(totals: Totals, className: string, currency: string): GroupTotal {
  const known = totals.get(className)?.get(currency);
  if (known !== undefined) return known;
  const total = { class: className, currency, orders: 0, ledger: 0n, gateway: 0n, fits: true };
  const ofClass = totals.get(className) ?? new Map<string, GroupTotal>();
  totals.set(className, ofClass.set(currency, total));
  return total;
}

/** A gateway may show anything as a currency; other texts need the slower, exact comparison. */
const PLAIN_CURRENCY = /^[A-Z]{3}$/;
const HEADINGS = [
  'Class',
  'Currency',
  'Orders',
  'Ledger amount',
  'Gateway amount',
  'Gateway − ledger',
];

/** What a reader would otherwise take for a difference. */
const TOTALS_NOTES = [
  'What each side shows, added up. An order that the gateway does not have counts on one side,',
  'also where that is as it should be; a text that is no amount (wrong shape) counts as nothing.',
];

async function writeTotals(book: Book, totals: Totals, parts: readonly Part[]): Promise<void> {
  const sheet = await openSheet(book, 'Totals', {
    widths: [16, 12, 14, 24, 24, 24],
    frozenRows: 1,
    frozenColumns: 0,
    repeatedRows: '1:1',
  });
  await putRow(
    sheet,
    HEADINGS.map((value, index) => ({ value, style: index < 2 ? STYLES.head : STYLES.headRight })),
  );
  const sorted = inOrder(totals).flatMap(inOrder);
  const matching = sorted.every(({ currency }) => PLAIN_CURRENCY.test(currency))
    ? 'words'
    : 'exact';
  for (const total of sorted) {
    await putRow(sheet, totalLine(total, sheet.row + 1, parts, matching));
  }
  await putRow(sheet, []);
  for (const value of TOTALS_NOTES) await putRow(sheet, [{ value, style: STYLES.quiet }]);
  await closeSheet(sheet);
}

function inOrder<T>(groups: ReadonlyMap<string, T>): T[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function totalLine(
  total: GroupTotal,
  row: number,
  parts: readonly Part[],
  matching: Matching,
): Cell[] {
  const keys = { class: `$A${row}`, currency: `$B${row}` };
  const shown = { class: `$A${row}`, gateway_currency: `$B${row}` };
  const style = moneyStyle(total.currency, [total.ledger, total.gateway].map(formatAmount));
  const moneyCellOf = (amount: bigint, formula: string): Cell => {
    const shown = formatAmount(amount);
    const result = moneyCell(shown);
    const isLive = total.fits && typeof result === 'number';
    return { value: isLive ? { formula, result } : shown, style };
  };
  const counted = { formula: matchingCount(ORDERS, parts, keys, matching), result: total.orders };
  return [
    { value: freeText(classLabel(total.class)), style: STYLES.text },
    { value: freeText(total.currency), style: STYLES.text },
    { value: counted, style: STYLES.count },
    moneyCellOf(total.ledger, matchingSum(ORDERS, parts, 'ledger_amount', keys, matching)),
    moneyCellOf(total.gateway, matchingSum(ORDERS, parts, 'gateway_amount', shown, matching)),
    moneyCellOf(total.gateway - total.ledger, `ROUND(E${row}-D${row},2)`),
  ];
}
