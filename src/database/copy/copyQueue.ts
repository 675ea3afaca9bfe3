// Texts for a COPY that goes on while more of them are made. It buys that both cores are at work: a
// program that makes text without a pause hears nothing of its connection, and the server waits for
// the next piece meanwhile; so whoever puts one lets the connection have its turn. It holds a few
// pieces and never more. Neighbour: copyIn.ts takes them.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many wait before whoever puts one waits, too. */
const WAITING_MAX = 2;

export class CopyQueue implements AsyncIterable<string> {
  readonly #texts: string[] = [];
  #isOver = false;
  #wake = (): void => {};
  #haveRoom = (): void => {};

  /** Resolves when there is room for another; also when nobody takes them any more. */
  async put(text: string): Promise<void> {
    this.#texts.push(text);
    this.#wake();
    await nextTurn();
    if (this.#texts.length <= WAITING_MAX || this.#isOver) return;
    await new Promise<void>((resolve) => {
      this.#haveRoom = resolve;
    });
  }

  /** What was put before is still taken. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      while (!this.#isOver || this.#texts.length > 0) {
        const text = this.#texts.shift();
        if (text === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else {
          this.#haveRoom();
          yield text;
        }
      }
    } finally {
      this.#isOver = true;
      this.#haveRoom();
    }
  }
}
