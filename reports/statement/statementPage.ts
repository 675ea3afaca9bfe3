// A page of the statement under way, and what its two halves are written with. Types alone;
// neighbours: statementSheet.ts and statementBooks.ts (the halves).

import type { Signing } from '../../src/core/runs/businessDay.js';
import type { MovedAfter } from '../../src/core/runs/closingChecklist.js';
import type { AboutData } from '../../src/core/runs/reporting.js';
import type { RevisionFigures } from '../../src/core/runs/sinceClosed.js';
import type { Cell } from '../xlsx/format/cellXml.js';
import type { Matching, Part } from '../xlsx/totals.js';

/** Where the formulas find the lines, and what else is said on each page. */
export interface Frame {
  about: AboutData;
  /** of all accounts and currencies; for one page, what stands on it */
  movedAfter: readonly MovedAfter[];
  /** by account */
  signings: ReadonlyMap<string, readonly Signing[]>;
  signedFigures: readonly RevisionFigures[];
  parts: readonly Part[];
  /** of the sheet of what is not settled; empty where no books are kept */
  bookParts: readonly Part[];
  matching: Matching;
}

interface Line {
  cells: (Cell | null)[];
  isWide?: true;
}

/** One page under way: its first line is `first` of the sheet. */
export interface SheetPage {
  first: number;
  lines: Line[];
  checks: string[];
}
