// The manual page tieout(1), made of the commands themselves. Neighbours: commandTree.ts reads
// them; scripts/man-page.mjs writes the page into what is built.

import { EXIT_WORDS } from '../core/exitCodes.js';
import type { CommandNode } from './commandTree.js';

export function manPage(nodes: readonly CommandNode[], version: string): string {
  const commands = nodes.flatMap(({ path, takes, about, options }) => [
    ...(path === '' ? [] : [`.SS ${roff(`tieout ${path} ${takes}`.trim())}`, roff(about)]),
    ...options
      // Those that every command takes are said once.
      .filter(({ long }) => path === '' || !['--config', '--help'].includes(long))
      .flatMap((option) => ['.TP', `\\fB${roff(option.flags)}\\fR`, roff(option.about)]),
  ]);
  const codes = Object.entries(EXIT_WORDS).flatMap(([code, words]) => ['.TP', code, roff(words)]);
  return [
    `.TH TIEOUT 1 "" "tieout ${roff(version)}" ""`,
    '.SH NAME',
    "tieout \\- makes a merchant's books and the card gateway agree, every night",
    '.SH SYNOPSIS',
    '.B tieout',
    '.I COMMAND',
    '[\\fIoptions\\fR]',
    '.SH COMMANDS',
    ...commands,
    '.SH EXIT STATUS',
    ...codes,
    '.SH FILES',
    '.TP',
    'tieout.yaml',
    'the configuration; tieout init writes one with every key and what it means',
    '.SH SEE ALSO',
    'README.md and docs/ in the folder of the package',
    '',
  ].join('\n');
}

/** A hyphen stays one, and no line is taken for a request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1');
}
