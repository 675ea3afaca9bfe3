// Reservations that lapse before they are taken are told to the outside, each once: in time before,
// and when a night first sees one later than that, then. One message an account. Asked by
// alerts/watchRuns.ts whenever a night has ended or should have.

import { createHash } from 'node:crypto';
import type { Config } from '../config/config.js';
import { reservationsLapse } from '../core/alertMessages.js';
import type { Db } from '../database/db.js';
import { putInOutbox } from '../outbox/outboxStore.js';
import type { AskedAt } from './authorisations.js';
import { ruleRows } from './authorisations.js';
import { warnOnce } from './authorisationsStore.js';

/** In the transaction of the caller: what is written down as told is told. */
export async function warnOfLapses(
  tx: Db,
  config: Pick<Config, 'accounts' | 'authorisations'>,
  at: AskedAt,
): Promise<void> {
  const accountIds = config.accounts
    .map(({ accountId }) => accountId)
    .filter((accountId) => config.authorisations[accountId] !== undefined);
  if (accountIds.length === 0) return;
  const found = await warnOnce(tx, ruleRows(config, accountIds, at), at.now);
  for (const accountId of new Set(found.map((one) => one.accountId))) {
    const alert = reservationsLapse(
      accountId,
      found.filter((one) => one.accountId === accountId),
    );
    const fingerprint = createHash('sha256').update(`${at.now.toISOString()} ${alert.text}`);
    const channels = ['webhook'] as const;
    await putInOutbox(tx, { ...alert, channels, fingerprint: fingerprint.digest('hex') });
  }
}
