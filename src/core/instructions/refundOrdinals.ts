// The gateway numbers the refunds of a transaction: `<transaction_id>-<two digits>`. A number below
// the highest one that we know, which none of our refunds bears, is a refund that somebody made and
// nobody recorded, unless it is one of ours of which no number was told. Evidence for a person;
// nothing is concluded from it. Pure.

export interface Referenced {
  operation: string;
  transaction: string;
  state: string;
  /** refund_reference_id; null: none is known */
  gatewayReference: string | null;
}

export interface RefundGap {
  transaction: string;
  /** references that the gateway has given and none of our refunds bears */
  missing: string[];
  /** refunds of ours that were made, or perhaps were, and of which no number is known */
  unnumbered: number;
}

/** In which a refund may have been made. */
const MAY_BE_MADE = ['sending', 'accepted', 'unknown', 'confirmed'];

/** `byHand`: refunds that a person made by hand, by transaction; the gateway's word is not kept. */
export function refundGaps(
  refunds: readonly Referenced[],
  byHand: readonly string[] = [],
): RefundGap[] {
  const ordinals = new Map<string, Set<number>>();
  const unnumbered = new Map<string, number>();
  const count = (transaction: string): void => {
    unnumbered.set(transaction, (unnumbered.get(transaction) ?? 0) + 1);
  };
  for (const transaction of byHand) count(transaction);
  for (const { operation, transaction, state, gatewayReference } of refunds) {
    if (operation !== 'refund') continue;
    const [, prefix, digits] = /^(.+)-(\d\d)$/.exec(gatewayReference ?? '') ?? [];
    if (prefix === transaction) {
      const known = ordinals.get(transaction) ?? new Set<number>();
      ordinals.set(transaction, known.add(Number(digits)));
    } else if (MAY_BE_MADE.includes(state)) count(transaction);
  }
  return [...ordinals].flatMap(([transaction, known]) => {
    const highest = Math.max(...known);
    const missing = Array.from({ length: highest }, (_, index) => index + 1)
      .filter((ordinal) => !known.has(ordinal))
      .map((ordinal) => `${transaction}-${String(ordinal).padStart(2, '0')}`);
    const gap = { transaction, missing, unnumbered: unnumbered.get(transaction) ?? 0 };
    return missing.length === 0 ? [] : [gap];
  });
}

export function gapWords({ transaction, missing, unnumbered }: RefundGap): string {
  const numbers = missing.join(', ');
  const proven = missing.length - unnumbered;
  const ours = `${unnumbered} refund(s) made here, of which no number is known`;
  if (proven <= 0) return `${numbers} of transaction ${transaction} may be ${ours}`;
  const some = unnumbered === 0 ? '' : ` (${missing.length} numbers, less ${ours})`;
  return (
    `the gateway counts ${proven} refund(s) of transaction ${transaction} that are none ` +
    `of ours: ${numbers}${some}`
  );
}
