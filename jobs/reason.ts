// An error in words: one short line for the log, the list of failed jobs and a message. It must
// never let a card number or a control character through, and never a stack. Neighbours: all of
// jobs/ words its errors here.

import { maskCardNumbers } from '../src/core/masking.js';

const REASON_LENGTH = 500;
const READ_LENGTH = 5_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** An error without a message is named by its class. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return plainLine(text) || 'an error without a message';
}

export function plainLine(text: string): string {
  const line = text.slice(0, READ_LENGTH).replaceAll(CONTROL, ' ').trim();
  // Masked before it is cut: half a card number would not be known for one.
  return maskCardNumbers(line).slice(0, REASON_LENGTH);
}
