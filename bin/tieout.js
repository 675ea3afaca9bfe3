#!/usr/bin/env node
// The command as npm links it. What a build writes has no run bit, so this file is kept in the
// repository with one and only hands over to the built program.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/program/main.js', import.meta.url);
if (existsSync(fileURLToPath(program))) {
  await import(program.href);
} else {
  process.stderr.write('tieout is not built yet: run `npm run build` in its folder\n');
  process.exitCode = 1;
}
