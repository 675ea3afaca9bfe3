// The entry file of the command line: the process around a command, from its heap to its last
// words. Neighbour: program.ts, which finds the command and runs it.

import { setTimeout as sleep } from 'node:timers/promises';
import { keepHeapSmall } from '../cli/heapLimit.js';
import { runCommand } from './program.js';

async function main(): Promise<void> {
  keepHeapSmall();
  // A reader that goes away (`tieout runs list | head`) is no error of ours.
  process.stdout.on('error', () => process.exit());
  // A log that nobody takes any more ends no run.
  process.stderr.on('error', () => {});
  await runCommand(process.argv.slice(2));
}

/** What was said is written out; a reader that takes nothing any more is not waited for. */
const LAST_WORDS_MS = 5_000;

async function lastWords(): Promise<void> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  );
  await Promise.race([Promise.all(written), sleep(LAST_WORDS_MS)]);
}

await main();
// Whatever is still open, such as a client that looks for a server that is gone for good: a command
// ends when it has said how it ended.
await lastWords();
process.exit();
