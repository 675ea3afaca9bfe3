// What a file shows to others is named by another one, and no function is there for tests alone;
// and a file that a comment names is there. The messages of the gateway's document stand whole,
// read or not.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

const SOURCES = filesIn('src', 'jobs', 'reports', 'migrations').filter((path) =>
  /\.(tsx?|sql)$/.test(path),
);
const COMMENT = { sql: /--.*/g, ts: /^\s*(?:\/\/|\/?\*).*/gm };
/** Not behind a star: `*Store.ts` means many. */
const FILE_NAME = /(?<![*\w.])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|sql)\b/g;

describe('what a comment names', () => {
  test('is one file: in the same room, or the only one of that name', () => {
    const lost = SOURCES.filter((path) => !path.startsWith('migrations/')).flatMap((path) =>
      (read(path).match(path.endsWith('.sql') ? COMMENT.sql : COMMENT.ts) ?? [])
        .flatMap((comment) => comment.match(FILE_NAME) ?? [])
        .filter((name) => !isFound(path, name))
        .map((name) => `${path}: ${name}`),
    );
    expect(lost).toEqual([]);
  });
});

/** Files of the program go first; then those of tests, which a comment may name too. */
function isFound(from: string, name: string): boolean {
  const named = (paths: readonly string[]): string[] =>
    paths.filter((path) => path === name || path.endsWith(`/${name}`));
  const found = named(SOURCES);
  const beside = found.filter((path) => dirname(path) === dirname(from));
  const inRoom = found.filter((path) => roomOf(path) === roomOf(from));
  const [nearest = []] = [beside, inRoom, found, named(TESTS)].filter((some) => some.length > 0);
  return nearest.length === 1;
}

function roomOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('src/') ? 2 : 1)
    .join('/');
}

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
