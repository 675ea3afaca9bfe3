// Jobs that fail for one reason, told once: an outage fails thirty of them in a moment, and thirty
// lines hide what happened. The first is told at once, the others as a count. It must never swallow
// a reason that was not told. Neighbour: worker.ts tells it what failed.

import type { Log } from '../src/core/log.js';
import type { QueueName } from '../src/core/queuePort.js';

const COUNTED_MS = 60_000;

export interface FailureNotices {
  failed(queue: QueueName, id: string, reason: string): void;
  /** Tells what was only counted so far. */
  end(): void;
}

export function failureNotices(log: Log): FailureNotices {
  const counted = new Map<string, { more: number; timer: NodeJS.Timeout }>();
  const tell = (reason: string): void => {
    const { more = 0, timer } = counted.get(reason) ?? {};
    clearTimeout(timer);
    counted.delete(reason);
    if (more === 0) return;
    const jobs = more === 1 ? 'one more job' : `${more} more jobs`;
    log(`${jobs} failed for the same reason: ${reason}`, { level: 'error' });
  };
  return {
    failed(queue, id, reason) {
      const known = counted.get(reason);
      if (known !== undefined) {
        known.more += 1;
        return;
      }
      counted.set(reason, { more: 0, timer: setTimeout(tell, COUNTED_MS, reason).unref() });
      log(`queue ${queue}: ${id} failed: ${reason}`, { level: 'error', queue, job: id });
    },
    end() {
      for (const reason of [...counted.keys()]) tell(reason);
    },
  };
}
