// The brake: a person stops all sending, or that of one account, and lets it go again. Looks go on.
// Letting go also lifts what tieout itself has stopped: a freeze, and the breaker of an account.
// Every word is kept with who, when and why. The same functions serve command line and console.

import type { LiveFrom } from '../core/accounts/observed.js';
import type { Brake, SendsUnderWay } from '../core/instructions/breaker.js';
import { isLetGo, liftedWords, mayAccountSend } from '../core/instructions/breaker.js';
import type { Decider } from '../core/instructions/decider.js';
import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database, Db } from '../database/db.js';
import { thisMachine } from '../processes/identity.js';
import {
  activeBrakes,
  awaitClaims,
  releaseStopped,
  sayBrake,
  sendingStatuses,
  sendsUnderWay,
} from '../send/batches/sendingStatusStore.js';
import { absentWords } from '../send/journal/journalGuard.js';
import type { JournalHome } from '../send/journal/journalsStore.js';
import { absentHosts, excuseAbsent, releaseJournals } from '../send/journal/journalsStore.js';
import { journalFolder } from '../send/journal/journalTrouble.js';
import { holdBlind, putBackFound } from '../send/journal/putBacksStore.js';

export interface BrakeOrder {
  /** null: all accounts */
  accountId: string | null;
  reason: string;
  who: Decider;
}

export type Pulled =
  /** `underWay`: batches and calls whose first byte may have left; they come to their end */
  { kind: 'on'; at: Date; underWay: SendsUnderWay } | { kind: 'was_on'; standing: Brake };

export async function pullBrake(deps: { db: Database }, order: BrakeOrder): Promise<Pulled> {
  const { accountId } = order;
  const pulled = await deps.db.durably(async (tx) => {
    const known = (await activeBrakes(tx)).find(
      (one) => one.kind === 'brake' && one.accountId === accountId,
    );
    return known ?? sayBrake(tx, wordOf(order, 'brake', true));
  });
  if (!(pulled instanceof Date)) return { kind: 'was_on', standing: pulled };
  return { kind: 'on', at: pulled, underWay: await stillGoing(deps.db, accountId) };
}

/** Also what was being claimed as the brake was pulled; where one such hangs, without it. */
function stillGoing(db: Database, accountId: string | null): Promise<SendsUnderWay> {
  const accountIds = accountId === null ? null : [accountId];
  return db
    .transaction(async (tx) => {
      await awaitClaims(tx);
      return sendsUnderWay(tx, accountIds);
    })
    .catch(() => sendsUnderWay(db, accountIds));
}

/** Where the processes of this host and data folder keep their journal of permits. */
export function ownJournal({ dataDir }: { dataDir: string }): JournalHome {
  return { host: thisMachine(), place: journalFolder(dataDir) };
}

interface LetGo {
  /** what no longer holds, in words */
  lifted: string[];
  /** what still stops something */
  remaining: Brake[];
}

/** Records and announces what was lifted in that transaction; what it answers is called then. */
type Tell = (tx: Db, lifted: readonly string[]) => Promise<() => void>;

/**
 * `own`: the journal of this host, which it holds against the database before it sends. It is here,
 * so that nobody goes on without it, and nothing is taken for lost because of it. `tell`: whoever
 * watches learns of it in any case, also where this process dies right after.
 */
export async function letBrakeGo(
  deps: { db: Database },
  order: BrakeOrder,
  own: JournalHome | null = null,
  tell: Tell = async () => () => {},
): Promise<LetGo> {
  const { told, ...found } = await deps.db.durably(async (tx) => {
    const lifted = await liftAll(tx, order, own);
    return { lifted, remaining: await activeBrakes(tx), told: await tell(tx, lifted) };
  });
  told();
  return found;
}

async function liftAll(tx: Db, order: BrakeOrder, own: JournalHome | null): Promise<string[]> {
  const mine = (await activeBrakes(tx)).filter((one) => one.accountId === order.accountId);
  if (mine.some(({ kind }) => kind === 'freeze')) await releaseJournals(tx);
  for (const { kind } of mine) await sayBrake(tx, wordOf(order, kind, false));
  const lifted = mine.map(liftedWords);
  const { accountId } = order;
  const absent = accountId === null ? await excuseAbsent(tx, own) : [];
  if (absent.length > 0) {
    // Nobody has looked into what they sent: what no snapshot can vouch for waits for a person.
    await holdBlind(tx);
    const found = { absent, ...(await putBackFound(tx)) };
    await sayBrake(tx, { ...wordOf(order, 'freeze', false), found });
    lifted.push(`journals of permits not held against this database: ${absent.join(', ')}`);
  }
  if (accountId !== null) {
    const [status] = await sendingStatuses(tx, [accountId]);
    if (status?.reason && (await releaseStopped(tx, accountId))) {
      await sayBrake(tx, wordOf(order, 'breaker', false));
      lifted.push(`the stop of account ${accountId} for the rest of the run: ${status.reason}`);
    }
  }
  return lifted;
}

function wordOf({ accountId, reason, who }: BrakeOrder, kind: BrakeKind, isOn: boolean) {
  const words = withoutCards(reason, accountId === null ? [] : [accountId]);
  return { kind, accountId, isOn, reason: words, who };
}

type BrakeKind = Brake['kind'] | 'breaker';

interface BrakeStatus {
  brakes: Brake[];
  accounts: {
    accountId: string;
    sends: boolean;
    /** stopped, and `tieout brake off` with the right words lets it go */
    isLetGo: boolean;
    words: string;
  }[];
}

/**
 * `own`: the journal of this host, which it holds against the database before it sends. `said` puts
 * an instant in words, UTC where it is not given.
 */
export async function brakeStatus(
  deps: { config: { accounts: readonly LiveFrom[] }; db: Database },
  accountIds: readonly string[],
  own: JournalHome | null = null,
  said?: (at: Date) => string,
): Promise<BrakeStatus> {
  const absent = await absentHosts(deps.db, { journalId: null, place: own });
  const accounts = (await sendingStatuses(deps.db, accountIds)).map((status) => {
    const answer = mayAccountSend(status, deps.config.accounts, said);
    if (answer.kind !== 'stop' && absent.length > 0) {
      return { accountId: status.accountId, ...waitsFor(absent) };
    }
    const words = answer.kind === 'stop' ? answer.reason : GOING[answer.kind];
    const sends = answer.kind !== 'stop';
    return { accountId: status.accountId, sends, isLetGo: isLetGo(answer), words };
  });
  return { brakes: await activeBrakes(deps.db), accounts };
}

/** A word for all accounts lets go of hosts that never come. */
function waitsFor(absent: readonly string[]): { sends: false; isLetGo: true; words: string } {
  return { sends: false, isLetGo: true, words: absentWords(absent) };
}

const GOING = {
  open: 'sends',
  canary: 'sends; its next batch is a canary of one',
  wait: 'sends; its canary is on its way',
};
