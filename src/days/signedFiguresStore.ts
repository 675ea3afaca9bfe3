// The figures under which a business day was signed, held against those of the newest revision of
// the workbook of its night. Neighbours: core/runs/sinceClosed.ts (what differs, and the words),
// shownDay.ts and report/writeReport.ts (who ask).

import type { Signing } from '../core/runs/businessDay.js';
import type { RevisionFigures, SignedOn } from '../core/runs/sinceClosed.js';
import { otherFigures } from '../core/runs/sinceClosed.js';
import type { Db } from '../database/db.js';
import { statement } from '../database/statements.js';
import { daySignings } from './daysStore.js';

/** Of the revisions on which the accounts signed, and of others. */
export async function revisionFigures(
  db: Db,
  date: string,
  signings: ReadonlyMap<string, readonly Signing[]>,
  others: readonly number[] = [],
): Promise<RevisionFigures[]> {
  const signed = [...signings.values()].flat().flatMap(({ revision }) => revision ?? []);
  const asked = [...new Set([...signed, ...others])];
  if (signed.length === 0) return [];
  const values = [date, [...signings.keys()], asked];
  return (await db.query<RevisionFigures>(statement('days/signedFigures'), values)).rows;
}

/** Of one account: the revisions that it is signed on and `newest` says otherwise than. */
export async function signedOtherwise(
  db: Db,
  accountId: string,
  date: string,
  newest: number | null,
): Promise<SignedOn[]> {
  const signings = await daySignings(db, [accountId], date);
  const others = newest === null ? [] : [newest];
  const kept = await revisionFigures(db, date, signings, others);
  return otherFigures(accountId, signings.get(accountId) ?? [], newest, kept);
}
