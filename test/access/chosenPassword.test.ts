// Which passwords a guesser soon comes to.

import { expect, test } from 'vitest';
import { chosenPasswordProblem } from '../../src/access/chosenPassword.js';

test.each([
  '1qaz2wsx3edc',
  'Football-2026!',
  'iloveyouforever',
  'qwertyuiop123',
  'P@ssw0rd!2345678',
  'dragondragon',
  '123456654321',
  'qwerty123456',
  'Summer2026!!!',
  'princess-dragon',
  `${'x'.repeat(64)}abcde`,
])('%s is refused', async (password) => {
  expect(await chosenPasswordProblem(password, 'ada')).toMatch(/soon comes to/);
});

test.each([
  'correct horse battery',
  'football monkey ladder',
  'xk-7431-vvmq-tr',
  `${'a long sentence that one remembers, '.repeat(4)}and its end`,
])('%s will do', async (password) => {
  expect(await chosenPasswordProblem(password, 'ada')).toBeNull();
});

test('the rules are asked first', async () => {
  expect(await chosenPasswordProblem('short', 'ada')).toMatch(/at least 12/);
});
