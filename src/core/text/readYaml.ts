// YAML as configuration, profile and maps are read: every key once, and what is wrong told by file,
// key and line. The parser quotes the file in its own words, secrets included: below the first
// line, and behind a colon in it. Used by whoever reads YAML.

import {
  type Alias,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { ConfigurationError } from '../errors.js';

type YamlDocument = ReturnType<typeof parseDocument>;

export interface ReadYaml {
  /** an empty file is an empty map */
  value: unknown;
  /** " (line 5)": of the key, or of the nearest map around a missing one; empty: none is known */
  lineOf(path: readonly string[]): string;
}

/** Throws ConfigurationError naming file and key. */
export function readYaml(text: string, file: string): ReadYaml {
  const lines = new LineCounter();
  // What the library warns of by itself would quote the file on standard error.
  const options = { lineCounter: lines, uniqueKeys: false, logLevel: 'error' } as const;
  const document = parseDocument(text, options);
  const lineAt = (offset: number | undefined): string =>
    offset === undefined ? '' : ` (line ${lines.linePos(offset).line})`;
  const refuse = ({ key, problem, offset }: Odd) =>
    new ConfigurationError(file, key, `${problem}${lineAt(offset)}`);
  const [error] = [...document.errors, ...document.warnings];
  if (error?.code === 'MULTIPLE_DOCS') {
    const problem = 'a second document begins here';
    throw refuse({ key: '', problem, offset: error.pos[0] });
  }
  if (error) throw new ConfigurationError(file, '', withoutValue(error.message));
  const odd = oddKey(document);
  if (odd) throw refuse(odd);
  return {
    value: plainOf(document, refuse) ?? {},
    lineOf: (path) => lineAt(offsetOf(document, path)),
  };
}

/** What a schema found first, told by file, key and line. */
export function schemaFault(
  file: string,
  issues: readonly Fault[],
  lineOf: ReadYaml['lineOf'],
): ConfigurationError {
  const [issue] = issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined;
  const path = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].map(String);
  const isNamed = unknown === undefined || isName(unknown);
  const hint = DOTTED.test(unknown ?? '') ? ': what lies in another key is written below it' : '';
  const odd = isNamed ? `unknown key${hint}` : `unknown key, not shown here: ${SPLIT}`;
  const problem = unknown === undefined ? (issue?.message ?? 'cannot be used') : odd;
  return new ConfigurationError(file, shownPath(path), `${problem}${lineOf(path)}`);
}

interface Fault {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
  readonly message: string;
}

/** Dotted, as far as it is of names: what is none may be an address, or a part of a secret. */
export function shownPath(path: readonly string[]): string {
  const odd = path.findIndex((name) => !isName(name));
  return path.slice(0, odd === -1 ? path.length : odd).join('.');
}

function isName(key: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{N}_ ()-]{0,39}$/u.test(key) || DOTTED.test(key);
}

/** As the documents print a key with what it lies in: `schedule.timezone`. */
const DOTTED = /^[a-z][a-zA-Z]{0,39}(?:\.[a-z][a-zA-Z]{0,39}){1,4}$/;

/** "Unresolved tag at line 3, column 7" */
function withoutValue(message: string): string {
  const [first = ''] = message.split('\n');
  return first.replace(/: .*?( at line \d+, column \d+:?)?$/, '$1');
}

function plainOf(document: YamlDocument, refuse: (odd: Odd) => Error): unknown {
  try {
    return document.toJS();
  } catch {
    throw refuse(oddAlias(document));
  }
}

/** The first that leads nowhere; of those that lead to too much, nobody can say which it is. */
function oddAlias(document: YamlDocument): Odd {
  let odd: Odd = { key: '', problem: TOO_MUCH, offset: undefined };
  visit(document, {
    Alias(_, alias: Alias, path) {
      if (alias.resolve(document) !== undefined) return undefined;
      odd = { key: keyOf(path), problem: NOWHERE, offset: alias.range?.[0] };
      return visit.BREAK;
    },
  });
  return odd;
}

/** "accounts.0.signingKey" */
function keyOf(path: readonly unknown[]): string {
  const names = path.flatMap((one, at) => {
    if (isPair(one)) return isScalar(one.key) ? [String(one.key.value)] : [];
    return isSeq(one) ? [String(one.items.indexOf(path[at + 1]))] : [];
  });
  return shownPath(names);
}

const TWICE = 'is given twice: keys must be unique, with quotes or without';

const QUOTES = 'put a value that is none in quotes';
const NOWHERE = `an alias (*name) leads nowhere: ${QUOTES}`;
const TOO_MUCH = `an alias (*name) leads to too much: ${QUOTES}`;
const SPLIT = 'put a value with a comma or a colon in quotes';
const VALUELESS = `a key stands without a colon: ${SPLIT}`;
const BRACES = 'braces or brackets stand where a key or a text belongs: put it in quotes';

interface Odd {
  key: string;
  problem: string;
  offset: number | undefined;
}

/**
 * A key that its map has already, or that would be read as another one. They are compared as the
 * texts that they become: the parser's own comparison takes 2000 and "2000" for two keys, and of
 * these the last would win.
 */
function oddKey(document: YamlDocument): Odd | null {
  let odd: Odd | null = null;
  visit(document, {
    Map(_, map, path) {
      const seen = new Set<string>();
      const here = keyOf([...path, map]);
      for (const { key: node, value } of map.items) {
        const key = isAlias(node) ? node.resolve(document) : node;
        const offset = isNode(node) ? node.range?.[0] : undefined;
        // The library would make a text of it, and so a key that an error names.
        if (isCollection(key)) odd = { key: here, problem: BRACES, offset };
        if (key === undefined) odd = { key: here, problem: NOWHERE, offset };
        // { password: a,b } is a password that ends at the comma, and a key that is half of it.
        if (value === null && !odd) odd = { key: here, problem: VALUELESS, offset };
        if (odd) return visit.BREAK;
        if (!isScalar(key)) continue;
        const name = String(key.value ?? '');
        const named = (text = '') => (isName(text) ? text : here);
        if (key.value === null && name === (key.source ?? '')) {
          odd = { key: here, problem: 'a key is missing before the colon', offset };
        }
        // 0012 unquoted would be read as the number 12: the code would silently lose its zeros.
        const isRead = typeof key.value === 'string' || (key.source ?? '') === name;
        if (!isRead) odd = { key: named(key.source), problem: 'put this key in quotes', offset };
        if (seen.has(name)) odd = { key: named(name), problem: TWICE, offset };
        if (odd) return visit.BREAK;
        seen.add(name);
      }
      return undefined;
    },
  });
  return odd;
}

function offsetOf(document: YamlDocument, path: readonly string[]): number | undefined {
  let offset: number | undefined;
  let node: unknown = document.contents;
  for (const name of path) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      : undefined;
    const next = pair?.key ?? (isNode(node) && 'get' in node ? node.get(Number(name), true) : null);
    if (!isNode(next)) break;
    offset = next.range?.[0] ?? offset;
    node = pair === undefined ? next : pair.value;
  }
  return offset;
}
