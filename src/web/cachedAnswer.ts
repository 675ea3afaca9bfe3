// An answer that many ask for and that costs something: worked out once at a time and kept for a
// moment, so that whoever asks without a name cannot keep the database busy.

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

/** The answer, or a failure once it took too long: a dead server may answer nothing. */
export function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  });
  // The loser of the race may still fail later, when nobody listens any more.
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
