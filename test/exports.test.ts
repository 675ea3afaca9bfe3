// What a file shows to others is named by another one; and no function is there for tests alone.
// The messages of the gateway's document stand whole, read or not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const PROGRAM = filesIn('src', 'jobs', 'reports').filter((path) => /\.tsx?$/.test(path));
const BESIDE = filesIn('bench', 'proof', 'scripts', 'bin').filter((path) => /\.m?js$/.test(path));
const TESTS = filesIn('test').filter((path) => path.endsWith('.ts'));

const DOCUMENT = /^src\/gateway\/document\/\w*[mM]essages\.ts$/;
const EXPORTED = /^export (?:async )?(function\*?|const|class|interface|type) ([A-Za-z_$][\w$]*)/gm;
const WORD = /[A-Za-z_$][\w$]*/g;

const textOf = new Map([...PROGRAM, ...BESIDE, ...TESTS].map((path) => [path, read(path)]));
const wordsOf = new Map([...textOf].map(([path, text]) => [path, new Set(text.match(WORD))]));

const exported = PROGRAM.filter((path) => !DOCUMENT.test(path)).flatMap((path) =>
  [...(textOf.get(path) ?? '').matchAll(EXPORTED)].map(([, kind = '', name = '']) => {
    return { path, kind, name };
  }),
);

describe('what is exported', () => {
  test('is named by another file', () => {
    const others = [...PROGRAM, ...BESIDE, ...TESTS];
    const alone = exported.filter(({ path, name }) => !isNamedIn(others, path, name));
    expect(alone.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  });

  test('as a function, is called by the program and not by tests alone', () => {
    const program = [...PROGRAM, ...BESIDE];
    const unused = exported.filter(({ path, kind, name }) => {
      const uses =
        textOf
          .get(path)
          ?.match(WORD)
          ?.filter((word) => word === name).length ?? 0;
      return kind.startsWith('function') && uses === 1 && !isNamedIn(program, path, name);
    });
    expect(unused.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  });
});

function isNamedIn(paths: readonly string[], owner: string, name: string): boolean {
  return paths.some((path) => path !== owner && wordsOf.get(path)?.has(name) === true);
}

function filesIn(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
