// What each command says of itself fits a terminal of 80 columns: commander fills its own lines, and
// what is added behind them has to be filled, too.

import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.js';
import { commandTree } from '../../src/cli/commandTree.js';
import { tieoutHere } from '../support/cliHere.js';

test('no line of any --help is longer than 80 columns', async () => {
  const long: string[] = [];
  for (const { path } of await commandTree(COMMANDS)) {
    const words = path === '' ? ['--help'] : [...path.split(' '), '--help'];
    const { code, stdout } = await tieoutHere(words, { cwd: process.cwd() });
    if (code !== 0) long.push(`${path} ends with ${code}`);
    const over = stdout.split('\n').filter((line) => line.length > 80);
    long.push(...over.map((line) => `${path}: ${line}`));
  }
  expect(long).toEqual([]);
});

test.each([
  ['users', 'key', 'users has list, add, role, '],
  ['breaks', 'foo', 'breaks has list, show, '],
  ['jobs', 'foo', 'jobs has list, show, '],
  ['brake', 'foo', 'brake has '],
  ['runs', '2026-11-19', 'runs has list, show'],
])('%s %s is told as no command of it, with what there is', async (command, word, told) => {
  const { code, stderr } = await tieoutHere([command, word, 'more'], { cwd: '/' });
  expect([code, stderr.split('\n')[0]]).toEqual([
    2,
    expect.stringContaining(`error: unknown command '${word}': ${told}`),
  ]);
});
