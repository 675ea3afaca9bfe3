// Entries of an answer that name no order: nobody can say which one they are about, so that of an
// asked order without an entry beside them nothing is known. And pages of which there is no answer
// at all, counted. Pure: their words.

import { andMore, counted, countText, moreOf } from '../text/amounts.js';
import type { Notice } from './notices.js';

/** What the order that stands for such an entry is called; a digest of the entry follows. */
export const UNREADABLE = '(unreadable)';

/** Where it stands, as a person would look for it in the stored answer. */
export function unreadablePlace(pageNo: number, position: number): string {
  return `entry ${position + 1} of page ${pageNo}`;
}

/** Why an order on whose page such entries stand, and which has none itself, was not looked at. */
export function unreadableReason(places: readonly string[]): string {
  const others = andMore(places.length - 1);
  const more = others === '' ? '' : `,${others},`;
  return `${places[0]}${more} names no order: it may be about this one`;
}

export interface UnreadableFacts {
  accountId: string;
  entries: number;
  /** the first of them */
  places: readonly { pageNo: number; position: number }[];
  /** orders without an entry, which any of them may be about */
  orders: number;
}

/** One bad entry harms itself, and what it may be about. */
export function unreadableNotice({ accountId, entries, places, orders }: UnreadableFacts): Notice {
  const named = places.map(({ pageNo, position }) => unreadablePlace(pageNo, position));
  const which = [...named, ...moreOf(entries - places.length)].join(', ');
  const count = entries === 1 ? '1 entry that names' : `${countText(entries)} entries that name`;
  const unread =
    orders === 0
      ? 'every order that was asked for there has its own'
      : `${orders === 1 ? '1 order' : `${countText(orders)} orders`} without an entry there: ` +
        'not checked, since it may be about any of them';
  const text =
    `the gateway answered ${count} no order (${which}): invalid, and what else stands there is ` +
    `judged; ${unread}. The answer is kept: ask the acquirer what it is`;
  return { accountId, kind: 'unreadable_entry', about: `${count} no order`, text };
}

interface OfPages {
  /** of the first look */
  pull: { failedPages: number };
  accounts: readonly { failedLater?: number }[];
}

/** Pages of the looks after sending that failed. */
export function failedLater({ accounts }: Pick<OfPages, 'accounts'>): number {
  return accounts.reduce((sum, { failedLater: pages = 0 }) => sum + pages, 0);
}

/** "2 pages failed, 1 of them in the look after sending"; empty: none did. */
export function failedPagesWords(run: OfPages): string {
  const [first, later] = [run.pull.failedPages, failedLater(run)];
  if (first + later === 0) return '';
  const all = `${counted(first + later, 'page')} failed`;
  if (later === 0) return all;
  const look = 'in the look after sending';
  return first === 0 ? `${all} ${look}` : `${all}, ${countText(later)} of them ${look}`;
}
