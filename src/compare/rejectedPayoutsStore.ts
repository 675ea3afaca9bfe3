// Payouts that did not happen and that nobody has decided about since: breaks of no order, which
// stand under the id of the request. Neighbours: instructions/payoutsStore.ts, total/total.ts.

import { statement } from '../database/statements.js';
import type { Run, RunDeps } from '../runs/deps.js';
import { accountRules } from '../runs/deps.js';

/** Once everything is sent that will be: what was refused in this run is told by it. */
export async function bookRejectedPayouts(deps: Pick<RunDeps, 'now'>, run: Run): Promise<void> {
  const books = JSON.stringify(accountRules(run.accounts));
  await run.db.query(statement('compare/rejectedPayouts'), [run.runId, books, deps.now()]);
}
