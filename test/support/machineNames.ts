// What only the machine that runs the tests calls itself: its folders, its name, its registry. No
// file of ours may say one of these (house.test.ts).

import { homedir, hostname } from 'node:os';
import { dirname } from 'node:path';
import { ROOT } from './sourceFiles.js';

/** What only this machine calls itself; names too common to tell anything are left out. */
export function machineNames(): RegExp[] {
  const folders = [ROOT, dirname(ROOT), homedir()].filter((path) => path.length >= 5);
  const names = [hostname()].filter((name) => name.length >= 8 && /[-\d]/.test(name));
  const registry = process.env.npm_config_registry ?? '';
  if (URL.canParse(registry)) names.push(new URL(registry).hostname);
  return [
    ...folders.map((path) => new RegExp(`(?<![\\w./-])${escaped(path)}(/|\\b)`)),
    ...names.map((name) => new RegExp(escaped(name))),
    /(?<![\w./])\/(home|Users)\/\w+\//,
  ];
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
