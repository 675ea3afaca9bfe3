// The files of the house as text, for the tests that hold its rules: what lies where, what imports
// what. It reads with simple patterns, which the formatter makes reliable; it judges nothing.
// Neighbours: house.test.ts and documents.test.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Never looked into: made by programs, not by people. */
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'var', 'coverage', '.tieout']);
/** What `tieout demo` or `init` leaves in a checkout; git takes none of them. */
const SETTINGS = new Set(['tieout.yaml', 'tieout-demo.yaml', 'gateway-profile.yaml']);
const FILES_MAX = 5_000;

/** Nobody wrote these; what stands in them is no text. */
const PICTURE = /\.png$/;

/** Paths of all files that somebody wrote, relative to the root, with forward slashes. */
export function allFiles(folder = ROOT, found: string[] = []): string[] {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (NOT_OURS.has(entry.name) || SETTINGS.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) allFiles(path, found);
    else if (entry.isFile() && !PICTURE.test(entry.name))
      found.push(relative(ROOT, path).split(sep).join('/'));
  }
  if (found.length > FILES_MAX) throw new Error(`more than ${FILES_MAX} files under ${ROOT}`);
  return found.sort();
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function linesOf(path: string): string[] {
  return textOf(path).split('\n');
}

export interface Import {
  /** `../core/money.js` as written, or the name of a package */
  specifier: string;
  /** the TypeScript file of ours that it names; null for a package */
  file: string | null;
  /** the package without a path inside it; null for a file of ours and for node's own */
  library: string | null;
  /** every name in it is only a type */
  isType: boolean;
}

const STATIC = /^(import|export)\s+(type\s+)?[\w$*{},\s]*?\sfrom\s+['"]([^'"]+)['"]/gm;
const BARE = /^import\s+['"]([^'"]+)['"]/gm;
const DYNAMIC = /\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/g;

export function importsOf(path: string): Import[] {
  const text = textOf(path);
  const found: Import[] = [];
  for (const [, , type, specifier = ''] of text.matchAll(STATIC)) {
    found.push(describe(path, specifier, type !== undefined));
  }
  for (const pattern of [BARE, DYNAMIC]) {
    for (const [, specifier = ''] of text.matchAll(pattern)) {
      found.push(describe(path, specifier, false));
    }
  }
  return found;
}

function describe(path: string, specifier: string, isType: boolean): Import {
  if (specifier.startsWith('.')) {
    const file = normalize(join(dirname(path), specifier))
      .split(sep)
      .join('/');
    const source = file.replace(/\.js$/, '.ts');
    const isPage = !existsSync(join(ROOT, source)) && existsSync(join(ROOT, `${source}x`));
    return { specifier, file: isPage ? `${source}x` : source, library: null, isType };
  }
  const name = specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : (specifier.split('/')[0] ?? '');
  const isNode = specifier.startsWith('node:') || builtinModules.includes(name);
  return { specifier, file: null, library: isNode ? null : name, isType };
}

export interface FunctionSpan {
  line: number;
  length: number;
}

/** Where each function begins and how long it is: from its first line to the brace below it. */
export function functionsOf(lines: readonly string[]): FunctionSpan[] {
  const spans: FunctionSpan[] = [];
  for (const [index, line] of lines.entries()) {
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const begins =
      /^\s*(export )?(async )?function\b/.test(line) || /=> \{$/.test(line) || METHOD.test(line);
    if (!begins) continue;
    const end = lines.findIndex(
      (other, at) => at > index && other.startsWith(`${indent}}`) && /^\s*\}[;,)]*$/.test(other),
    );
    if (end > 0) spans.push({ line: index + 1, length: end - index + 1 });
  }
  return spans;
}

/** `async query(text) {` inside an object. */
const METHOD = /^\s+(async )?\*?(?!if|for|while|switch|catch|function|return)\w+\(.*\{$/;

/** One file that imports another. */
export interface Edge {
  from: string;
  to: string;
  isType: boolean;
}

/** The files of one cycle in order; empty when there is none. */
export function firstCycle(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
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
  for (const { from: path } of edges) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
