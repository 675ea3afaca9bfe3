// What changed behind a day since it was closed, in words for who signed it. Pure. Neighbour:
// report/sinceSigned.sql counts.

interface Counts {
  adjustments: number;
  reopened: number;
  orders: number;
  refunds: number;
  batches: number;
}

const WORDS: readonly (readonly [keyof Counts, one: string, many: string])[] = [
  ['adjustments', 'adjustment of this day', 'adjustments of this day'],
  ['reopened', 'break was opened again', 'breaks were opened again'],
  ['orders', 'order of then is new or different', 'orders of then are new or different'],
  ['refunds', 'refund request of then is new', 'refund requests of then are new'],
  ['batches', 'settlement batch of then came later', 'settlement batches of then came later'],
];

/** "1 adjustment of this day, 2 breaks were opened again"; null: nothing changed. */
export function sinceSignedWords(counts: Counts): string | null {
  const parts = WORDS.flatMap(([key, one, many]) => {
    const count = counts[key];
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}
