// What sending needs beside what every step of a run needs: two memories on the local disk.

import type { RunDeps } from '../runs/deps.js';
import type { AnswerSpool } from './journal/answerSpool.js';
import type { JournalGuard } from './journal/journalGuard.js';
import type { SenderFitness } from './journal/senderFitness.js';

export interface SendDeps extends RunDeps {
  /** permits on the local disk, held against the database */
  journal: JournalGuard;
  /** whether anything can be sent from here */
  fitness: SenderFitness;
  /** answers on the local disk until the database has them */
  answers: AnswerSpool;
}
