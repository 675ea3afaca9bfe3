// Is the database still the one that knows every permit of ours? Held against the local journal
// when the process first sends, again after every start of the server, and whenever our newest
// permit or sign of life is gone from it; of all hosts that sent lately, before any of them sends.
// Where the two do not agree the database was put back: all sending is frozen, for everybody, until
// a person lets it go, and what the journal knows beyond the database is entered as lost.

import { STARTED_ANEW } from '../../core/instructions/breaker.js';
import { clockTrouble } from '../../core/runs/owed.js';
import type { Database, Db } from '../../database/db.js';
import { activeBrakes } from '../batches/sendingStatusStore.js';
import { differences, forgotten } from './journalDifferences.js';
import type { ClaimFacts, DatabaseFacts, JournalPlace } from './journalsStore.js';
import {
  absentHosts,
  changedOver,
  claimFacts,
  countMark,
  databaseFacts,
  enterJournal,
  isFrozenBy,
  noteVerified,
} from './journalsStore.js';
import { notWritten } from './journalTrouble.js';
import type { PermitJournal } from './permitJournal.js';
import type { PermitLine } from './permitSegments.js';
import { enterLost, freezePutBack, inTurn, sayPutBack } from './putBacksStore.js';

/** How often a process that sends looks whether the server is still the same. */
const WATCH_MS = 3_000;
/** Hosts that live hold their journals against a server that was started anew within this time. */
const ABSENT_MS_MAX = 20_000;

/** Why nothing may be sent now. */
interface Unfit {
  reason: string;
  /** it passes by itself, or somebody lifts it: a batch that waits for that has not been tried */
  isAwaited: boolean;
}

export interface JournalGuard {
  /** the journal of this process, once it is open */
  journalId(): string | null;
  /** Held against the database where that is due; answers why nothing may be sent, or null. */
  verify(): Promise<string | null>;
  /** The same, and again by itself whenever the server was started anew, until it is closed. */
  keep(): Promise<void>;
  /** Hosts that have to come first, in words; null: none. */
  awaited(): Promise<string | null>;
  /** Hosts have not come for so long that no run waits for them any more. */
  isHeldUp(): Promise<boolean>;
  /** In the transaction of a claim: is the database still the one that was verified? */
  mayClaim(tx: Db): Promise<Unfit | null>;
  /** On disk before the first byte. */
  append(line: PermitLine): Promise<void>;
  /** Why no line goes into the journal, by the very pen that writes them; null: one does. */
  whyNoLine(): Promise<string | null>;
  close(): Promise<void>;
}

interface GuardDeps {
  db: Database;
  environment: 'test' | 'live';
  host: string;
  open: () => Promise<PermitJournal>;
  /** the machine's clock, not the one of business dates */
  wallClock: () => Date;
  /** never goes back; milliseconds */
  monotonic: () => number;
  /** Has it done again and again, so many milliseconds apart; what it answers ends that. */
  every: (ms: number, work: () => Promise<void>) => () => void;
  log?: (line: string, about?: { level: 'warn' }) => void;
  /** The database was found to be an older or another one; before that is on record in it. */
  putBack?: (reason: string) => Promise<void>;
  /** Puts in the outbox that all sending was frozen. */
  tellFrozen?: (tx: Db, reason: string) => Promise<void>;
}

const CHANGED = 'the database was started anew or changed over; it is held against the journal';

export function openJournalGuard(deps: GuardDeps): JournalGuard {
  let journal: PermitJournal | null = null;
  let verified: DatabaseFacts | null = null;
  const missed: Missed = { newest: null };
  let verifying: Promise<string | null> | null = null;
  const verifyNow = async (): Promise<string | null> => {
    journal ??= await deps.open();
    const facts = asItCounts(await databaseFacts(deps.db, deps.wallClock), deps);
    const problem = await problemOf(deps, journal, facts, verified === null);
    if (problem === null) verified = await withoutLetGo(deps.db, missed, facts);
    return problem;
  };
  const verify = async (): Promise<string | null> => {
    if (verified !== null) return null;
    verifying ??= verifyNow().finally(() => {
      verifying = null;
    });
    return verifying;
  };
  const { awaited, isHeldUp } = patience(deps, () =>
    absentHosts(deps.db, { journalId: journal?.journalId ?? null }),
  );
  // What was just committed beside the permits is missed, too, should the database go back.
  const sign = async (): Promise<void> => {
    if (journal === null || verified === null) return;
    const mark = await countMark(deps.db, journal.journalId, verified.base);
    if (mark === null) verified = null;
    else journal.keepMark(mark);
  };
  const watch = watching(deps, {
    check: async () => {
      await sign();
      return (await verify()) ?? awaited();
    },
  });
  return {
    journalId: () => journal?.journalId ?? null,
    verify,
    keep: watch.begin,
    awaited,
    isHeldUp,
    mayClaim: async (tx) => {
      const own = { ...missed, journalId: journal?.journalId ?? null };
      const facts = asItCounts(await claimFacts(tx, own, deps.wallClock), deps);
      if (!isSameServer(facts, verified)) verified = null;
      return claimProblem(facts, verified);
    },
    append: async (line) => {
      if (journal === null) throw new Error('the journal of permits is not open');
      await journal.append(line);
      missed.newest = line.attemptId;
    },
    whyNoLine: () => whyNoLine(journal),
    close: async () => {
      await watch.end();
      await journal?.close();
    },
  };
}

async function whyNoLine(journal: PermitJournal | null): Promise<string | null> {
  try {
    await journal?.tryOut();
    return null;
  } catch (error) {
    return notWritten(error);
  }
}

/**
 * Servers for tests are often made without fsync. What they acknowledged is lost with the machine
 * alone, and not with the server, and the journal of permits would tell: enough for a test.
 */
function asItCounts<T extends { unsafe: string[] }>(facts: T, { environment }: GuardDeps): T {
  if (environment === 'live') return facts;
  const isLostWithMachine = (one: string): boolean => /^(fsync|full_page_writes) /.test(one);
  return { ...facts, unsafe: facts.unsafe.filter((one) => !isLostWithMachine(one)) };
}

function isSameServer(facts: ClaimFacts, verified: DatabaseFacts | null): boolean {
  const isSame =
    facts.startedAt === verified?.startedAt &&
    facts.timeline === verified.timeline &&
    verified.base.endsWith(`/${facts.database}`);
  return isSame && facts.knowsNewest && !facts.isReplica && facts.unsafe.length === 0;
}

/** `verified`: null where it has to be held against the journal again. */
function claimProblem(facts: ClaimFacts, verified: DatabaseFacts | null): Unfit | null {
  const { absent, unsafe } = facts;
  if (unsafe.length > 0) return { reason: forgetfulWords(unsafe), isAwaited: false };
  if (verified === null) return { reason: CHANGED, isAwaited: true };
  const clock = clockTrouble(facts.skewMs);
  if (clock !== null) return { reason: clock, isAwaited: false };
  return absent.length === 0 ? null : { reason: absentWords(absent), isAwaited: true };
}

/** Looks now and then until it is ended; says once what stands in the way. */
function watching(
  { every, log = () => {} }: GuardDeps,
  { check }: { check: () => Promise<string | null> },
) {
  let stop: (() => void) | null = null;
  let checking: Promise<void> = Promise.resolve();
  let said: string | null = null;
  const turn = async (): Promise<void> => {
    try {
      const problem = await check();
      if (problem !== null && problem !== said)
        log(`nothing is sent: ${problem}`, { level: 'warn' });
      said = problem;
    } catch {
      // A database that is away is found back by the next check.
    }
  };
  const next = (): Promise<void> => {
    checking = checking.then(turn);
    return checking;
  };
  return {
    begin: async (): Promise<void> => {
      stop ??= every(WATCH_MS, next);
      await next();
    },
    end: async (): Promise<void> => {
      stop?.();
      await checking;
    },
  };
}

/** Who is awaited, and whether for too long; asked once a second at most. */
function patience(
  { monotonic }: GuardDeps,
  absent: () => Promise<string[]>,
): Pick<JournalGuard, 'awaited' | 'isHeldUp'> {
  let words: string | null = null;
  let since: number | null = null;
  let asked = Number.NEGATIVE_INFINITY;
  const awaited = async (): Promise<string | null> => {
    const now = monotonic();
    if (now - asked > ASK_MS) {
      const hosts = await absent();
      asked = now;
      words = hosts.length === 0 ? null : absentWords(hosts);
      since = words === null ? null : (since ?? now);
    }
    return words;
  };
  return {
    awaited,
    isHeldUp: async () => {
      await awaited();
      return since !== null && monotonic() - since > ABSENT_MS_MAX;
    },
  };
}

const ASK_MS = 1_000;

export function absentWords(hosts: readonly string[]): string {
  return (
    `${STARTED_ANEW}, and these hosts have not held their journals of permits ` +
    `against it since: ${hosts.join(', ')}. Start tieout there (\`tieout send\` does); one that ` +
    'is gone for good is let go with `tieout brake off --reason TEXT`'
  );
}

/** Last of all the clock: a journal is held without one, and all other hosts may wait for that. */
async function problemOf(
  deps: GuardDeps,
  journal: PermitJournal,
  facts: DatabaseFacts,
  isFirst: boolean,
): Promise<string | null> {
  return (
    serverProblem(facts) ??
    (await disagreement(deps, journal, facts, isFirst)) ??
    clockTrouble(facts.skewMs)
  );
}

function serverProblem(facts: DatabaseFacts): string | null {
  if (facts.isReplica) return 'the database is a replica: claims need the primary server';
  if (facts.unsafe.length > 0) return forgetfulWords(facts.unsafe);
  return null;
}

function forgetfulWords(unsafe: readonly string[]): string {
  return `the database may forget what it has acknowledged (${unsafe.join(', ')})`;
}

/** Freezes everything where journal and database do not agree; answers why, or null. */
async function disagreement(
  deps: GuardDeps,
  journal: PermitJournal,
  facts: DatabaseFacts,
  isFirst: boolean,
): Promise<string | null> {
  const { db, host, wallClock } = deps;
  const place: JournalPlace = { journalId: journal.journalId, host, place: journal.place };
  const { found, position, gone, lost } = await differences(db, journal, place, facts, isFirst);
  if (found === null) {
    await holds(deps, journal, place, position, facts);
    // How old a file is, a clock that is wrong does not say.
    if (clockTrouble(facts.skewMs) === null) await journal.removeBefore(position, wallClock());
    return null;
  }
  return freeze(deps, journal, `${found} (host ${host})`, { place, gone, lost });
}

/** The journal agrees; what another timeline may have lost all the same is held. */
async function holds(
  { db, putBack = async () => {} }: GuardDeps,
  journal: PermitJournal,
  place: JournalPlace,
  position: Parameters<typeof noteVerified>[2],
  facts: DatabaseFacts,
): Promise<void> {
  const mark = await db.durably(async (tx) => {
    await inTurn(tx);
    if (await changedOver(tx, facts.timeline)) {
      await putBack(CHANGED_OVER);
      await sayPutBack(tx, CHANGED_OVER);
    }
    await enterJournal(tx, place);
    return noteVerified(tx, place, position, facts);
  });
  journal.keepMark(mark);
}

const CHANGED_OVER =
  'the database changed over, or was put back to a point in time: of a host that it does not ' +
  'know nobody can tell what was sent';

/** Our newest permit, by which a claim knows that the database went back. */
interface Missed {
  newest: string | null;
}

/** What was lost with a database that was put back, and let go by a person since, is not missed. */
async function withoutLetGo(db: Db, missed: Missed, facts: DatabaseFacts): Promise<DatabaseFacts> {
  const { newest } = missed;
  const isLetGo = newest !== null && (await forgotten(db, [newest])).length > 0;
  if (isLetGo && missed.newest === newest) missed.newest = null;
  return facts;
}

async function freeze(
  { db, host, putBack = async () => {}, tellFrozen = async () => {} }: GuardDeps,
  journal: PermitJournal,
  reason: string,
  { place, gone, lost }: { place: JournalPlace; gone: string[]; lost: string[] },
): Promise<string> {
  const permits = await journal.find(new Set(lost));
  await db.durably(async (tx) => {
    await inTurn(tx);
    await enterLost(tx, host, permits);
    if (await isFrozenBy(tx, place.journalId)) return;
    await putBack(reason);
    // Of many hosts each finds it: a person is called once, and `brake status` has them all.
    const isFrozen = (await activeBrakes(tx)).some(({ kind }) => kind === 'freeze');
    await freezePutBack(tx, reason, { journals: [place], lost: gone });
    if (!isFrozen) await tellFrozen(tx, reason);
  });
  return `all sending is frozen: ${reason}`;
}
