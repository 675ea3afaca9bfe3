// The months that looks are kept in: which partition holds the rows of a run or a look. Its number
// bears the month (migrations/0031_months.sql), so that nobody has to ask. To write into the
// partition by its name spares finding it anew for every row.

/** What the number of a run or a look holds beside its month. */
const NUMBERS_A_MONTH = 100_000_000n;
/** Numbers from before they bore a month lie below this one. */
const FIRST_MONTH = 100_001n;

export type MonthRelation =
  | 'asked_orders'
  | 'asked_refunds'
  | 'look_entries'
  | 'pages'
  | 'verdicts';

/** The partition of a relation that the rows of this run (verdicts) or look (the others) are in. */
export function partitionOf(relation: MonthRelation, id: bigint): string {
  return `tieout.${relation}_${monthOf(id)}`;
}

/** 2026_11; `before`: from before numbers bore a month. */
function monthOf(id: bigint): string {
  const month = id / NUMBERS_A_MONTH;
  if (month < FIRST_MONTH) return 'before';
  return `${month / 100n}_${String(month % 100n).padStart(2, '0')}`;
}
