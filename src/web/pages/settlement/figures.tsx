// Figures of settlement as links to the rows that they are the sum of. Neighbours: settlement.tsx
// has the books, figureRows.tsx the rows.

import type { Words } from '../../format.js';
import { Figure, Name } from '../../layout/parts.js';
import type { Visit } from '../../visit.js';
import { seesConfigured } from '../../visitor/filters.js';

/** What a figure is of; `open` is the closing at the gateway, `suspense` counts some of it. */
export const FIGURES = {
  captured: 'Captured',
  refunded: 'Refunded',
  settled: 'Settled',
  open: 'At the gateway: captured less refunded less settled',
  suspense: 'In suspense: refunds made elsewhere of an amount that nobody knows',
  gross: 'Gross of captured and refunded lines',
  fees: 'Fees',
  chargebacks: 'Chargebacks, less those reversed',
  other: 'Reserves, balances carried over, adjustments',
  paidOut: 'Paid out, not yet arrived',
} as const;
export type FigureName = keyof typeof FIGURES;

export function figurePath(of: FigureName, accountId: string, currency: string): string {
  return `/settlement/rows?${new URLSearchParams({ account: accountId, currency, of })}`;
}

export function batchPath(accountId: string, batch: string): string {
  return `/settlement/${encodeURIComponent(accountId)}/${encodeURIComponent(batch)}`;
}

export function BatchLink({ accountId, batch }: { accountId: string; batch: string }) {
  return (
    <a href={batchPath(accountId, batch)}>
      <Name name={batch} />
    </a>
  );
}

/** Nowhere for who may see accounts alone that left the configuration. */
export function BackToSettlement({ visit }: { visit: Visit }) {
  return seesConfigured(visit) ? <a href="/settlement">Back to settlement</a> : null;
}

export function FigureLink(props: {
  of: FigureName;
  accountId: string;
  currency: string;
  amount: string;
  /** the head of its column */
  name: string;
  words: Words;
}) {
  const { of, accountId, currency, amount, name, words } = props;
  return (
    <Figure name={name}>
      <a href={figurePath(of, accountId, currency)}>{words.amount(amount, currency)}</a>
    </Figure>
  );
}
