// Words of a notification that could be numbers of orders or payouts. The payload is not shown
// anywhere, so it is not parsed: whatever looks like an identifier is tried against the ledger and
// what was sent, and nothing else is made of it.

/** Longer words are no order numbers; more of them are not tried. */
const WORD_LENGTH_MAX = 128;
const WORDS_MAX = 1_000;

const WORD = /[\p{L}\p{N}][\p{L}\p{N}._/-]*/gu;

/** Distinct candidates in the order in which they stand; form encoding is undone first. */
export function candidateWords(text: string): string[] {
  const words = new Set<string>();
  for (const source of [text, decoded(text)]) {
    for (const [word] of source.matchAll(WORD)) {
      if (words.size >= WORDS_MAX) return [...words];
      if (word.length <= WORD_LENGTH_MAX) words.add(word);
    }
  }
  return [...words];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '';
  }
}

/** Of a payout that is not settled: no query shows one, so that a person has to look. */
export function hintWords(at: string): string {
  return `a notification named it at ${at}: a reason to look, and no proof`;
}
