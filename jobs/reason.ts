// An error in words: one short line for the log, the list of failed jobs and a message. It must
// never let a card number or a control character through, and never a stack. Neighbours: all of
// jobs/ words its errors here.

import { messageOf } from '../src/core/errors.js';
import { oneLine } from '../src/core/log.js';

const REASON_LENGTH = 500;
/** Where in a script of BullMQ's the server of the queue met it, before and since Redis 7. */
const IN_SCRIPT = [
  /^(?:ERR )?Error running script \(call to \w+\): (?:@user_script:? ?\d+:? ?)*-?/,
  / ?script: \w+, on @user_script:\d+\.?$/,
];

/** What the libraries of the queue say in words of their own, of options that nobody here sets. */
const OURS: readonly (readonly [RegExp, string])[] = [
  [/^Reached the max retries per request limit .*$/s, 'its server is away'],
  // What the driver of PostgreSQL says of a server that is stopped, which has no code.
  [
    /^(?:Connection terminated|Client has encountered a connection error|Client was closed).*$/s,
    'the connection to its server was lost',
  ],
  [/^(?:timeout exceeded when trying to connect|timeout expired)$/, 'its server does not answer'],
  // The same of each job, so that they are told once and counted.
  [
    /^Missing key for job .*\. (\w+)$/s,
    'its server has lost jobs that were under way ($1); what is still to be done is enqueued again',
  ],
];

/** An error without a message is named by its class. */
export function reasonOf(error: unknown): string {
  const inScript = IN_SCRIPT.reduce((text, where) => text.replace(where, ''), messageOf(error));
  const words = OURS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), inScript);
  return plainLine(words) || 'an error without a message';
}

export function plainLine(text: string): string {
  return oneLine(text, REASON_LENGTH);
}
