// An error in words: one short line for the log, the list of failed jobs and a message. It must
// never let a card number or a control character through, and never a stack. Neighbours: all of
// jobs/ words its errors here.

import { messageOf } from '../src/core/errors.js';
import { oneLine } from '../src/core/log.js';

const REASON_LENGTH = 500;

/** An error without a message is named by its class. */
export function reasonOf(error: unknown): string {
  return plainLine(messageOf(error)) || 'an error without a message';
}

export function plainLine(text: string): string {
  return oneLine(text, REASON_LENGTH);
}
