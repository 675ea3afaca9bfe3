// What this program is called here, and its version.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../database/statements.js';

/**
 * How a person calls the program from this folder. `npx` only where it finds this very program:
 * elsewhere it would fetch whatever a registry has under the name.
 */
export function callName(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const linked = existsSync(join(at, 'node_modules', '.bin', 'tieout'));
    if (linked || at === packageRoot()) return 'npx tieout';
    if (at === dirname(at)) return 'tieout';
  }
}

/** The version that this process runs. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
