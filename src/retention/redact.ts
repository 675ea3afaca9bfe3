// Which of people's words have to go: the middles of card numbers that no version before took out,
// and what somebody names word for word, in every text that people wrote or their files brought.
// Neighbour: redactStore.ts takes them out, on record.

import { CARD_LENGTH_MIN, withoutCards } from '../core/text/cardSpellings.js';
import type { Database } from '../database/db.js';
import { ownsRefundRequests, peoplesTexts, type Redacted } from './redactStore.js';

export interface FoundWords {
  texts: Redacted[];
  /** names of who asked for what waits: they say who may not approve it, and stay until then */
  waiting: number;
  /** texts of requests of refunds that lie in a view of the shop: it has to take them out itself */
  elsewhere: number;
}

/** Reads every text once. `words`: what else has to go, as it stands there. */
export async function findWords(db: Database, words: readonly string[]): Promise<FoundWords> {
  const texts: Redacted[] = [];
  let waiting = 0;
  const least = Math.min(CARD_LENGTH_MIN, ...words.map((word) => [...word].length));
  for await (const rows of peoplesTexts(db, least)) {
    for (const row of rows) {
      const withoutNumbers = withoutCards(row.text, row.ids);
      const without = withoutWords(withoutNumbers, words);
      if (row.waits && without !== withoutNumbers) waiting += 1;
      const cleaned = row.waits ? withoutNumbers : without;
      if (cleaned === row.text) continue;
      texts.push({ ...row, cleaned, signs: signsOut(row.text, cleaned) });
    }
  }
  if (await ownsRefundRequests(db)) return { texts, waiting, elsewhere: 0 };
  const ours = texts.filter(({ relation }) => relation !== 'refund_requests');
  return { texts: ours, waiting, elsewhere: texts.length - ours.length };
}

/** Whether something of it has to go. */
export function hasToGo(text: string, words: readonly string[]): boolean {
  return withoutWords(withoutCards(text), words) !== text;
}

function withoutWords(text: string, words: readonly string[]): string {
  return words.reduce((left, word) => left.replaceAll(word, '*'.repeat([...word].length)), text);
}

/** What stars stand for now. */
function signsOut(text: string, cleaned: string): number {
  const stars = (one: string): number => one.split('*').length - 1;
  return Math.max(stars(cleaned) - stars(text), 1);
}
