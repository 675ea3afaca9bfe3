// What somebody did at the console or with people's rights is recorded, written to the log, and by
// choice told outside: three ways, so that whoever owns one of them cannot hide it in the others.

import type { Config } from '../config/config.js';
import type { Log } from '../core/log.js';
import type { ConsoleEvent, SecurityEvent } from '../core/securityEvents.js';
import { securityOf, securitySentence } from '../core/securityEvents.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database, Db } from '../database/db.js';
import { tellSecurity } from '../outbox/writeAlerts.js';
import { recordEvent } from './sessionsStore.js';

interface RecordDeps {
  db: Database;
  config: Pick<Config, 'notify'>;
  log: Log;
}

export async function record(deps: RecordDeps, event: ConsoleEvent): Promise<void> {
  const log = await deps.db.transaction((tx) => recordIn(tx, deps, event));
  log();
}

/** In the transaction of the act itself; what it answers writes the log, once that has happened. */
export async function recordIn(
  tx: Db,
  deps: Omit<RecordDeps, 'db'>,
  event: ConsoleEvent,
): Promise<() => void> {
  await recordEvent(tx, event);
  const security = securityOf(event);
  return security === null ? () => {} : announceIn(tx, deps, security);
}

/** What is on record elsewhere: told in the transaction of the act, and logged as above. */
export async function announceIn(
  tx: Db,
  deps: Omit<RecordDeps, 'db'>,
  event: SecurityEvent,
): Promise<() => void> {
  await tellSecurity(tx, deps.config, event, new Date());
  return () => logSecurity(deps.log, event);
}

/** What would fill the record: log and webhook alone. */
export async function announce(deps: RecordDeps, event: SecurityEvent): Promise<void> {
  logSecurity(deps.log, event);
  await tellSecurity(deps.db, deps.config, event, new Date());
}

function logSecurity(log: Log, event: SecurityEvent): void {
  const { what, who, address, accountId } = event;
  log(securitySentence(event), {
    level: what === 'signed_in' || what === 'password_chosen' ? 'info' : 'warn',
    event: what,
    address,
    ...(who === null ? {} : { who: withoutCards(who) }),
    ...(accountId === null ? {} : { account: accountId }),
  });
}
