// What a person waived is told: the auditor takes no account amiss that ties out with an unknown whose
// own break was waived, and still one whose unknown nobody has waived. Neighbour: auditor.test.ts.

import { describe, expect, it } from 'vitest';
import { editSummary, rowOf } from './plantedTold.js';
import type { Books } from './soundBooks.js';
import { soundBooks } from './soundBooks.js';

const AUDITOR = new URL('../../proof/auditor/findViolations.mjs', import.meta.url).href;

async function namesOf(books: Books): Promise<string[]> {
  const { findViolations } = (await import(AUDITOR)) as {
    findViolations: (books: Books) => { violations: { invariant: string }[] };
  };
  return findViolations(books).violations.map(({ invariant }) => invariant);
}

describe('an account that ties out with an unknown', () => {
  it('is well where the break of the unknown was waived, and only there', async () => {
    const books = soundBooks();
    editSummary(books, (account) => {
      account.state = 'tied_out';
    });
    expect(await namesOf(books)).toEqual(['I14']);
    Object.assign(rowOf(books, 'breaks', 0), { state: 'waived' });
    expect(await namesOf(books)).toEqual([]);
    Object.assign(rowOf(books, 'breaks', 0), { kind: 'state_mismatch' });
    expect(await namesOf(books)).toEqual(['I14']);
  });
});
