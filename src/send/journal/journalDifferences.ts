// Is this the database that knows every permit of the journal? The question that the guard asks
// before anything is sent, and `tieout doctor` before a night: here it is only answered.
// Neighbours: journalGuard.ts freezes by the answer, permitJournal.ts has the permits.

import { messageOf } from '../../core/errors.js';
import type { Db } from '../../database/db.js';
import { wentBack } from './journalMark.js';
import type { DatabaseFacts, JournalPlace, KnownJournal } from './journalsStore.js';
import { databaseFacts, findJournal, journalsLostAt, unknownPermits } from './journalsStore.js';
import type { ShownJournal } from './permitJournal.js';
import { showPermitJournal } from './permitJournal.js';
import type { JournalPosition } from './permitSegments.js';

const PERMITS_AT_ONCE = 5_000;

interface Differences {
  /** in words; null: they agree */
  found: string | null;
  /** up to where the journal was read */
  position: JournalPosition;
  /** journals that stood at this place and are no more */
  gone: string[];
  /** permits that the database lacks */
  lost: string[];
}

/** `isFirst`: asked by a process that has not asked yet, so that the whole journal may be gone. */
export async function differences(
  db: Db,
  journal: ShownJournal,
  place: JournalPlace,
  facts: DatabaseFacts,
  isFirst: boolean,
): Promise<Differences> {
  // Before the database is asked: other processes of this host count on meanwhile.
  const mark = journal.mark();
  const before = await findJournal(db, journal.journalId);
  // A copy that stands elsewhere may hold other permits than the one that was read.
  const isThatOne = before?.host === place.host && before.place === place.place;
  const from = isThatOne ? before.verified : null;
  const reading = await journal.read(from, before?.releasedAt ?? null);
  const known = before ?? (await findJournal(db, journal.journalId));
  const gone = isFirst ? await journalsLostAt(db, place) : [];
  const lost = await forgotten(
    db,
    reading.permits.map(({ permitId }) => permitId),
  );
  const found =
    (gone.length > 0 ? `the journal of permits at ${journal.place} is gone` : null) ??
    (known === null && reading.permits.length > 0
      ? 'the database does not know the journal of permits here: another or an older database'
      : null) ??
    (known !== null && isOther(known.verifiedBase, facts)
      ? 'the database is another one than before'
      : null) ??
    (reading.damage !== null
      ? `the journal of permits at ${journal.place} is damaged: ${reading.damage}`
      : null) ??
    lostWords(lost) ??
    (wentBack(mark, markOf(known, facts), facts.base)
      ? `the database was put back: it lacks signs of life that the journal at ${journal.place} has`
      : null);
  return { found, position: reading.position, gone, lost };
}

/** As `tieout doctor` asks; nothing is made, entered or frozen. `host`: of this machine. */
export async function journalNow(
  db: Db,
  { host, dataDir }: { host: string; dataDir: string },
): Promise<{ isThere: boolean; found: string | null }> {
  try {
    const journal = showPermitJournal(dataDir);
    const { journalId, place, isThere } = journal;
    const facts = await databaseFacts(db, () => new Date());
    const { found } = await differences(db, journal, { journalId, host, place }, facts, true);
    return { isThere, found };
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'path' in error)) throw error;
    return { isThere: true, found: `the journal of permits cannot be read: ${messageOf(error)}` };
  }
}

function markOf(known: KnownJournal | null, { base }: DatabaseFacts) {
  return known === null ? null : { base, marks: known.marks, released: known.released };
}

/** Older versions noted the cluster alone, or no more of the database than its number. */
function isOther(before: string | null, { base, system }: DatabaseFacts): boolean {
  if (before === null || before === '') return false;
  if (!before.includes('/')) return system !== '' && before !== system;
  return before !== base && before !== base.split('.')[0];
}

/** The permits that the database lacks. */
export async function forgotten(db: Db, permitIds: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (let from = 0; from < permitIds.length; from += PERMITS_AT_ONCE) {
    lost.push(...(await unknownPermits(db, permitIds.slice(from, from + PERMITS_AT_ONCE))));
  }
  return lost;
}

function lostWords(lost: readonly string[]): string | null {
  if (lost.length === 0) return null;
  return (
    `the journal knows ${lost.length} permit(s) that the database does not, such as ` +
    `${lost[0]}: it has lost what was committed`
  );
}
