// Printed pages of a sheet made in memory: no section is cut in two that fits on a page, none begins
// where nothing of it would follow.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addPictureRoom, PICTURE_LINES } from '../../reports/pictures.js';
import { emptyPage } from '../../reports/xlsx/page.js';
import { pageBreaks } from '../../reports/xlsx/pageBreaks.js';

const WIDTHS = Array.from({ length: 13 }, () => 11);
const LINE = 15;
/** What a page takes at this width, less a little. */
const ROOM = 499;

test('a section that does not fit any more begins the next page', () => {
  const heights = Array.from({ length: 60 }, () => LINE);
  const printed = { heights, widths: WIDTHS, repeatedLines: 2, sections: [10, 25, 40, 45] };
  // 24 lines fit, 39 do not; then the 2 repeated ones, 15, 5 and 16 are too many.
  expect(pageBreaks(printed)).toEqual([24, 44]);
});

test('what stands above the first section may fill its page, and no heading ends it', () => {
  const heights = Array.from({ length: 42 }, () => 15);
  const sections = [31];
  const printed = { heights, widths: [100], repeatedLines: 2, sections };
  expect(pageBreaks(printed)).toEqual([30]);
  // Alone on its page it has nowhere to go.
  expect(pageBreaks({ ...printed, repeatedLines: 2, sections: [3] })).toEqual([]);
});

test('a wide sheet is printed smaller, and more lines fit on its page', () => {
  const heights = Array.from({ length: 60 }, () => LINE);
  const widths = WIDTHS.map((width) => width * 2);
  const printed = { heights, widths, repeatedLines: 2, sections: [10, 25, 40, 45] };
  expect(pageBreaks(printed)).toEqual([]);
});

test('whatever the sections are, one that fits on a page stands on one', () => {
  const lines = fc.array(fc.integer({ min: 2, max: 45 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(lines, (counts) => {
      const sections = counts.map((_, at) => 6 + counts.slice(0, at).reduce((a, b) => a + b, 0));
      const heights = Array.from({ length: 5 + counts.reduce((a, b) => a + b, 0) }, () => LINE);
      const breaks = pageBreaks({ heights, widths: WIDTHS, repeatedLines: 2, sections });
      for (const one of breaks) expect(sections).toContain(one + 1);
      // The lines of each page between two breaks: one page, unless a section alone is longer.
      const edges = [0, ...breaks, heights.length];
      for (const [at, from] of edges.slice(0, -1).entries()) {
        const within = sections.filter((first) => first > from && first <= (edges[at + 1] ?? 0));
        const used = ((edges[at + 1] ?? 0) - from + (at > 0 ? 2 : 0)) * LINE;
        if (within.length > 1) expect(used).toBeLessThanOrEqual(ROOM);
      }
    }),
  );
});

test('the room of pictures counts, and none of their rows is cut in two', () => {
  const page = emptyPage();
  const first = addPictureRoom(page, 3);
  expect(page.sections).toEqual([1, 2].map((row) => first + row * PICTURE_LINES + 1));
  const heights = page.lines.map(() => LINE);
  const printed = { heights, widths: WIDTHS, repeatedLines: 0, sections: page.sections };
  // Of three rows of 210 points two stand on a page.
  expect(pageBreaks(printed)).toEqual([first + 2 * PICTURE_LINES]);
});
