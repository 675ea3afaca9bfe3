// The oldest PostgreSQL that is supported is 15, and the tests run on the newest: no statement asks
// for a function that 15 lacks.

import { expect, it } from 'vitest';
import { allFiles, textOf } from '../support/sourceFiles.js';

/** Functions of PostgreSQL 16, 17 and 18, by their release notes. */
const NEWER = [
  /\bany_value\s*\(/i,
  /\barray_(sample|shuffle|sort|reverse)\s*\(/i,
  /\bpg_input_(is_valid|error_info)\s*\(/i,
  /\bjson_(table|scalar|serialize|query|value|exists)\s*\(/i,
  /\b(random_normal|erfc?|date_subtract|to_bin|to_oct|merge_action|xmltext)\s*\(/i,
  /\b(unicode_assigned|uuidv[47]|casefold|crc32c?)\s*\(/i,
];

const STATEMENTS = allFiles().filter((path) =>
  /^(src\/.*(\.sql|Store\.ts)|src\/database\/.*\.ts|migrations\/.*\.sql)$/.test(path),
);

it('no statement asks for what PostgreSQL 15 lacks', () => {
  expect(STATEMENTS.length).toBeGreaterThan(200);
  const asking = STATEMENTS.flatMap((path) =>
    NEWER.flatMap((name) => {
      const found = name.exec(textOf(path));
      return found ? [`${path}: ${found[0]}`] : [];
    }),
  );
  expect(asking).toEqual([]);
});
