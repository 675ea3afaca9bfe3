// Is the database still the one that knows every permit of ours? Held against the local journal
// when the process first sends, and again whenever the server was started anew, its timeline
// changed or our newest permit is gone from it. Where the two do not agree all sending is frozen,
// for everybody, until a person lets it go: the database may have forgotten claims, and would send
// them again.

import { SKEW_MS_MAX, skewWords } from '../core/owed.js';
import type { Database, Db } from '../store/db.js';
import type { DatabaseFacts, JournalPlace } from '../store/journals.js';
import {
  claimFacts,
  databaseFacts,
  enterJournal,
  findJournal,
  journalsLostAt,
  noteVerified,
  unknownAttempts,
} from '../store/journals.js';
import type { PermitJournal } from '../store/permitJournal.js';
import type { PermitLine } from '../store/permitSegments.js';
import { sayBrake, standingBrakes } from '../store/sending.js';

const ATTEMPTS_AT_ONCE = 5_000;

export interface JournalGuard {
  /** the journal of this process, once it is open */
  journalId(): string | null;
  /** Held against the database where that is due; answers why nothing may be sent, or null. */
  verify(): Promise<string | null>;
  /** In the transaction of a claim: is the database still the one that was verified? */
  mayClaim(tx: Db): Promise<string | null>;
  /** On disk before the first byte. */
  append(line: PermitLine): Promise<void>;
  close(): Promise<void>;
}

interface GuardDeps {
  db: Database;
  host: string;
  open: () => Promise<PermitJournal>;
  /** the machine's clock, not the one of business dates */
  wallClock: () => Date;
}

const CHANGED = 'the database was started anew or changed over; it is held against the journal';

export function openJournalGuard(deps: GuardDeps): JournalGuard {
  let journal: PermitJournal | null = null;
  let verified: DatabaseFacts | null = null;
  let newest: string | null = null;
  let verifying: Promise<string | null> | null = null;
  const verifyNow = async (): Promise<string | null> => {
    journal ??= await deps.open();
    const facts = await databaseFacts(deps.db, deps.wallClock);
    const problem =
      serverProblem(facts) ?? (await disagreement(deps, journal, facts, verified === null));
    if (problem === null) verified = facts;
    return problem;
  };
  return {
    journalId: () => journal?.journalId ?? null,
    verify: async () => {
      if (verified !== null) return null;
      verifying ??= verifyNow().finally(() => {
        verifying = null;
      });
      return verifying;
    },
    mayClaim: async (tx) => {
      const facts = await claimFacts(tx, newest, deps.wallClock);
      const isSame =
        facts.startedAt === verified?.startedAt && facts.timeline === verified.timeline;
      if (!isSame || !facts.knowsNewest || facts.isReplica || facts.unsafe.length > 0) {
        verified = null;
        return facts.unsafe.length > 0 ? forgetfulWords(facts.unsafe) : CHANGED;
      }
      if (isClockOff(facts)) return skewWords(facts.skewMs);
      if (facts.unverified.length === 0) return null;
      return (
        'the database changed over, and these hosts have not held their journals of permits ' +
        `against it yet: ${[...new Set(facts.unverified)].join(', ')}`
      );
    },
    append: async (line) => {
      if (journal === null) throw new Error('the journal of permits is not open');
      await journal.append(line);
      newest = line.attemptId;
    },
    close: async () => journal?.close(),
  };
}

function serverProblem(facts: DatabaseFacts): string | null {
  if (facts.isReplica) return 'the database is a replica: claims need the primary server';
  if (facts.unsafe.length > 0) return forgetfulWords(facts.unsafe);
  return isClockOff(facts) ? skewWords(facts.skewMs) : null;
}

function isClockOff({ skewMs }: { skewMs: number }): boolean {
  return Math.abs(skewMs) > SKEW_MS_MAX;
}

function forgetfulWords(unsafe: readonly string[]): string {
  return `the database may forget what it has acknowledged (${unsafe.join(', ')})`;
}

/** Freezes everything where journal and database do not agree; answers why, or null. */
async function disagreement(
  { db, host, wallClock }: GuardDeps,
  journal: PermitJournal,
  facts: DatabaseFacts,
  isFirst: boolean,
): Promise<string | null> {
  const place: JournalPlace = { journalId: journal.journalId, host, place: journal.place };
  const known = await findJournal(db, journal.journalId);
  // A copy that stands elsewhere may hold other permits than the one that was read.
  const isThatOne = known?.host === place.host && known.place === place.place;
  const from = isThatOne ? known.verified : null;
  const reading = await journal.read(from, known?.releasedAt ?? null);
  const lost = isFirst ? await journalsLostAt(db, place) : [];
  const found =
    (lost.length > 0 ? `the journal of permits at ${journal.place} is gone` : null) ??
    (known === null && reading.permits.length > 0
      ? 'the database does not know the journal of permits here: another or an older database'
      : null) ??
    (known !== null && isOther(known.verifiedSystem, facts.system)
      ? 'the database is another one than before'
      : null) ??
    (reading.damage !== null
      ? `the journal of permits at ${journal.place} is damaged: ${reading.damage}`
      : null) ??
    (await forgotten(
      db,
      reading.permits.map(({ attemptId }) => attemptId),
    ));
  if (found !== null) return freeze(db, `${found} (host ${host})`, { journals: [place], lost });
  await enterJournal(db, place);
  await noteVerified(db, place, reading.position, facts);
  await journal.removeBefore(reading.position, wallClock());
  return null;
}

function isOther(before: string | null, now: string): boolean {
  return before !== null && before !== '' && now !== '' && before !== now;
}

async function forgotten(db: Db, attemptIds: readonly string[]): Promise<string | null> {
  for (let from = 0; from < attemptIds.length; from += ATTEMPTS_AT_ONCE) {
    const missing = await unknownAttempts(db, attemptIds.slice(from, from + ATTEMPTS_AT_ONCE));
    if (missing.length > 0) {
      return (
        `the journal knows ${missing.length} permit(s) that the database does not, such as ` +
        `${missing[0]}: it has lost what was committed`
      );
    }
  }
  return null;
}

async function freeze(db: Database, reason: string, found: unknown): Promise<string> {
  const isFrozen = (await standingBrakes(db)).some((one) => one.kind === 'freeze');
  if (!isFrozen) {
    const word = { kind: 'freeze' as const, accountId: null, isOn: true, reason, found };
    await sayBrake(db, { ...word, by: 'tieout', isClaim: false });
  }
  return `all sending is frozen: ${reason}`;
}
