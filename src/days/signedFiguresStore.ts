// The figures under which a business day was signed, held against those of the newest revision of
// the workbook of its night. Neighbours: core/runs/sinceClosed.ts (what differs, and the words),
// shownDay.ts, report/writeReport.ts and verify/verifyWorkbook.ts (who ask).

import type { Signing } from '../core/runs/businessDay.js';
import type { OtherPage, RevisionFigures, SignedOn } from '../core/runs/sinceClosed.js';
import { otherFigures, otherPages } from '../core/runs/sinceClosed.js';
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

/** What one revision of the workbook of a date says otherwise than another, of all accounts. */
export async function pagesOtherwise(
  db: Db,
  date: string,
  revision: number,
  newest: number,
): Promise<OtherPage[] | null> {
  const values = [date, null, [revision, newest]];
  const { rows } = await db.query<RevisionFigures>(statement('days/signedFigures'), values);
  return otherPages(revision, newest, rows);
}

/** By account, where it is signed on revisions that `newest` says otherwise than: on which. */
export async function signedOtherwise(
  db: Db,
  accountIds: readonly string[],
  date: string,
  newest: number | null,
): Promise<Map<string, SignedOn[]>> {
  const signings = await daySignings(db, accountIds, date);
  const others = newest === null ? [] : [newest];
  const kept = await revisionFigures(db, date, signings, others);
  return new Map(
    [...signings].map(([accountId, own]) => [
      accountId,
      otherFigures(accountId, own, newest, kept),
    ]),
  );
}
