// How a paper is read by the test that holds it: its tables, and its headings as links name them.
// Neighbours: sourceFiles.ts, documents.test.ts.

import { textOf } from './sourceFiles.js';

/** The cells of the first table of a text, without what makes them slanted. */
export function tableIn(text: string): string[][] {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith('|'));
  const to = lines.findIndex((line, at) => at > from && !line.startsWith('|'));
  return lines.slice(from, to).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('*', '').trim()),
  );
}

/** As the pages of a repository name the headings of a paper. */
export function anchorsOf(path: string): string[] {
  const headings = textOf(path).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
