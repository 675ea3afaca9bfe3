// Trouble told once in a while. It owns how jobs/ reports errors that repeat themselves many times
// a second while a server is away. It must never swallow one that was not told before. Neighbours:
// queues.ts gives it the log, the backends and workers tell it their errors.

import type { Log } from '../src/core/log.js';
import type { OnError } from './backend.js';
import { reasonOf } from './reason.js';

const REPEAT_AFTER_MS = 60_000;
const SCOPES_KEPT = 200;

/** Tells an error of a scope at once, its repetitions as a count once a minute. */
export function quietLog(deps: { log: Log; now: () => Date }): OnError {
  const told = new Map<string, { at: number; silent: number }>();
  return (scope, error) => {
    const reason = reasonOf(error);
    const key = `${scope}: ${reason}`;
    const now = deps.now().getTime();
    const last = told.get(key);
    if (last !== undefined && now - last.at < REPEAT_AFTER_MS) {
      last.silent += 1;
      return;
    }
    if (told.size >= SCOPES_KEPT) told.clear();
    told.set(key, { at: now, silent: 0 });
    const repeated = last === undefined || last.silent === 0 ? '' : ` (${last.silent} times more)`;
    deps.log(`${key}${repeated}`, { level: 'warn' });
  };
}
