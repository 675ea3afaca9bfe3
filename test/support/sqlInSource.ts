// SQL as it stands in sources: how a statement is told from other texts, and which texts there are.
// By their looks alone, which is enough to hold a rule. Neighbour: house.test.ts holds them.

/** A string that begins as a statement does. Long ones are files beside their *Store.ts. */
export const SQL = new RegExp(
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

/** What only a statement, or a piece of one, says. */
export const IN_SQL = new RegExp(
  [
    '\\bselect\\s',
    '\\b(?:insert\\s+into|delete\\s+from|order\\s+by|group\\s+by|set\\s+local|on\\s+conflict)\\b',
    '\\bupdate\\s+(?:tieout|ledger|\\$)',
    '\\b(?:from|join)\\s+(?:tieout|ledger|pg_|jsonb_|unnest|\\$\\{|\\()',
    '\\b(?:alter|drop|truncate|create|lock)\\s+(?:temp\\s+)?(?:table|view|schema|sequence|database)\\b',
    '\\b(?:analyze|truncate|limit|offset)\\s+\\$',
    '\\bcopy\\s+(?:\\(|\\$\\{)',
    '\\b(?:and|or|where)\\s+[\\w.]+\\s+(?:=|<|>|is\\b|in\\b)',
  ].join('|'),
  'i',
);

/** Between two backticks; of one within another the pieces. */
export function templatesOf(source: string): { tag: string; text: string; line: number }[] {
  return [...source.matchAll(/(\w*)`([^`]*)`/g)].map(({ 1: tag = '', 2: text = '', index }) => {
    return { tag, text, line: source.slice(0, index).split('\n').length };
  });
}

/** Texts in quotes, and whether another text is put before or behind one. */
export function stringsOf(source: string): { text: string; isJoined: boolean; line: number }[] {
  const found = source.matchAll(/(\+\s*)?(?:'((?:[^'\\\n]|\\.)*)'|`([^`]*)`)(\s*\+)?/g);
  return [...found].map(({ 1: before, 2: plain, 3: template, 4: behind, index }) => {
    const text = plain ?? template ?? '';
    const isJoined = before !== undefined || behind !== undefined;
    return { text, isJoined, line: source.slice(0, index).split('\n').length };
  });
}
