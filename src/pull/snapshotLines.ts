// From decoded entries to rows: the columns of tieout.look_entries in COPY text. Hot path, a
// hundred entries a page. Codes become states here, by the profile; what lacks the printed shape
// becomes null and is judged by the compare.

import { formatAmount } from '../core/money.js';
import type { GatewayState } from '../core/orders/order.js';
import { UNREADABLE } from '../core/runs/unreadable.js';
import { isStandIn } from '../core/text/otherType.js';
import { copyText } from '../database/copy/copyText.js';
import type { Profile } from '../gateway/document/profile.js';
import { stateOf } from '../gateway/document/profile.js';
import type { QueryEntry } from '../gateway/query/decode.js';
import { readWireAmount } from '../gateway/wire/amount.js';
import type { AskedPage, ChunkRow } from './snapshot/snapshotsStore.js';

/** One text for all entries of a page; `unasked` counts those whose order was not asked for. */
export function snapshotLines(
  profile: Profile,
  chunk: Pick<ChunkRow, 'pullId' | 'accountId'>,
  page: AskedPage,
  entries: readonly QueryEntry[],
): { text: string; unasked: number } {
  const asked = new Set(page.orderNos);
  const plain = plainEntries(profile, asked, entries);
  const prefix = `${chunk.pullId}\t${copyText(chunk.accountId)}\t${page.pageNo}\t`;
  // Joined once: a text that grows piece by piece is kept as all its pieces until it is sent.
  const lines: string[] = [];
  let unasked = 0;
  let position = 0;
  for (const entry of entries) {
    const isAsked = asked.has(entry.orderNo);
    const isPlain = plain.get(entry.orderNo) === position;
    if (!isAsked) unasked += 1;
    const order = `${position}\t${copyText(entry.orderNo)}\t${isPlain ? 'f' : 't'}`;
    lines.push(`${prefix}${order}\t${isAsked ? 't' : 'f'}\t${entryColumns(profile, entry)}\n`);
    position += 1;
  }
  return { text: lines.join(''), unasked };
}

/**
 * Which entry stands for an order that was asked for: the first that is alive, else the first; any
 * others are extra. A payment that was declined or given up before the one that was made is the
 * common case, and then the one that was made needs no second thought.
 */
function plainEntries(
  profile: Profile,
  asked: ReadonlySet<string>,
  entries: readonly QueryEntry[],
): Map<string, number> {
  const plain = new Map<string, number>();
  entries.forEach((entry, position) => {
    if (!asked.has(entry.orderNo)) return;
    const before = entries[plain.get(entry.orderNo) ?? -1];
    if (before && (!isDead(profile, before) || isDead(profile, entry))) return;
    plain.set(entry.orderNo, position);
  });
  return plain;
}

function isDead(profile: Profile, { paymentStatus }: QueryEntry): boolean {
  const state = meantBy(profile, paymentStatus);
  return state === 'cancelled' || state === 'declined';
}

/** A value that is no text means nothing, whatever the profile lists. */
function meantBy(profile: Profile, code: string | null): GatewayState | null {
  return code === null || isStandIn(code) ? null : stateOf(profile, code);
}

function isFound({ query: { found } }: Profile, { queryResult }: QueryEntry): boolean {
  return queryResult !== null && found.includes(queryResult) && !isStandIn(queryResult);
}

function entryColumns(profile: Profile, entry: QueryEntry): string {
  const amount = amountOf(profile, entry);
  const state = meantBy(profile, entry.paymentStatus);
  // One that names no order is an invalid entry, whatever else it lacks.
  const found = entry.orderNo.startsWith(UNREADABLE) || isFound(profile, entry);
  return [
    copyText(entry.transactionId),
    copyText(entry.currency),
    amount ?? '\\N',
    amount === null ? copyText(entry.amount) : '\\N',
    state ?? '\\N',
    copyText(entry.paymentStatus),
    found ? 't' : 'f',
    copyText(entry.queryResult),
    instantOf(entry.transactionDate, profile.transactionDate.timezone) ?? '\\N',
    copyText(entry.transactionDate),
    copyText(entry.referenceNo),
    entry.fraudRejected ? 't' : 'f',
    copyText(entry.recurringStatus),
  ].join('\t');
}

function amountOf(profile: Profile, entry: QueryEntry): string | null {
  // Of a currency that is no text nobody knows what the amount is.
  if (entry.amount === null || isStandIn(entry.currency ?? '')) return null;
  const amount = readWireAmount(profile.currencies, entry.currency ?? '', entry.amount);
  return amount === null ? null : formatAmount(amount);
}

const PRINTED_INSTANT = /^(\d{4})(\d\d)(\d\d)([01]\d|2[0-3])([0-5]\d)([0-5]\d)$/;
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * A printed transaction_date (YYYYMMDDhhmmss) as PostgreSQL reads it, zone included; null when it
 * lacks the shape or names a day that does not exist. By arithmetic: a Date for each would cost
 * more than all other columns of a row together.
 */
export function instantOf(printed: string | null, timezone: string): string | null {
  const match = printed === null ? null : PRINTED_INSTANT.exec(printed);
  if (!match) return null;
  const [, year, month, day, hour, minute, second] = match;
  if (!isDay(Number(year), Number(month), Number(day))) return null;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${timezone}`;
}

/** Whether the calendar has this day; PostgreSQL knows no year 0. */
function isDay(year: number, month: number, day: number): boolean {
  if (year === 0 || day === 0 || day > (MONTH_DAYS[month - 1] ?? 0)) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day < 29 || isLeap;
}
