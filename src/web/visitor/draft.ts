// What was typed into the form of a decision before the password was asked for, or before it was
// refused and why: kept with the session, never in an address, and shown once, on the page that the
// form stood on. Words only; what is decided about are the rows that the page shows then
// (returnAddress.ts).

import type { Draft } from '../../access/sessionsStore.js';
import { maskCardNumbers } from '../../core/text/masking.js';
import type { Fields } from './fields.js';

/** Fields that a person types or chooses; rows, tokens and passwords are never kept. */
const TYPED = [
  ...(['words', 'note', 'owner', 'reference', 'finding', 'account'] as const),
  ...(['name', 'role', 'kind', 'period'] as const),
] as const;
export type Typed = (typeof TYPED)[number];

/** Of the form, for the page at this address; null: nothing was typed, and nothing is wrong. */
export function draftOf(back: string, form: Fields, problem?: string): Draft | null {
  const typed = TYPED.flatMap((name): [Typed, string][] => {
    const text = form.text(name);
    return text === null ? [] : [[name, maskCardNumbers(text)]];
  });
  const draft = { path: pathOf(back), typed: Object.fromEntries(typed) };
  if (problem !== undefined) return { ...draft, problem: maskCardNumbers(problem) };
  return typed.length === 0 ? null : draft;
}

/** Whether the page at this address is the one that the form stood on. */
export function isFor(draft: Draft, address: string): boolean {
  return draft.path === pathOf(address);
}

function pathOf(address: string): string {
  return new URL(address, 'http://none/').pathname;
}
