// The program as it is started: what tsc wrote, put together in a few files. Opening, linking and
// looking up its four hundred files one by one takes a third of a second before anything is done.
// Libraries stay where npm put them, but those that every command needs and nobody else loads.

import { isAbsolute } from 'node:path';

const INSIDE = new Set(['commander', 'yaml', 'zod']);

/** What is named like a package, of which `INSIDE` has the name. */
function staysOutside(id) {
  const isFile = id.startsWith('.') || isAbsolute(id) || id.startsWith('\0');
  return !isFile && !INSIDE.has(id.split('/')[0]);
}

// biome-ignore lint/style/noDefaultExport: rolldown reads the default export.
export default {
  input: 'dist/src/app/main.js',
  platform: 'node',
  external: staysOutside,
  output: {
    dir: 'dist/program',
    format: 'esm',
    // No digests in names, so that a newer build writes over an older one.
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  },
  // A module that some load early and others late comes early: so it is meant.
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
};
