// An answer that many ask for and that costs something: worked out once at a time and kept for a
// moment, so that whoever asks without a name cannot keep the database busy.

import { inTime } from '../processes/inTime.js';

/** The same answer for so long; a failure is not kept. Takes at most so long. */
export function cached<T>(
  work: () => Promise<T>,
  { cacheMs, timeoutMs }: { cacheMs: number; timeoutMs: number },
): () => Promise<T> {
  let until = 0;
  let answer: Promise<T> | null = null;
  return () => {
    if (answer !== null && performance.now() < until) return answer;
    const asked = inTime(work(), timeoutMs);
    answer = asked;
    until = Number.POSITIVE_INFINITY;
    asked.then(
      () => {
        until = performance.now() + cacheMs;
      },
      () => {
        if (answer === asked) answer = null;
      },
    );
    return asked;
  };
}
