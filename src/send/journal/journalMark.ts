// The mark beside the journal of permits: how many signs of life of this host the database has
// acknowledged. A number in the database that is lower tells of one that was put back, also where
// this host has sent nothing since. Many processes of the host write it; one that is slow may put a
// lower one back, until the next sign of life. Neighbours: journalsStore.ts counts,
// send/journal/journalGuard.ts compares.

import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mark {
  /** which database: of another one the number says nothing */
  base: string;
  marks: number;
  /** when a person last looked into this journal, as the database has it; null: never */
  released: string | null;
}

const NAME = 'mark.json';

/** Null where there is none, or it cannot be read: then the journal alone tells. */
export function readMark(place: string): Mark | null {
  try {
    const { base, marks, released } = JSON.parse(
      readFileSync(join(place, NAME), 'utf8'),
    ) as Partial<Mark>;
    return typeof base === 'string' && typeof marks === 'number'
      ? { base, marks, released: released ?? null }
      : null;
  } catch {
    return null;
  }
}

/** Of one database and release it counts up, save where two processes write at once. */
export function keepMark(place: string, mark: Mark): void {
  const known = readMark(place);
  const isSame = known?.base === mark.base && known.released === mark.released;
  if (isSame && known.marks >= mark.marks) return;
  const draft = join(place, `${NAME}.${randomUUID()}.new`);
  try {
    writeFileSync(draft, JSON.stringify(mark), { mode: 0o600 });
    renameSync(draft, join(place, NAME));
  } finally {
    // On a full disk it is made and stays empty.
    rmSync(draft, { force: true });
  }
}

/**
 * Whether the database knows less than it had acknowledged. `known`: as it has it now, null where
 * it does not know the journal at all.
 */
export function wentBack(mark: Mark | null, known: Mark | null, base: string): boolean {
  if (mark === null || mark.base !== base) return false;
  if (known === null) return true;
  const [ours, theirs] = [Number(mark.released ?? 0), Number(known.released ?? 0)];
  // A person has looked into it since: from there on it counts anew.
  if (theirs > ours) return false;
  return theirs < ours || known.marks < mark.marks;
}
