// Why something that was to be sent was not: the brake, a freeze, the breaker, a database or a
// journal that cannot be relied on, a gateway that takes no connection. The same facts for the
// summary of a run, for `tieout status` and for the console.

import { liveFromAheadNotice } from '../core/accounts/aheadNotice.js';
import type { LiveFrom } from '../core/accounts/observed.js';
import { isAhead } from '../core/accounts/observed.js';
import type { SendingAnswer, SendingFacts } from '../core/instructions/breaker.js';
import { isOfStop, mayAccountSend, standingWords } from '../core/instructions/breaker.js';
import type { Notice } from '../core/runs/notices.js';
import { notSentNotice, notYetSentNotice } from '../core/runs/notices.js';
import { counted } from '../core/text/amounts.js';
import type { Db } from '../database/db.js';
import type { Account } from '../gateway/account.js';
import { historyCounts } from '../ledger/ledgerStore.js';
import { unconfiguredAccounts } from '../runs/leftAccountsStore.js';
import { sendingStatuses, whyWaiting } from './batches/sendingStatusStore.js';
import type { WaitingBecause } from './journal/hostReasons.js';
import { byCause } from './journal/hostReasons.js';

type StopDeps = { config: { accounts: readonly LiveFrom[] }; db: Db };

/** Told even where nothing waits: a stop that nobody remembers is found here. */
const ALWAYS_TOLD: ReadonlySet<string> = new Set(['brake', 'freeze', 'breaker']);
/** Causes of an account that are told one by one; what is past them is summed. */
const REASONS_MAX = 3;

export function stopNotices(deps: StopDeps, accountIds: readonly string[]): Promise<Notice[]> {
  return noticesOf(deps, accountIds, ALWAYS_TOLD);
}

/** Only of accounts for which something waits. */
export function waitNotices(deps: StopDeps, accountIds: readonly string[]): Promise<Notice[]> {
  return noticesOf(deps, accountIds, new Set());
}

/** What waits of accounts that the configuration does not name, with what becomes of it. */
export async function elsewhereNotices(deps: StopDeps): Promise<Notice[]> {
  const own = deps.config.accounts.map(({ accountId }) => accountId);
  return waitNotices(deps, await unconfiguredAccounts(deps.db, own));
}

async function noticesOf(
  { config, db }: StopDeps,
  accountIds: readonly string[],
  alwaysTold: ReadonlySet<string>,
): Promise<Notice[]> {
  const waiting = await whyWaiting(db, accountIds);
  const found: Notice[] = [];
  for (const status of await sendingStatuses(db, accountIds)) {
    const { accountId } = status;
    const mine = waiting.filter((one) => one.accountId === accountId);
    const answer = mayAccountSend(status, config.accounts);
    if (answer.kind === 'stop') {
      const instructions = mine.reduce((sum, one) => sum + one.instructions, 0);
      if (instructions === 0 && !alwaysTold.has(answer.by)) continue;
      const stop = { accountId, reason: answer.reason, instructions };
      found.push(notSentNotice({ ...stop, ...standingOf(status, answer, instructions) }));
      continue;
    }
    const now = byCause(withoutLifted(mine));
    for (const { reason, instructions } of now.slice(0, REASONS_MAX)) {
      found.push(
        reason === null && now.length === 1
          ? notYetSentNotice({ accountId, instructions })
          : notSentNotice({ accountId, reason: reason ?? NOT_REACHED, instructions }),
      );
    }
    const more = now.slice(REASONS_MAX);
    if (more.length > 0) found.push(moreNotice(accountId, more));
  }
  return found;
}

function moreNotice(accountId: string, more: readonly WaitingBecause[]): Notice {
  const instructions = more.reduce((sum, one) => sum + one.instructions, 0);
  const reason = `and ${counted(more.length, 'more reason')}`;
  return notSentNotice({ accountId, reason, instructions });
}

/** Of an account that may send: what its last try met was a stop, and that was lifted since. */
function withoutLifted(waiting: readonly WaitingBecause[]): WaitingBecause[] {
  return waiting.map(({ reason, instructions }) => {
    return { reason: reason !== null && isOfStop(reason) ? null : reason, instructions };
  });
}

/** What only a person ends, and what a person may end before the next night does. */
function standingOf(
  { brakes: [brake] }: SendingFacts,
  { by, reason }: Extract<SendingAnswer, { kind: 'stop' }>,
  instructions: number,
): { standing?: string } {
  if (brake !== undefined) return { standing: standingWords(brake) };
  return by === 'breaker' && instructions > 0 ? { standing: reason } : {};
}

/** Behind what stops others of the account. */
const NOT_REACHED = 'its turn did not come';

/** Accounts whose liveFrom lies ahead: nothing of them is sent, which looks like a quiet night. */
export async function aheadNotices(
  db: Db,
  accounts: readonly Account[],
  now: Date,
): Promise<Notice[]> {
  const found: Notice[] = [];
  for (const { accountId, liveFrom } of accounts) {
    if (!isAhead(liveFrom, now)) continue;
    const counts = await historyCounts(db, { accountId, liveFrom });
    found.push(liveFromAheadNotice({ accountId, liveFrom, ...counts }));
  }
  return found;
}
