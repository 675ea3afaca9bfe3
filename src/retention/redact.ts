// Which of people's words have to go: the middles of card numbers that no version before took out,
// and what somebody names word for word, in every text that people wrote or their files brought.
// Neighbour: redactStore.ts takes them out, on record.

import { withoutCards } from '../core/text/cardSpellings.js';
import type { Database } from '../database/db.js';
import { ownsRefundRequests, peoplesTexts, type Redacted } from './redactStore.js';

export interface FoundWords {
  texts: Redacted[];
  /** texts of requests of refunds that lie in a view of the shop: it has to take them out itself */
  elsewhere: number;
}

/** Reads every text once. `words`: what else has to go, as it stands there. */
export async function findWords(db: Database, words: readonly string[]): Promise<FoundWords> {
  const texts: Redacted[] = [];
  for await (const rows of peoplesTexts(db)) {
    for (const row of rows) {
      const cleaned = withoutWords(withoutCards(row.text, row.ids), words);
      if (cleaned === row.text) continue;
      texts.push({ ...row, cleaned, signs: signsOut(row.text, cleaned) });
    }
  }
  if (await ownsRefundRequests(db)) return { texts, elsewhere: 0 };
  const ours = texts.filter(({ relation }) => relation !== 'refund_requests');
  return { texts: ours, elsewhere: texts.length - ours.length };
}

function withoutWords(text: string, words: readonly string[]): string {
  return words.reduce((left, word) => left.replaceAll(word, '*'.repeat([...word].length)), text);
}

/** What stars stand for now. */
function signsOut(text: string, cleaned: string): number {
  const stars = (one: string): number => one.split('*').length - 1;
  return Math.max(stars(cleaned) - stars(text), 1);
}
