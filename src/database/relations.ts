// The relations that a statement names with a colon, as psql does its variables, since they do not
// always lie in the same place: in the partition of a month (monthPartitions.ts), or in the scratch
// schema of a night that is worked out again (verify/scratchStore.ts). Neighbour: statements.ts
// puts the names in.

import { identifier, type Quoted } from './identifiers.js';

/** Kept by month. */
export const OF_A_MONTH = [
  'asked_orders',
  'asked_refunds',
  'look_entries',
  'pages',
  'verdicts',
] as const;
export type MonthRelation = (typeof OF_A_MONTH)[number];

const RELATIONS = [
  ...OF_A_MONTH,
  ...(['runs', 'pulls', 'run_accounts', 'instructions', 'breaks', 'break_events'] as const),
  ...(['ledger_changes', 'chunks', 'attempts', 'instruction_events'] as const),
] as const;
export type Relations = Readonly<Record<(typeof RELATIONS)[number], Quoted>>;

/** All of them in one schema, each as a whole. */
export function relationsIn(schema: string): Relations {
  return Object.fromEntries(RELATIONS.map((name) => [name, identifier(schema, name)])) as Relations;
}
