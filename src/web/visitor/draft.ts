// What was typed into the form of a decision before the password was asked for, or before it was
// refused and why: kept with the session, never in an address, and shown once, on the page that the
// form stood on. Words only; what is decided about are the rows that the page shows then
// (returnAddress.ts).

import type { Draft } from '../../access/sessionsStore.js';
import { withoutCards } from '../../core/text/cardSpellings.js';
import { OWN_DIGITS_MIN } from '../../core/text/keptIds.js';
import type { Database } from '../../database/db.js';
import { isGivenNumber } from '../../orders/historyStore.js';
import type { Fields } from './fields.js';

/** Fields that a person types or chooses; rows, tokens and passwords are never kept. */
const TYPED = [
  ...(['words', 'note', 'owner', 'reference', 'finding', 'account'] as const),
  ...(['name', 'role', 'kind', 'period'] as const),
] as const;
export type Typed = (typeof TYPED)[number];

/**
 * Of the form, for the page at this address; null: nothing was typed, and nothing is wrong. What
 * looks like a card number is taken out, as of what is decided; ids of these accounts are none.
 */
export async function draftOf(
  { db, accounts }: { db: Database; accounts: readonly string[] },
  back: string,
  form: Fields,
  problem?: string,
): Promise<Draft | null> {
  const given = TYPED.flatMap((name): [Typed, string][] => {
    const text = form.text(name);
    return text === null ? [] : [[name, text]];
  });
  if (given.length === 0 && problem === undefined) return null;
  const texts = [...given.map(([, text]) => text), problem ?? ''];
  const keep = await idsIn(db, accounts, texts);
  const typed = Object.fromEntries(given.map(([name, text]) => [name, withoutCards(text, keep)]));
  const draft = { path: pathOf(back), typed };
  return problem === undefined ? draft : { ...draft, problem: withoutCards(problem, keep) };
}

/** Filters that a person typed, as they are shown and go on record; ids stay as there. */
export async function typedWords(
  { db, accounts }: { db: Database; accounts: readonly string[] },
  text: string,
): Promise<string> {
  return withoutCards(text, await idsIn(db, accounts, [text]));
}

/** Numbers that are looked up of one form. */
const LOOKED_UP_MAX = 20;

/** What the texts name of orders, transactions and refunds, where it could be taken for a card. */
async function idsIn(
  db: Database,
  accounts: readonly string[],
  texts: readonly string[],
): Promise<string[]> {
  const named = texts
    .filter((text) => withoutCards(text) !== text)
    .flatMap((text) => text.split(/\s+/))
    .flatMap((word) => [word.replace(EDGES, ''), ...(word.match(DIGITS) ?? [])])
    .filter((word) => (word.match(/\d/g) ?? []).length >= OWN_DIGITS_MIN);
  const numbers = [...new Set(named)].slice(0, LOOKED_UP_MAX);
  const isId = await Promise.all(numbers.map((one) => isGivenNumber(db, accounts, one)));
  return numbers.filter((_, at) => isId[at]);
}

/** What a sentence puts around a number. */
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const DIGITS = /\d+/g;

/** Whether the page at this address is the one that the form stood on. */
export function isFor(draft: Draft, address: string): boolean {
  return draft.path === pathOf(address);
}

function pathOf(address: string): string {
  return new URL(address, 'http://none/').pathname;
}
