// What retention removed, and the sentence that says so: wherever somebody asks for snapshots that
// are gone, they are told that they were there. Pure.

import { nameLabel } from '../instructions/decider.js';

/** A month of snapshots that was removed: the business dates of its runs, when, by whom. */
export interface Removal {
  /** 2026_11; `before`: from before numbers bore a month */
  month: string;
  firstDate: string;
  lastDate: string;
  nights: number;
  /** of an account each */
  looks: number;
  at: Date;
  by: string;
  isClaim: boolean;
}

/** What is gone, in one line and without a full stop. */
export function removedLine({ firstDate, lastDate, looks, at, by, isClaim }: Removal): string {
  return (
    `What was seen from ${firstDate} to ${lastDate} (${looks} snapshots) was removed by ` +
    `retention on ${at.toISOString().slice(0, 10)}, by ${nameLabel(by, isClaim)}`
  );
}

const STAYS = 'its workbooks stay as they were made';

/** Why nothing of a night is written again, in one line and without a full stop. */
export function staysLine(removal: Removal): string {
  return `${removedLine(removal)}; ${STAYS}`;
}

/** The same of a night whose removal is told elsewhere. */
export const REMOVED_STAYS = `its snapshots are removed by retention, and ${STAYS}`;

/** Whether what the statement of a night is without can come into it. */
export function nextRevisionWords(isRemoved: boolean): string {
  return isRemoved ? REMOVED_STAYS : 'a revision that is written now has it';
}

/** From when on looks are searched for an order, in one line and without a full stop. */
export function searchedLine(since: string): string {
  return `Earlier snapshots than of ${since} are not searched for this list`;
}
