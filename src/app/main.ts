// The entry file of the command line: the process around a command, from its heap to its last
// words. Neighbour: program.ts, which finds the command and runs it.

import { setTimeout as sleep } from 'node:timers/promises';
import { keepHeapSmall } from '../cli/heapLimit.js';
import { outputProblem, watchOutput } from '../cli/standardOutput.js';
import { EXIT } from '../core/exitCodes.js';
import { runCommand } from './program.js';

async function main(): Promise<void> {
  keepHeapSmall();
  watchOutput();
  // A log that nobody takes any more ends no run.
  process.stderr.on('error', () => {});
  await runCommand(process.argv.slice(2));
}

/** What was said is written out; a reader that takes nothing any more is not waited for. */
const LAST_WORDS_MS = 5_000;

async function written(stream: NodeJS.WriteStream): Promise<void> {
  const taken = new Promise<void>((resolve) => stream.write('', () => resolve()));
  await Promise.race([taken, sleep(LAST_WORDS_MS)]);
}

async function lastWords(): Promise<void> {
  await written(process.stdout);
  const problem = outputProblem();
  if (problem !== null) {
    process.stderr.write(`tieout: ${problem}\n`);
    // What a run came to is told all the same.
    process.exitCode ||= EXIT.failed;
  }
  await written(process.stderr);
}

await main();
// Whatever is still open, such as a client that looks for a server that is gone for good: a command
// ends when it has said how it ended.
await lastWords();
process.exit();
