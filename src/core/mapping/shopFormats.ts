// The exports of shops that a map of ours reads, known by their first line: somebody who imports
// one without a map is told which. Neighbours: docs/maps has the maps, ledger/lines/csvLines.ts
// asks.

import type { MappedTable } from './columnMap.js';

interface ShopExport {
  readonly shop: string;
  readonly table: MappedTable;
  /** a file of docs/maps */
  readonly map: string;
  /** columns that no other export has together */
  readonly columns: readonly string[];
}

export const SHOP_EXPORTS: readonly ShopExport[] = [
  {
    shop: 'Shopify',
    table: 'orders',
    map: 'shopify.yaml',
    columns: ['Name', 'Financial Status', 'Fulfillment Status'],
  },
  {
    shop: 'Shopify',
    table: 'refunds',
    map: 'shopify-refunds.yaml',
    columns: ['Name', 'Kind', 'Gateway', 'Created At', 'Amount'],
  },
  {
    shop: 'WooCommerce',
    table: 'orders',
    map: 'woocommerce.yaml',
    columns: ['order_number', 'order_date', 'order_total', 'order_currency'],
  },
  {
    shop: 'WooCommerce',
    table: 'refunds',
    map: 'woocommerce-refunds.yaml',
    columns: ['order_number', 'order_date', 'refund_items'],
  },
  {
    shop: 'Magento',
    table: 'orders',
    map: 'magento.yaml',
    columns: ['Purchase Date', 'Grand Total (Purchased)', 'Status'],
  },
];

/** What to say of a first line that is a shop's own; null where no shop is known by it. */
export function shopHint(header: readonly string[], columns: readonly string[]): string | null {
  const table: MappedTable = columns.includes('refund_id') ? 'refunds' : 'orders';
  // A file with another separator is one column to the reader.
  const names = header.length === 1 ? (header[0] ?? '').split(/[;\t|]/) : header;
  const plain = names.map((name) => name.replaceAll('"', '').trim());
  const found = SHOP_EXPORTS.find(
    (one) => one.table === table && one.columns.every((name) => plain.includes(name)),
  );
  if (found === undefined) return null;
  return (
    `looks like ${found.table} as ${found.shop} exports them: read it with --map, ` +
    `beginning with a copy of docs/maps/${found.map}`
  );
}
