// What the program is made of, as `npm run sbom` lists it: every package with a licence, and what lies
// inside of the embedded server's package, of which npm says nothing.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './support/sourceFiles.js';

interface Part {
  name: string;
  version: string;
  licenses: unknown[];
  hashes?: { alg: string; content: string }[];
  'bom-ref': string;
}

test('every part has a licence, and native libraries a digest of what is installed', () => {
  const script = join(ROOT, 'scripts', 'sbom.mjs');
  const text = execFileSync(process.execPath, [script], { maxBuffer: 64 << 20 }).toString();
  const bom = JSON.parse(text) as { bomFormat: string; components: Part[] };
  expect(bom.bomFormat).toBe('CycloneDX');
  expect(bom.components.filter(({ licenses }) => (licenses ?? []).length === 0)).toEqual([]);
  const refs = bom.components.map((part) => part['bom-ref']);
  expect(new Set(refs).size).toBe(refs.length);
  const native = bom.components.filter((part) => part['bom-ref'].startsWith('native:'));
  expect(native.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['PostgreSQL', 'OpenSSL', 'ICU', 'libxml2', 'zlib']),
  );
  for (const { hashes } of native) {
    expect(hashes).toEqual([{ alg: 'SHA-256', content: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  }
});
