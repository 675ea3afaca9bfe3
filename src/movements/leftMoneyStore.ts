// Money of accounts that left the configuration before the acquirer had settled it: no night looks
// for it any more. Neighbour: settlement/leftBooks.ts has their books in full.

import type { Config } from '../config/config.js';
import type { LeftMoneyFacts } from '../core/settlement/unkeptSettlement.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import { unconfiguredAccounts } from '../runs/leftAccountsStore.js';

/** By account; none where settlement is not kept. `accountIds` are those of the configuration. */
export async function leftMoney(
  db: Db,
  config: Pick<Config, 'settlement'>,
  accountIds: readonly string[],
): Promise<LeftMoneyFacts[]> {
  if (config.settlement === null) return [];
  const left = await unconfiguredAccounts(db, accountIds);
  if (left.length === 0) return [];
  return (await db.query<LeftMoneyFacts>(statement('movements/leftMoney'), [left])).rows;
}
