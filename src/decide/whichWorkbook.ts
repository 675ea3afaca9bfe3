// Of which night, revision and accounts a workbook with decisions is, when it was written, and
// whether a newer one is there: so that nobody decides by an old one unknowingly. What the file
// says of itself counts only where the record of that revision has the same digests.

import { basename } from 'node:path';
import { aboutSheet } from '../../reports/decisions/aboutSheet.js';
import { MANIFEST } from '../../reports/reconciliation.js';
import { isDay } from '../core/period.js';
import { andMore } from '../core/text/amounts.js';
import type { Db } from '../database/db.js';
import type { BookOnRecord } from '../report/keptReportsStore.js';
import { bookOnRecord } from '../report/keptReportsStore.js';

/** A workbook of ours; null: the file does not say which, or not as it was written. */
export type WhichWorkbook = Omit<BookOnRecord, 'digests'> | null;

/** `accountIds`: about which the person is told; null: all. */
export async function whichWorkbook(
  db: Db,
  bytes: Buffer,
  accountIds: readonly string[] | null,
): Promise<WhichWorkbook> {
  const said = await aboutSheet(bytes);
  const businessDate = said?.get('Business date') ?? '';
  const revision = said?.get('Revision') ?? '';
  if (said === null || !isDay(businessDate) || !REVISION.test(revision)) return null;
  const found = await bookOnRecord(db, businessDate, Number(revision));
  if (found === null) return null;
  const { digests, ...book } = found;
  const manifest = [...said].filter(([name]) => name.startsWith(MANIFEST));
  const isOurs = manifest.every(([name, value]) => digests[name.slice(MANIFEST.length)] === value);
  if (manifest.length === 0 || !isOurs) return null;
  return {
    ...book,
    newer: book.newer.map((one) => ({ ...one, file: basename(one.file) })),
    accounts: book.accounts.filter((one) => accountIds === null || accountIds.includes(one)),
  };
}

const REVISION = /^[1-9]\d{0,8}$/;

/** Accounts that are named. */
const ACCOUNTS_NAMED = 10;

/** In sentences; `at` writes a time as the reader has it. */
export function workbookSentences(book: WhichWorkbook, at: (time: Date) => string): string[] {
  if (book === null) {
    return [
      'Of which night this workbook is cannot be said: its sheet About this run is missing, or ' +
        'is not as it was written.',
    ];
  }
  const { businessDate, revision, accounts, writtenAt, newer } = book;
  const named = accounts.slice(0, ACCOUNTS_NAMED).join(', ');
  const of = accounts.length === 1 ? 'account' : 'accounts';
  const whose = named === '' ? '' : `, ${of} ${named}${andMore(accounts.length - ACCOUNTS_NAMED)}`;
  return [
    `This workbook is of the night of ${businessDate}, revision ${revision}${whose}; written ` +
      `${at(writtenAt)}.`,
    ...newer.map((one) => `A newer one is there: ${one.file}, ${newerWords(one, businessDate)}.`),
  ];
}

function newerWords(
  { businessDate, revision }: BookOnRecord['newer'][number],
  own: string,
): string {
  const which = `revision ${revision}`;
  return businessDate === own ? `${which} of the same night` : `of the night of ${businessDate}`;
}
