// Trouble that repeats itself is told once a minute, and never with a secret of a card.

import { describe, expect, it } from 'vitest';
import { quietLog } from '../../jobs/quietLog.js';
import { reasonOf } from '../../jobs/reason.js';

describe('the quiet log', () => {
  it('tells a repeated error once a minute, with the number of those it kept', () => {
    const lines: string[] = [];
    let at = 0;
    const onError = quietLog({ log: (line) => lines.push(line), now: () => new Date(at) });
    for (at = 0; at <= 60_000; at += 10) onError('worker pull', new Error('refused'));
    expect(lines).toEqual(['worker pull: refused', 'worker pull: refused (5999 times more)']);
  });

  it('tells once what the library says of each job by its number, and counts the others', () => {
    const lines: string[] = [];
    let at = 0;
    const onError = quietLog({ log: (line) => lines.push(line), now: () => new Date(at) });
    for (const job of [17, 18, 'a.b', 20]) {
      onError('worker refund', new Error(`Missing key for job ${job}. moveToFinished`));
    }
    at = 60_000;
    onError('worker refund', new Error('Missing key for job 21. moveToFinished'));
    const lost = 'worker refund: its server has lost jobs that were under way (moveToFinished); ';
    const again = 'what is still to be done is enqueued again';
    expect(lines).toEqual([lost + again, `${lost}${again} (3 times more)`]);
  });

  it('tells different errors at once', () => {
    const lines: string[] = [];
    const onError = quietLog({ log: (line) => lines.push(line), now: () => new Date(0) });
    onError('worker pull', new Error('a'));
    onError('worker pull', new Error('b'));
    onError('worker refund', new Error('a'));
    expect(lines).toEqual(['worker pull: a', 'worker pull: b', 'worker refund: a']);
  });

  it.each([
    [new Error('two\nlines\u2028three'), 'two lines three'],
    [new TypeError(''), 'TypeError'],
    ['only text', 'only text'],
    [
      new Error(
        'Reached the max retries per request limit (which is 3). Refer to "maxRetriesPerRequest" ' +
          'option for details.',
      ),
      'its server is away',
    ],
    [new Error('Connection terminated unexpectedly'), 'the connection to its server was lost'],
    [
      new Error('Client has encountered a connection error and is not queryable'),
      'the connection to its server was lost',
    ],
    [new Error('timeout exceeded when trying to connect'), 'its server does not answer'],
    [undefined, 'undefined'],
    ['', 'an error without a message'],
    [new Error('card 4111111111111111'), 'card 411111******1111'],
    [new Error('x'.repeat(20_000)), 'x'.repeat(500)],
    [
      new Error(`${' .'.repeat(243)} 4111111111111111`),
      `${' .'.repeat(243).trim()} 411111******11`,
    ],
  ])('makes one short line of %s', (error, line) => {
    expect(reasonOf(error)).toBe(line);
  });
});
