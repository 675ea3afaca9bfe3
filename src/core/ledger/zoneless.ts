// Columns of the ledger that hold a time without its zone: read as UTC, which is said, since a shop
// that means another zone by it would have a request of before liveFrom refunded. Pure: the words.

import type { Notice } from '../runs/notices.js';

export interface ZonelessColumn {
  /** of the schema ledger */
  relation: string;
  column: string;
}

/** What they are, and what to write in the view. */
export function zonelessSentence(columns: readonly ZonelessColumn[]): string {
  const column = columns[0]?.column ?? '';
  return (
    `${named(columns)}: a time without a zone is read as UTC. Where the shop means another ` +
    'zone, a view has to say so (`' +
    `${column}::timestamp at time zone 'Europe/Berlin' as ${column}\`); ` +
    "where it means UTC, `::timestamp at time zone 'UTC'` says that, too"
  );
}

/** Told by each run: it decides what is history, and to which date something belongs. */
export function zonelessNotice(accountId: string, columns: readonly ZonelessColumn[]): Notice {
  const about = `times of the ledger without a zone (${named(columns)})`;
  return { accountId, kind: 'ledger_zone', about, text: zonelessSentence(columns) };
}

function named(columns: readonly ZonelessColumn[]): string {
  return columns.map(({ relation, column }) => `ledger.${relation}.${column}`).join(', ');
}
