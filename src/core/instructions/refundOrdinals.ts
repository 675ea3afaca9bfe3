// The gateway numbers the refunds of a transaction: `<transaction_id>-<two digits>`. A number below
// the highest one that we know, which none of our refunds bears, is a refund that somebody made and
// nobody recorded. Evidence for a person; nothing is concluded from it. Pure.

export interface Referenced {
  operation: string;
  transaction: string;
  /** refund_reference_id; null: none is known */
  gatewayReference: string | null;
}

export interface RefundGap {
  transaction: string;
  /** references that the gateway has given and none of our refunds bears */
  missing: string[];
}

export function refundGaps(refunds: readonly Referenced[]): RefundGap[] {
  const ordinals = new Map<string, Set<number>>();
  for (const { operation, transaction, gatewayReference } of refunds) {
    const [, prefix, digits] = /^(.+)-(\d\d)$/.exec(gatewayReference ?? '') ?? [];
    if (operation !== 'refund' || prefix !== transaction) continue;
    const known = ordinals.get(transaction) ?? new Set<number>();
    ordinals.set(transaction, known.add(Number(digits)));
  }
  return [...ordinals].flatMap(([transaction, known]) => {
    const highest = Math.max(...known);
    const missing = Array.from({ length: highest }, (_, index) => index + 1)
      .filter((ordinal) => !known.has(ordinal))
      .map((ordinal) => `${transaction}-${String(ordinal).padStart(2, '0')}`);
    return missing.length === 0 ? [] : [{ transaction, missing }];
  });
}

export function gapWords({ transaction, missing }: RefundGap): string {
  return (
    `the gateway counts ${missing.length} refund(s) of transaction ${transaction} that are none ` +
    `of ours: ${missing.join(', ')}`
  );
}
