// Which passwords may be chosen; how the roles of a person read.

import { expect, test } from 'vitest';
import { grantsText, passwordProblem } from '../../src/core/access.js';

test.each([
  ['correct horse battery', null],
  [`${'x'.repeat(64)}abcde`, null],
  ['tieout is not all of it', null],
  ['elevenchars', /at least 12/],
  ['a'.repeat(201), /more than 200/],
  ['my name is Ada and so', /contain the name/],
  ['abcabcabcabcabc', /same few/],
  ['Tieout-Password-2026', /words that one would try/],
  ['PASSWORDPASSWORD1', /words that one would try/],
  ['settlement-gateway!', /words that one would try/],
])('%s', (password, problem) => {
  const found = passwordProblem(password, 'ada');
  if (problem === null) expect(found).toBeNull();
  else expect(found).toMatch(problem);
});

test('the roles of a person name a few accounts and how many more there are', () => {
  const each = Array.from({ length: 597 }, (_, at) => ({ accountId: `S${at + 1}` }));
  const grants = each.map((one) => ({ role: 'finance' as const, ...one }));
  const all = { role: 'viewer' as const, accountId: null };
  expect(grantsText([...grants, all])).toBe('finance of S1, S2, S3 and 594 more; viewer');
  expect(grantsText(grants.slice(0, 2))).toBe('finance of S1 and S2');
  expect(grantsText([{ ...all, accountId: 'S1' }, all])).toBe('viewer');
});
