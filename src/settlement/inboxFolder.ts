// What lies in a folder that may be on a share which never answers. Looked at by a process of its
// own, one at a time for all who ask: whoever waits for such a folder inside of a process holds one
// of its few threads for files and names, and keeps it from ever ending. Neighbour: inbox.ts.

import { execFile } from 'node:child_process';
import type { InboxFacts } from '../core/settlement/inboxFile.js';

interface FolderFacts {
  readonly facts: readonly InboxFacts[];
  /** names in the folder of what was refused; none where it is not there */
  readonly refused: readonly string[];
}

/** A look that takes longer is given up; where its process cannot even be ended, it goes on. */
const LOOK_MS_MAX = 120_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Run by itself: a file that somebody takes away meanwhile is none. */
const LOOK = `
  const { lstatSync, readdirSync } = require('node:fs');
  const { join } = require('node:path');
  const inbox = process.argv[1];
  const maybe = (work) => {
    try {
      return work();
    } catch (error) {
      if (error.code === 'ENOENT') return null;
      throw error;
    }
  };
  try {
    const facts = readdirSync(inbox).sort().flatMap((name) => {
      const found = maybe(() => lstatSync(join(inbox, name)));
      if (found === null) return [];
      const { size, mtimeMs } = found;
      const [isPlain, isFolder] = [found.isFile(), found.isDirectory()];
      return [{ name, isPlain, isFolder, size, modifiedMs: mtimeMs }];
    });
    let refused = [];
    try {
      refused = readdirSync(join(inbox, 'refused'));
    } catch {}
    process.stdout.write(JSON.stringify({ facts, refused }));
  } catch (error) {
    process.stdout.write(JSON.stringify({ problem: error.message }));
  }
`;

const looks = new Map<string, Promise<FolderFacts>>();

/** Throws where the folder cannot be read. Who asks while a look is under way gets its answer. */
export function folderFacts(inbox: string): Promise<FolderFacts> {
  const under = looks.get(inbox);
  if (under !== undefined) return under;
  const look = lookInto(inbox).finally(() => looks.delete(inbox));
  looks.set(inbox, look);
  return look;
}

function lookInto(inbox: string): Promise<FolderFacts> {
  const options = {
    timeout: LOOK_MS_MAX,
    killSignal: 'SIGKILL',
    maxBuffer: ANSWER_BYTES_MAX,
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['-e', LOOK, inbox], options, (error, stdout) => {
      process.off('exit', end);
      if (error !== null) {
        const late = `${inbox} does not answer: is it on a share that is away?`;
        reject(error.killed ? new Error(late) : error);
        return;
      }
      const answer = JSON.parse(stdout) as FolderFacts | { problem: string };
      if ('problem' in answer) reject(new Error(answer.problem));
      else resolve(answer);
    });
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
  });
}
