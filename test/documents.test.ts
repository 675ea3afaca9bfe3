// The papers beside the program: they name only what exists, and leave out nothing that a person
// may meet in the morning. Diagrams, tables and words are held against the data they describe.
// Neighbour: house.test.ts holds the code.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { INITIAL_VALUES, PROFILE_TEMPLATE, renderConfig } from '../src/config/templates.js';
import { ALERT_EVENTS } from '../src/core/alertMessages.js';
import { EXIT_WORDS } from '../src/core/exitCodes.js';
import { BATCH_MOVES } from '../src/core/instructions/batch.js';
import { SENDING_MOVES } from '../src/core/instructions/breaker.js';
import { HOLD_REASONS } from '../src/core/instructions/holdReasons.js';
import { INSTRUCTION_STATES, LEGAL_MOVES } from '../src/core/instructions/instruction.js';
import { BREAK_KINDS, VERDICT_TABLE } from '../src/core/orders/verdict.js';
import { profileOrigins } from '../src/gateway/document/profile.js';
import { METRICS } from '../src/web/metrics.js';
import { anchorsOf, tableIn } from './support/papers.js';
import { allFiles, ROOT, textOf } from './support/sourceFiles.js';

const PAPERS = allFiles().filter((path) => path.endsWith('.md'));
/** Everything in which people cite a paper. */
const CITING = allFiles().filter((path) => /\.(md|tsx?|mjs|js|sql|yaml|sh)$/.test(path));
/** `CONTRACT section 4`, `docs/CONTRACT.md section 4`, `law 1 of ARCHITECTURE.md`, `laws 1 and 4 of ...` */
const CITATION = /\b(CONTRACT(?:\.md)? section|laws?) (\d+)(?: and (\d+))?\b/g;

describe('diagrams of states', () => {
  test('the instruction moves as core says', () => {
    const moves = INSTRUCTION_STATES.flatMap((from) => LEGAL_MOVES[from].map((to) => [from, to]));
    expect(inner(diagram('Instruction'))).toEqual(sorted(moves));
    const begins = diagram('Instruction').filter(([from]) => from === '[*]');
    expect(begins.map(([, to]) => to)).toEqual(['planned', 'held']);
  });

  test('the instruction moves as the database guards it', () => {
    const schema = textOf('migrations/schema.sql');
    const guard = /TRIGGER guard_move .*?ALL \(ARRAY\[(.*?)\]\)/s.exec(schema)?.[1] ?? '';
    const moves = [...guard.matchAll(/'(\w+) (\w+)'/g)].map(([, from, to]) => [from, to]);
    expect(sorted(moves)).toEqual(inner(diagram('Instruction')));
  });

  test.each([
    ['Batch', 'batch_move', BATCH_MOVES],
    ['Sending of an account', 'sending_move', SENDING_MOVES],
  ])(
    '%s: core, the guard of the database and the diagram have the same moves',
    (title, name, data) => {
      const moves = Object.entries<readonly string[]>(data).flatMap(([from, ends]) =>
        ends.map((to) => [from, to]),
      );
      const list = new RegExp(`select from \\(values([^;]*?)\\) as ${name} `, 's');
      const guard = list.exec(migrations().replaceAll(/--.*/g, ''))?.[1] ?? '';
      const guarded = [...guard.matchAll(/\('(\w+)', '(\w+)'\)/g)].map(([, from, to]) => [
        from,
        to,
      ]);
      expect(sorted(guarded)).toEqual(sorted(moves));
      expect(inner(diagram(title))).toEqual(sorted(moves));
    },
  );

  test.each([
    ['Batch', 'batches', []],
    ['Run', 'runs', []],
    ['Break', 'breaks', []],
    ['Instruction', 'instructions', []],
    // An attempt under way has no outcome yet; the diagram calls that open.
    ['Attempt', 'attempts', ['open']],
  ])('%s has the states of its table', (title, table, unwritten) => {
    const drawn = new Set(diagram(title).flat());
    drawn.delete('[*]');
    expect([...drawn].sort()).toEqual([...statesOfTable(table), ...unwritten].sort());
  });
});

describe('the contract', () => {
  const [, verdicts = ''] = textOf('docs/CONTRACT.md').split('\n## 6 Verdicts\n');

  test('prints the table of verdicts as core has it', () => {
    const [head = [], , ...rows] = tableIn(verdicts);
    const printed = rows.map(([expected = '', ...cells]) => [
      expected,
      // Before a comma stands what the order is where refunds have nothing to say.
      Object.fromEntries(cells.map((cell, at) => [head[at + 1], cell.split(', ').at(-1)])),
    ]);
    expect(Object.fromEntries(printed)).toEqual(VERDICT_TABLE);
  });

  test('names every kind of break', () => {
    const [, kinds = ''] = /\*\*Breaks\*\*: ([^.]*)\./.exec(verdicts) ?? [];
    expect(kinds.split(/,\s+/)).toEqual([...BREAK_KINDS]);
  });
});

describe('the runbook', () => {
  const runbook = textOf('docs/RUNBOOK.md');

  test.each(BREAK_KINDS)('says what to do about the break %s', (kind) => {
    expect(runbook).toContain(`| \`${kind}\` |`);
  });

  test('says why an instruction is held, for every reason there is', () => {
    const plan = textOf('src/plan/plan.sql');
    const blocks = /send_block in \(([^)]*)\)/.exec(migrations())?.[1] ?? '';
    const found = [
      ...plan.matchAll(/\b(?:then|not p\.above.*then)\s+'(\w+)'/g),
      ...blocks.matchAll(/'(\w+)'/g),
    ].map(([, reason]) => reason ?? '');
    const held = Object.keys(HOLD_REASONS);
    expect(found.filter((name) => !['planned', 'held', ...held].includes(name))).toEqual([]);
    expect(held.filter((reason) => !runbook.includes(`| \`${reason}\` |`))).toEqual([]);
  });

  test('says why an order was not compared, for every reason there is', () => {
    const list = /not_compared in\s*\(([^)]*)\)/.exec(migrations())?.[1] ?? '';
    const reasons = [...list.matchAll(/'(\w+)'/g)].map(([, reason]) => reason ?? '');
    expect(reasons).toContain('no_look');
    expect(reasons.filter((reason) => !runbook.includes(`| \`${reason}\` |`))).toEqual([]);
  });

  test.each(Object.keys(EXIT_WORDS))('contract and README say what exit code %s means', (code) => {
    expect(textOf('docs/CONTRACT.md')).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
    expect(textOf('README.md')).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
  });
});

describe('alerts and metrics', () => {
  const runbook = textOf('docs/RUNBOOK.md');
  const rules = textOf('deploy/prometheus-rules.yaml');

  test.each(ALERT_EVENTS)(
    'the runbook says what to do about %s, and the list when it comes',
    (event) => {
      expect(runbook).toContain(`| \`${event}\` |`);
      expect(textOf('docs/OPERATIONS.md')).toContain(`| \`${event}\` |`);
    },
  );

  test('the runbook says of each exit code once what to do', () => {
    const codes = [...runbook.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code);
    expect(codes).toEqual(Object.keys(EXIT_WORDS));
  });

  test('the runbook has every metric, and no other', () => {
    const named = [...runbook.matchAll(/`(tieout_\w+)`/g)].map(([, name]) => name ?? '');
    expect(sorted([...new Set(named)])).toEqual(sorted(Object.keys(METRICS)));
  });

  test('alarms rest on metrics there are, and the runbook has each of them', () => {
    const { groups } = parse(rules) as { groups: { rules: { alert: string; expr: string }[] }[] };
    const alarms = groups.flatMap((group) => group.rules);
    expect(alarms.length).toBeGreaterThan(10);
    const used = alarms.flatMap(({ expr }) =>
      [...expr.matchAll(/\btieout_\w+/g)].map(([name]) => name),
    );
    expect(used.filter((name) => !(name in METRICS))).toEqual([]);
    expect(alarms.filter(({ alert }) => !runbook.includes(`\`${alert}\``))).toEqual([]);
    const told = [...runbook.matchAll(/`(Tieout\w+)`/g)].map(([, name]) => name ?? '');
    expect(told.filter((name) => !alarms.some(({ alert }) => alert === name))).toEqual([]);
  });

  test('labels of the alarms are those of the metrics', () => {
    const pairs = [...rules.matchAll(/(tieout_\w+)\{(\w+)=/g)];
    expect(pairs.length).toBeGreaterThan(4);
    for (const [, name = '', label] of pairs) {
      const [, ...labels] = METRICS[name as keyof typeof METRICS] as readonly string[];
      expect(labels).toContain(label);
    }
  });
});

describe('the list of settings', () => {
  const settings = textOf('docs/CONFIGURATION.md');

  test('has every key of the configuration, and no other', () => {
    const table = settings.split('## gateway-profile.yaml')[0] ?? '';
    expect(keysIn(table)).toEqual(sorted(configKeys()));
  });

  test('has every key of the profile', () => {
    const table = settings.split('## gateway-profile.yaml')[1] ?? '';
    const keys = profileOrigins(PROFILE_TEMPLATE, 'template').map(({ key }) => key);
    const named = keysIn(table);
    const missing = keys.filter(
      (key) => !named.some((name) => key === name || key.startsWith(`${name}.`)),
    );
    expect(missing).toEqual([]);
  });

  test('and the list of open points agree on what the profile answers', () => {
    const keys = Object.keys(parse(PROFILE_TEMPLATE) as object);
    const gateway = textOf('docs/GATEWAY.md');
    expect(keys.filter((key) => !new RegExp(`\`${key}\\b`).test(gateway))).toEqual([]);
  });
});

describe('what the papers name', () => {
  test('are commands that exist', () => {
    const known = new Set(commandNames());
    const named = PAPERS.flatMap((path) =>
      [...textOf(path).matchAll(/(?:^ {4}(?:\$ )?|npx |`)tieout ([a-z]+)/gm)].map(([, name]) => ({
        path,
        name,
      })),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ name }) => !known.has(name ?? ''))).toEqual([]);
  });

  test('as the installed program calls them: npx only in the checkout, which the README shows', () => {
    const strayed = PAPERS.filter((path) => textOf(path).includes('npx tieout'));
    expect(strayed).toEqual(['README.md']);
    const [checkout = '', rest = ''] = textOf('README.md').split('\n## The commands\n');
    expect(checkout).toContain('Elsewhere never type `npx tieout`');
    // In a project it is one command with the installation before it.
    expect(rest.replace(/npm install \S+ && npx tieout demo/, '')).not.toContain('npx tieout');
  });

  test('the README lists every command', () => {
    const readme = textOf('README.md');
    expect(commandNames().filter((name) => !new RegExp(`\`${name}\\b`).test(readme))).toEqual([]);
  });

  test('are files that exist, and headings in them', () => {
    const links = PAPERS.flatMap((path) =>
      [...textOf(path).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
        ([, link = '', anchor]) => ({ path, link, anchor }),
      ),
    );
    expect(links.filter(({ anchor }) => anchor !== undefined).length).toBeGreaterThan(10);
    const broken = links.filter(({ path, link, anchor }) => {
      const file = link === '' ? path : join(dirname(path), link);
      return !existsSync(join(ROOT, file)) || (anchor && !anchorsOf(file).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  test('are sections of the contract and laws that exist, wherever they are cited', () => {
    const sections = textOf('docs/CONTRACT.md').matchAll(/^## (\d+) /gm);
    expect([...sections].map(([, number]) => Number(number))).toEqual(upTo(11));
    const [, laws = ''] = textOf('ARCHITECTURE.md').split('\n## The laws, and where each lives\n');
    const numbers = [...(laws.split('\n## ')[0] ?? '').matchAll(/^(\d+)\. \*\*/gm)];
    expect(numbers.map(([, number]) => Number(number))).toEqual(upTo(14));

    const cited = CITING.flatMap((path) => {
      const text = textOf(path).replaceAll(/\n\s*(?:\/\/|--|\*)?\s*/g, ' ');
      return [...text.matchAll(CITATION)].map(([found, what, first, second]) => ({
        found: `${path}: ${found}`,
        last: /law/.test(what ?? '') ? 14 : 11,
        numbers: [first, second].filter((number) => number !== undefined).map(Number),
      }));
    });
    expect(cited.length).toBeGreaterThan(50);
    const lost = cited.filter(({ last, numbers }) => !numbers.every((at) => at >= 1 && at <= last));
    expect(lost.map(({ found }) => found)).toEqual([]);
  });

  test('are papers of this repository, also where code names them', () => {
    const lost = CITING.flatMap((path) =>
      [...textOf(path).matchAll(/(?<![\w/.-])(?:docs\/)?[A-Z][A-Z_]+(?:\.md\b|(?= law \d))/g)]
        .filter(([name]) => ![name, `docs/${name}`].some((paper) => PAPERS.includes(paper)))
        .map(([name]) => `${path}: ${name}`),
    );
    expect(lost).toEqual([]);
  });

  test('the architecture names every table', () => {
    const tables = [...migrations().matchAll(/create (?:unlogged )?table (tieout|ledger)\.(\w+)/g)];
    const text = textOf('ARCHITECTURE.md');
    const missing = tables
      .map(([, schema, table]) => (schema === 'ledger' ? `ledger.${table}` : (table ?? '')))
      .filter((table) => !text.includes(`| \`${table}\` |`));
    expect(missing).toEqual([]);
  });
});

test('the schema in one file is that of the newest migration: `npm run schema` writes it anew', () => {
  const names = allFiles().map((path) => /^migrations\/(\d+\w+)\.sql$/.exec(path)?.[1] ?? '');
  const newest = names.sort().at(-1);
  expect(textOf('migrations/schema.sql').split('\n')[0]).toContain(`after ${newest},`);
});

test('the image is made of files that exist, and that are handed to who makes it', () => {
  const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, sources = '']) => sources.split(' '),
  );
  const handed = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  expect(copied.length).toBeGreaterThan(5);
  const missing = copied.filter((source) => {
    const isHanded = handed.some((line) => `${source}/`.startsWith(`${line.slice(1)}/`));
    return !isHanded || !existsSync(join(ROOT, source));
  });
  expect(missing).toEqual([]);
});

/** The arrows of the mermaid diagram under a heading. */
function diagram(title: string): [string, string][] {
  const [, section = ''] = textOf('docs/STATES.md').split(`\n## ${title}\n`);
  const [, code = ''] = section.split('\n## ')[0]?.split('```') ?? [];
  const arrows = [...code.matchAll(/^\s*(\S+) --> (\S+)$/gm)];
  return arrows.map(([, from = '', to = '']) => [from, to]);
}

/** Without beginnings and ends, in order. */
function inner(arrows: readonly [string, string][]) {
  return sorted(arrows.filter((arrow) => !arrow.includes('[*]')));
}

function sorted<T>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (String(a) < String(b) ? -1 : 1));
}

function migrations(): string {
  return allFiles()
    .filter((path) => /^migrations\/\d+.*\.sql$/.test(path))
    .map(textOf)
    .join('\n');
}

/** The values that the first state check (or outcome check) of a table allows. */
function statesOfTable(table: string): string[] {
  const [, body = ''] = migrations().split(`create table tieout.${table} (`);
  const list = /\b(?:state|outcome) text (?:not null )?check \(\w+ in \(([^)]*)\)/.exec(body)?.[1];
  return [...(list ?? '').matchAll(/'(\w+)'/g)].map(([, state]) => state ?? '');
}

/** Names in backquotes in the first column of a table. */
function keysIn(text: string): string[] {
  const cells = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ')[0] ?? '');
  return sorted(
    cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key]) => key ?? '')),
  );
}

/** Every key of the file that `tieout init` writes, which has all of them. */
function configKeys(): string[] {
  const keys: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value) && value.length > 0) walk(value[0], `${path}[]`);
    else if (isMap(value) && Object.keys(value).length > 0 && !ONE_LINE.includes(path)) {
      for (const [name, part] of Object.entries(value)) {
        walk(part, path === '' ? name : `${path}.${name}`);
      }
    } else keys.push(path);
  };
  walk(parse(withSettlement(renderConfig(INITIAL_VALUES))), '');
  return keys;
}

/** The one section that stands there as a comment, since its being there changes what is kept. */
function withSettlement(text: string): string {
  return text.replace(/^# (settlement:)/m, '$1').replace(/^# {3}/gm, '  ');
}

/** Told in one line of the list although they have keys of their own. */
const ONE_LINE = ['reconcile.tolerance'];

function isMap(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

function commandNames(): string[] {
  const files = allFiles().filter((path) => /^src\/cli\/.*\.ts$/.test(path));
  return files
    .flatMap((path) => [...textOf(path).matchAll(/new Command\('([a-z]+)'\)/g)])
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'tieout');
}
