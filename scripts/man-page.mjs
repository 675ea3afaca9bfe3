// Writes the manual page dist/tieout.1 from the commands of the built program: a part of the build.

import { readFileSync, writeFileSync } from 'node:fs';
import { COMMANDS } from '../dist/src/cli/commands.js';
import { commandTree } from '../dist/src/cli/commandTree.js';
import { manPage } from '../dist/src/cli/manPage.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const page = manPage(await commandTree(COMMANDS), version);
writeFileSync(new URL('../dist/tieout.1', import.meta.url), page);
