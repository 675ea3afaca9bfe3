// What the checklist of a close counts of one account, for tests.

import type { Db } from '../../src/database/db.js';
import { closingFacts } from '../../src/days/daysStore.js';

export async function factsOfClose(db: Db, accountId: string, date: string) {
  const facts = (await closingFacts(db, [accountId], date)).get(accountId);
  if (facts === undefined) throw new Error(`nothing was counted of ${accountId}`);
  return facts;
}
