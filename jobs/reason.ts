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

/** An error without a message is named by its class. */
export function reasonOf(error: unknown): string {
  const words = IN_SCRIPT.reduce((text, where) => text.replace(where, ''), messageOf(error));
  return plainLine(words) || 'an error without a message';
}

export function plainLine(text: string): string {
  return oneLine(text, REASON_LENGTH);
}
