// Texts that name commands, for who has no shell: a place of the console, or whom to ask.

import { expect, test } from 'vitest';
import { letGoWords } from '../../src/core/instructions/breaker.js';
import { commandParts, withoutCommands } from '../../src/core/text/commandWords.js';

test.each([
  ['until `tieout instructions replan 7`', '/instructions/7', 'Instruction 7: plan it again'],
  ['`tieout instructions resolve`', '/instructions', 'Instructions: resolve it'],
  ['`tieout instructions list --account A1`', '/instructions?account=A1', 'Instructions of A1'],
  ['`tieout breaks list --kind not_settled`', '/breaks?kind=not_settled', 'Breaks'],
  ['`tieout breaks list --account A1`', '/breaks?account=A1', 'Breaks of A1'],
  ['`tieout breaks waive ID --reason TEXT`', '/breaks', 'Breaks'],
  ['`tieout order A1 a/b`', '/orders/A1/a%2Fb', 'Order a/b'],
  ['`tieout run --date 2026-11-24`', '/nights/2026-11-24', 'Run again'],
  ['`tieout jobs list`', '/jobs', 'Jobs'],
  ['`tieout authorisations`', '/authorisations', 'Reservations'],
  ['(`tieout settlement`)', '/settlement', 'Settlement'],
  [letGoWords('A1'), '/brake', 'Resume sending'],
  [letGoWords(null), '/brake', 'Resume sending'],
])('%s leads to %s', (text, path, label) => {
  const places = commandParts(text).flatMap((part) =>
    part.kind === 'command' ? [part.place] : [],
  );
  expect(places).toEqual([{ path, label }]);
  expect(withoutCommands(text)).toContain(`“${label}” on the console`);
  expect(withoutCommands(text)).not.toMatch(/tieout|`/);
});

test('what only a shell has is asked of the operator, and all else stays', () => {
  expect(withoutCommands('first `tieout doctor`, or `not-happened`')).toBe(
    'first (ask the operator to run: tieout doctor), or not-happened',
  );
  expect(withoutCommands('were they imported? (`tieout import orders FILE`).')).toBe(
    'were they imported? (ask the operator to run: tieout import orders FILE).',
  );
  expect(withoutCommands('the books have them (`tieout settlement`)')).toBe(
    'the books have them (“Settlement” on the console)',
  );
  expect(withoutCommands('no command of tieout')).toBe('no command of tieout');
});
