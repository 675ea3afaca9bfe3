// What is told of a schema that is not the shipped one, as a table of cases; what a real database
// tells stands in verify/attacks.test.ts.

import { expect, test } from 'vitest';
import type { Definition } from '../../../src/verify/definitions/definitions.js';
import { compareDefinitions, shippedText } from '../../../src/verify/definitions/definitions.js';

const made = (kind: string, relation: string | null, name: string): Definition => ({
  ...{ kind, relation, template: relation, name, plain: `${kind} ${name}` },
  ...{ printed: `printed ${name}`, isPart: false },
});
const part = (kind: string, month: string, name: string): Definition => ({
  ...made(kind, `pages_${month}`, name),
  ...{ template: 'pages_before', printed: null, isPart: true },
});

const f = made('function', null, 'f()');
const guard = made('trigger', 'brakes', 'guard');
const brakes = made('table', 'brakes', '');
const [pages, look] = [part('table', 'before', ''), part('trigger', 'before', 'look')];
const SHIPPED = [f, guard, brakes, pages, look];
const text = shippedText({ major: 18, objects: SHIPPED });

test.each<[string, Definition[], string[]]>([
  ['the same', SHIPPED, []],
  ['gone', [f, brakes, pages, look], ['trigger guard of tieout.brakes is gone']],
  ['changed', [{ ...f, plain: 'else' }, guard, brakes], ['function f() was changed']],
  ['printed otherwise', [{ ...f, printed: 'else' }, guard, brakes], ['function f() was changed']],
  [
    'one more',
    [...SHIPPED, made('rule', 'brakes', 'r')],
    ['rule r of tieout.brakes is not of this version'],
  ],
  ['a table of their own', [...SHIPPED, made('table', 'theirs', '')], []],
  [
    'off',
    [...SHIPPED, made('trigger that is off', 'brakes', 'guard')],
    ['trigger guard of tieout.brakes is switched off'],
  ],
  [
    'a month',
    [f, guard, brakes, part('table', '2026_01', ''), part('trigger', '2026_01', 'look')],
    [],
  ],
  [
    'a month without its guard',
    [f, guard, brakes, part('table', '2026_01', '')],
    ['trigger look of tieout.pages_2026_01 is gone'],
  ],
])('%s', (_name, objects, expected) => {
  const { altered, notCompared } = compareDefinitions({ major: 18, objects }, text);
  expect(altered.map(({ object, problem }) => `${object} ${problem}`)).toEqual(expected);
  expect(notCompared).toBeNull();
});

test('on another PostgreSQL what it prints is not compared, and that is said', () => {
  const objects = [{ ...f, printed: 'else' }, { ...guard, plain: 'else' }, brakes];
  const { altered, notCompared } = compareDefinitions({ major: 17, objects }, text);
  expect(altered.map(({ object }) => object)).toEqual(['trigger guard of tieout.brakes']);
  expect(notCompared).toMatch(/PostgreSQL 17 .* than PostgreSQL 18/);
});

test('a file that is cut off is refused, not taken for less', () => {
  expect(() => compareDefinitions({ major: 18, objects: SHIPPED }, '')).toThrow(/nothing in it/);
  expect(() => compareDefinitions({ major: 18, objects: SHIPPED }, `${text}x\ty`)).toThrow(/x/);
});
