// With what number a command ends, and what each says: the table of docs/CONTRACT.md section 1.
// Pure; `tieout run --help` and the manual page print it.

import type { RunState } from './runs/summary.js';

export const EXIT = { done: 0, failed: 1, usage: 2, differs: 3, incomplete: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_WORDS: Readonly<Record<ExitCode, string>> = {
  0: 'done; of a run: everything ties',
  1: 'failed',
  2: 'wrong usage or configuration: the message names key and file',
  3: 'a run ended, and orders differ',
  4: 'incomplete: pages failed, orders not compared, instructions not settled',
};

export const EXIT_OF_RUN: Readonly<Record<RunState, ExitCode>> = {
  tied_out: EXIT.done,
  broken: EXIT.differs,
  incomplete: EXIT.incomplete,
  running: EXIT.incomplete,
  failed: EXIT.failed,
};
