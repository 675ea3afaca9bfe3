// Whether another account of the machine could exchange what root takes for the embedded server's
// folder: a link that leads elsewhere, a folder above it in which others may rename. Root would
// start a server on, and write in, whatever stands there. Neighbour: embeddedPlace.ts.

import type { Stats } from 'node:fs';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnreachableError } from '../../core/errors.js';

export interface Trusted {
  uids: readonly number[];
  gids: readonly number[];
}

const STICKY = 0o1000;

/** Whether anybody else may put something into this folder, or exchange what is in it. */
export function isOpenToOthers(folder: string, trusted: Trusted): boolean {
  return mayWrite(statSync(folder), trusted);
}

/** Throws where a folder on the way to this one, which is there, is open to others. */
export function assertClosedWay(folder: string, trusted: Trusted): void {
  for (let path = folder; ; path = dirname(path)) {
    const entry = statSync(path);
    // In a folder such as /tmp what is there can be exchanged by its owner alone.
    const isFixed = path !== folder && (entry.mode & STICKY) !== 0 && isTrusted(entry, trusted);
    if (!isFixed && mayWrite(entry, trusted)) throw openWay(path);
    if (dirname(path) === path) return;
  }
}

/** Throws where the link is of another account than root and this process. */
export function assertOwnLink(link: string): void {
  const entry = lstatSync(link, { throwIfNoEntry: false });
  if (entry === undefined || !entry.isSymbolicLink()) return;
  if (entry.uid === 0 || entry.uid === process.getuid?.()) return;
  throw new UnreachableError(
    `${link} is a link that another user made, and leads where he wants: look who could, and ` +
      'remove it; if you know that it is right, make it anew yourself',
  );
}

/** Throws unless the folder was made for this home: a link to it may have been exchanged. */
export function assertMadeFor(folder: string, home: string): void {
  const note = `${folder}.belongs-to`;
  const isThere = statSync(note, { throwIfNoEntry: false })?.isFile() === true;
  if (isThere && readFileSync(note, 'utf8').trim() === home) return;
  throw new UnreachableError(
    `${folder} was not made for ${home}, in which other users may write: look who could have ` +
      `exchanged the link, and \`chmod go-w ${home}\` before you put it right`,
  );
}

function mayWrite(entry: Stats, trusted: Trusted): boolean {
  const { uid, gid, mode } = entry;
  if (!isTrusted(entry, trusted) || (mode & 0o002) !== 0) return true;
  // A group with its owner's number is his own, as many systems make them.
  return (mode & 0o020) !== 0 && gid !== uid && !trusted.gids.includes(gid);
}

function isTrusted({ uid }: Stats, { uids }: Trusted): boolean {
  return uids.includes(uid);
}

function openWay(folder: string): UnreachableError {
  return new UnreachableError(
    `other users may write in ${folder}, on the way to the embedded server's files, and could ` +
      `put files of theirs in their place: \`chmod go-w ${folder}\`, or give its owner's rights ` +
      'to the user who runs tieout, or choose another dataDir',
  );
}
