// What `tieout doctor` says of files that anybody on the machine may read or write: configuration,
// data, workbooks. A group may, since people are let in by one; only what is there is looked at.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import type { Check } from './check.js';

const READ_OR_WRITTEN = 0o006;

/** One line for each; nothing where all is well. */
export function fileChecks(config: Config): Check[] {
  const { file, dataDir, reports, gateway } = config;
  const inData = ['audit', 'journal', 'postgres.log'].map((name) => join(dataDir, name));
  const looked = [file, gateway.profileFile, dataDir, ...inData, reports.dir];
  const there = looked.filter((path): path is string => path !== null && existsSync(path));
  return [...new Set(there)].flatMap((path): Check[] => {
    const { mode } = statSync(path);
    if ((mode & READ_OR_WRITTEN) === 0) return [];
    const may = (mode & 0o002) === 0 ? 'read' : 'write';
    const words = `${path}: every account of this machine may ${may} it: chmod o-rw ${path}`;
    return [{ name: 'files', kind: 'warning', words }];
  });
}
