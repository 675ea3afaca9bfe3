// A secret without quotes, which YAML takes for a key, or for a value and a key: it is refused by
// section and line, in whichever of the three files it stands, and no part of it is shown.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.js';
import { loadColumnMap } from '../../src/config/mapFile.js';
import { parseProfile } from '../../src/gateway/document/profile.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tieout-split-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ACCOUNT = 'merchantId: M, accountId: A';
const ADDRESS = 'postgres://tieout:hunter2@db.example/tieout';
const QUOTES = 'put a value with a comma or a colon in quotes';
const VALUELESS = `a key stands without a colon: ${QUOTES}`;
const HIDDEN = `unknown key, not shown here: ${QUOTES}`;

it.each([
  ['accounts', `accounts: [{ ${ACCOUNT}, signingKey: abc,hunter2 }]`, `accounts.0: ${VALUELESS}`],
  [
    'the end of a password',
    'database: { host: h, password: abc,hunter2 }',
    `database: ${VALUELESS}`,
  ],
  ['of a key that there is', 'database: { password: hunter2,host }', `database: ${VALUELESS}`],
  ['no blank behind the colon', 'database: { password:hunter2 }', `database: ${VALUELESS}`],
  ['a mark of a key', 'database:\n  ? hunter2', `database: ${VALUELESS}`],
  ['an address', `database: { ${ADDRESS} }`, `database: ${VALUELESS}`],
  ['an address with a colon', `database:\n  ${ADDRESS}: null`, `database: ${HIDDEN}`],
  ['an address of nothing', `${ADDRESS}:`, `tieout.yaml: ${HIDDEN}`],
  ['a path', 'notify:\n  hooks.example/T0/hunter2: null', `notify: ${HIDDEN}`],
  ['an address above', `web:\n  ${ADDRESS}:\n    a: "\${UNSET}"`, 'web: the environment variable'],
  ['an address twice', `web:\n  ${ADDRESS}: 1\n  ${ADDRESS}: 2`, 'web: is given twice'],
  ['an address over braces', `web:\n  ${ADDRESS}: { {{ A }} }`, 'web: braces or brackets'],
])('%s, in tieout.yaml', (_, text, told) => {
  const file = join(folder, 'tieout.yaml');
  writeFileSync(
    file,
    `accounts: [{ ${ACCOUNT}, signingKey: k }]\n`.repeat(+!/^acc/.test(text)) + text,
  );
  const message = failure(() => loadConfig({ file, cwd: folder, env: {} }));
  expect(message).toContain(told);
  expect(message).toMatch(/\(line \d\)$/);
  expect(message).not.toContain('hunter2');
});

it('in profile and map, and a mistyped key is named in each', () => {
  const profile = (text: string) => failure(() => parseProfile(text, 'p.yaml'));
  expect(profile('signing: { headers: { X-Api-Key:hunter2 } }')).toBe(
    `p.yaml: signing.headers: ${VALUELESS} (line 1)`,
  );
  expect(profile(`signing: { separatr: ":" }`)).toBe(
    'p.yaml: signing.separatr: unknown key (line 1)',
  );
  expect(profile('query.select: window')).toBe(
    'p.yaml: query.select: unknown key: what lies in another key is written below it (line 1)',
  );
  expect(profile(`"${ADDRESS}": 1`)).toBe(`p.yaml: ${HIDDEN} (line 1)`);
  const file = join(folder, 'map.yaml');
  const map = (text: string) => {
    writeFileSync(file, text);
    return failure(() => loadColumnMap(file));
  };
  expect(map(`columns: {}\n${ADDRESS}: 1`)).toContain(`map.yaml: ${HIDDEN} (line 2)`);
  expect(map('columns: {}\nheader-line: 1')).toContain(
    'map.yaml: header-line: unknown key (line 2)',
  );
});

function failure(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was read');
}
