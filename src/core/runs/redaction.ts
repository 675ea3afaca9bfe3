// What was taken out of people's words on record, and the sentence that says so wherever the chain
// is checked. Pure. Neighbour: removal.ts says it of months of snapshots.

import { nameLabel } from '../instructions/decider.js';

export interface Redaction {
  at: Date;
  by: string;
  isClaim: boolean;
  reason: string;
  /** places that words were taken out of */
  texts: number;
  /** of the chain, that seal such a place */
  links: number;
}

/** In one line and without a full stop. */
export function redactedLine({ at, by, isClaim, reason, texts, links }: Redaction): string {
  return (
    `Out of ${texts} text(s) words were taken on ${at.toISOString().slice(0, 10)}, by ` +
    `${nameLabel(by, isClaim)} (${reason}): ${links} link(s) of the chain come to something ` +
    'else since'
  );
}
