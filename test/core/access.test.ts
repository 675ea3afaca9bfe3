// Which passwords may be chosen.

import { expect, test } from 'vitest';
import { passwordProblem } from '../../src/core/access.js';

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
