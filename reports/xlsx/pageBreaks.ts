// Where the pages of a sheet end that is made in memory: a section stands on one page where it
// fits on one, so that no heading ends a page and no line of sums begins one. Sizes are a
// spreadsheet's own; a reader with a wider font prints smaller, and then has room to spare. Pure;
// neighbours: page.ts (the sections), writePage.ts.

/** A4 across, in points, less the margins of workbook.ts. */
const PAGE_WIDTH = 784;
const PAGE_HEIGHT = 519;
/** What a width of one character is in points. */
const CHARACTER_POINTS = 5.25;
/** A line may be a little higher than we said. */
const SURE = 0.96;

export interface Printed {
  /** In points, of each line. */
  heights: readonly number[];
  /** Columns, in characters. */
  widths: readonly number[];
  /** The first lines, which are printed on top of every page. */
  repeatedLines: number;
  /** Where sections begin: the number of the line of each title. */
  sections: readonly number[];
}

/** The lines after which a page ends, by number. */
export function pageBreaks({ heights, widths, repeatedLines, sections }: Printed): number[] {
  const width = widths.reduce((sum, one) => sum + one * CHARACTER_POINTS, 0);
  const room = (PAGE_HEIGHT * SURE) / Math.min(1, PAGE_WIDTH / width);
  const between = (from: number, to: number): number =>
    heights.slice(from - 1, to - 1).reduce((sum, height) => sum + height, 0);
  const onTop = between(1, repeatedLines + 1);
  const breaks: number[] = [];
  let used = between(1, sections[0] ?? 1);
  for (const [at, first] of sections.entries()) {
    const needed = between(first, sections[at + 1] ?? heights.length + 1);
    if (used + needed > room && used > onTop) {
      breaks.push(first - 1);
      used = onTop;
    }
    used += needed;
  }
  return breaks;
}
