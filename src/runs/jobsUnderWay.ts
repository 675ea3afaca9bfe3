// Counts the jobs that this process works on, so that whoever waits for rows can look at once when
// the last of them has ended instead of at its next glance. Only a hint for the time of looking:
// what is done is what the rows say, and other processes may be at work too.

export interface JobsUnderWay {
  /** Runs a job; wakes those who nap when none is left under way. */
  during<T>(job: () => Promise<T>): Promise<T>;
  /** Resolves after so long, when the last job under way has ended, or when told to stop. */
  nap(ms: number): Promise<void>;
}

export function countJobs(stop: AbortSignal): JobsUnderWay {
  const napping = new Set<() => void>();
  let underWay = 0;
  return {
    async during(job) {
      underWay += 1;
      try {
        return await job();
      } finally {
        underWay -= 1;
        if (underWay === 0) for (const wake of [...napping]) wake();
      }
    },
    nap: (ms) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          napping.delete(wake);
          stop.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        napping.add(wake);
        stop.addEventListener('abort', wake);
      }),
  };
}
