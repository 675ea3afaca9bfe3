// The client as node runs it, compiled from the sources: for what only a fresh process shows, such
// as the certificates that node reads when it starts.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

export interface CompiledClient {
  folder: string;
  /** `node PROGRAM BASE_URL [PROXY]`: prints the kinds of a query and of a payment as JSON. */
  program: string;
  remove(): void;
}

export function compileClient(): CompiledClient {
  const folder = mkdtempSync(join(tmpdir(), 'client-test-'));
  const project = join(folder, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { rootDir: ROOT, outDir: folder, noCheck: true, sourceMap: false },
      files: [join(ROOT, 'src/gateway/payments/paymentClient.ts')],
      include: [],
    }),
  );
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(ROOT, 'node_modules/.bin/tsc'), '-p', project]);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { createPaymentClient } from './src/gateway/payments/paymentClient.js';
import { sandboxProfile } from './src/gateway/document/profile.js';
const [baseUrl, proxy] = process.argv.slice(2);
const account = { merchantId: 'M1', accountId: 'A1', signingKey: 'k', liveFrom: null };
const client = createPaymentClient({
  profile: sandboxProfile(), baseUrl, proxy: proxy === undefined ? null : new URL(proxy),
});
const query = await client.queryPage(account, { kind: 'orders', orderNos: ['SO-1'] });
const paid = await client.authorise(account, { order_no: 'SO-1', currency: 'EUR', amount: '1.00' });
await client.close();
console.log(JSON.stringify([query, paid].map(({ kind, reason }) => reason ?? kind)));
`,
  );
  return { folder, program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
