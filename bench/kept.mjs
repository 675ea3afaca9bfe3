// The file of --keep: the lines of the parts that were measured, each with the commit that they are
// of. Written whole after each part, so that a bench that was broken off goes on where it was.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { commit, machine } from './print.mjs';

export const keptName = (part, orders) => `${part} ${orders}`;

export function readKept(file) {
  if (file === undefined || !existsSync(file)) return {};
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function keep(file, name, lines) {
  if (file === undefined) return;
  const kept = { ...readKept(file), [name]: { commit: commit(), machine: machine(), lines } };
  writeFileSync(`${file}.new`, JSON.stringify(kept, null, 1));
  renameSync(`${file}.new`, file);
}
