// One clock at a time takes files out of the inbox, however many there are.

import type { Tx } from '../database/db.js';

/** Until the transaction ends; false: another clock is at it. */
export async function inboxAlone(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>(
    "select pg_try_advisory_xact_lock(hashtext('tieout.settlement_inbox')) as mine",
  );
  return rows[0]?.mine === true;
}
