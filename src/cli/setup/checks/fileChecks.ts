// What `tieout doctor` says of files: those that anybody on the machine may read or write
// (configuration, data, workbooks; a group may, since people are let in by one), and whether there
// is room for a night where it writes, and leave to write there. Only what is there is looked at.

import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../config/config.js';
import { unwritableWords } from '../../../core/errors.js';
import { firstThere, journalTrouble, whyUnwritable } from '../../../send/journal/journalTrouble.js';
import type { Check } from './check.js';

const READ_OR_WRITTEN = 0o006;

const MEGABYTE = 1e6;
/** Free bytes of a file system below which a night may not end, and below which it will not. */
const ROOM: Room = { scarce: 1_000 * MEGABYTE, none: 100 * MEGABYTE };
interface Room {
  scarce: number;
  none: number;
}

/** One line for each; nothing where all is well. */
export function fileChecks(config: Config): Check[] {
  const { file, dataDir, reports, gateway, web } = config;
  const inData = ['audit', 'journal', 'postgres.log'].map((name) => join(dataDir, name));
  const looked = [file, gateway.profileFile, dataDir, ...inData, reports.dir, web.tls?.key ?? null];
  const there = looked.filter((path): path is string => path !== null && existsSync(path));
  return [...new Set(there)].flatMap((path): Check[] => {
    const { mode } = statSync(path);
    if ((mode & READ_OR_WRITTEN) === 0) return [];
    const may = (mode & 0o002) === 0 ? 'read' : 'write';
    const words = `${path}: every account of this machine may ${may} it: chmod o-rw ${path}`;
    return [{ name: 'files', kind: 'warning', words }];
  });
}

/** One line for each file system that a night writes to. */
export function roomChecks(config: Config, room = ROOM): Check[] {
  const written = [
    ['dataDir', config.dataDir],
    ['reports.dir', config.reports.dir],
    ['settlement.inbox', config.settlement?.inbox ?? null],
  ] as const;
  const systems = new Map<number, { keys: string[]; folder: string }>();
  for (const [key, path] of written) {
    if (path === null) continue;
    const folder = firstThere(path);
    const { dev } = statSync(folder);
    const known = systems.get(dev);
    if (known === undefined) systems.set(dev, { keys: [key], folder });
    else known.keys.push(key);
  }
  return [...systems.values()].map((one) => roomCheck(one, room));
}

function roomCheck({ keys, folder }: { keys: string[]; folder: string }, room: Room): Check {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  const free = bavail * bsize;
  const words = `${Math.floor(free / MEGABYTE)} MB free for ${keys.join(', ')} (${folder})`;
  const without = 'without room nothing is sent, and no workbook is written';
  if (files > 0 && ffree === 0) {
    return {
      name: 'room',
      kind: 'problem',
      words: `${words}, and for no further file: ${without}`,
    };
  }
  if (free >= room.scarce) return { name: 'room', kind: 'ok', words };
  const kind = free < room.none ? 'problem' : 'warning';
  return { name: 'room', kind, words: `only ${words}: ${without}` };
}

/** One line for each folder that a night cannot write to, by a file that is made and removed. */
export function writeChecks({ dataDir, reports }: Config): Check[] {
  const told = (key: string, folder: string, without: string): Check[] => {
    const words = unwritableWords(`${key} ${folder}`, whyUnwritable(folder));
    return words === null ? [] : [{ name: 'files', kind: 'problem', words: words + without }];
  };
  const data = told('dataDir', dataDir, '. Nothing is sent from this host without it');
  const journal = data.length > 0 ? null : journalTrouble(dataDir);
  return [
    ...data,
    ...(journal === null ? [] : [{ name: 'files', kind: 'problem' as const, words: journal }]),
    ...told('reports.dir', reports.dir, '. No workbook is written without it'),
  ];
}
