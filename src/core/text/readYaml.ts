// YAML as configuration, profile and maps are read: every key once, and what is wrong told by file,
// key and line. The parser quotes the file in its own words, secrets included: below the first
// line, and behind a colon in it. Used by whoever reads YAML.

import { isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
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
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const lineAt = (offset: number | undefined): string =>
    offset === undefined ? '' : ` (line ${lines.linePos(offset).line})`;
  const [error] = [...document.errors, ...document.warnings];
  if (error) throw new ConfigurationError(file, '', withoutValue(error.message));
  const odd = oddKey(document);
  if (odd) throw new ConfigurationError(file, odd.key, `${odd.problem}${lineAt(odd.offset)}`);
  return {
    value: plainOf(document, file) ?? {},
    lineOf: (path) => lineAt(offsetOf(document, path)),
  };
}

/** "Unresolved tag at line 3, column 7" */
function withoutValue(message: string): string {
  const [first = ''] = message.split('\n');
  return first.replace(/: .*?( at line \d+, column \d+:?)?$/, '$1');
}

function plainOf(document: YamlDocument, file: string): unknown {
  try {
    return document.toJS();
  } catch {
    const problem =
      'an alias (*name) leads nowhere, or to too much: put a value that is none in quotes';
    throw new ConfigurationError(file, '', problem);
  }
}

const TWICE = 'is given twice: keys must be unique, with quotes or without';

interface OddKey {
  key: string;
  problem: string;
  offset: number | undefined;
}

/**
 * A key that its map has already, or that would be read as another one. They are compared as the
 * texts that they become: the parser's own comparison takes 2000 and "2000" for two keys, and of
 * these the last would win.
 */
function oddKey(document: YamlDocument): OddKey | null {
  let odd: OddKey | null = null;
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key: node } of map.items) {
        const key = isAlias(node) ? node.resolve(document) : node;
        if (!isScalar(key)) continue;
        const name = String(key.value ?? '');
        const offset = isNode(node) ? node.range?.[0] : undefined;
        // 0012 unquoted would be read as the number 12: the code would silently lose its zeros.
        const isRead = typeof key.value === 'string' || (key.source ?? '') === name;
        if (!isRead) odd = { key: key.source ?? '', problem: 'put this key in quotes', offset };
        if (seen.has(name)) odd = { key: name, problem: TWICE, offset };
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
