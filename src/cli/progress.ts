// How a command talks while it works. On a terminal: lines, and one that is drawn over. Elsewhere a
// plain line a step; of the programs that run for months one JSON object a line (jsonLog.ts). All
// of it goes through one guard: no secret of the configuration, no card number, one line a line.

import type { WriteStream } from 'node:tty';
import type { Log } from '../core/log.js';
import { guardedLog } from '../core/log.js';
import { withZonedTimes } from '../core/text/zonedTimes.js';
import type { Talk } from './app.js';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;
/** Where nothing is drawn: how often a long step says how far it is. */
const SAID_MS = 10_000;

export interface Progress extends Talk {
  end: () => void;
}

interface TalkSettings {
  /** no progress, no log lines: the command answers in a word */
  quiet: boolean;
  /** runs until it is told to stop */
  isService: boolean;
  version: string;
  /** takes the secrets of the configuration out of a text */
  hide: (text: string) => string;
  /** of the schedule: in which people read times */
  zone: string;
}

export async function openProgress(
  stream: NodeJS.WriteStream | WriteStream,
  settings: TalkSettings,
): Promise<Progress> {
  if (settings.quiet) return { log: () => {}, progress: () => {}, end: () => {} };
  if (stream.isTTY) return drawn(stream, settings);
  if (!settings.isService) return stepwise(plainLog(stream, settings));
  // Takes a while to load, which a command that answers at once does not have to spare.
  const { openJsonLog } = await import('./jsonLog.js');
  return stepwise(openJsonLog(stream, settings), { again: true });
}

function plainLog(stream: NodeJS.WritableStream, { hide, zone }: TalkSettings): Log {
  return guardedLog((line) => {
    stream.write(`${withZonedTimes(`${nowToSeconds()}  ${line}`, zone)}\n`);
  }, hide);
}

function nowToSeconds(): string {
  return `${new Date().toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}Z`;
}

/** A line when a step is done, once; `again`: once more when it began anew, another run. */
function stepwise(log: Log, { again = false } = {}): Progress {
  const finished = new Set<string>();
  let saidAt = performance.now();
  return {
    log,
    progress: (step, done, total) => {
      if (again && done < total) finished.delete(step);
      if (done < total) {
        if (performance.now() - saidAt < SAID_MS) return;
        saidAt = performance.now();
        log(`${step}: ${done} of ${total}`, { step });
        return;
      }
      if (finished.has(step)) return;
      finished.add(step);
      log(`${step}: done`, { step });
    },
    end: () => {},
  };
}

function drawn(stream: NodeJS.WritableStream, { hide, zone }: TalkSettings): Progress {
  let drawnAt = 0;
  let open = false;
  const clear = (): void => {
    if (open) stream.write('\r\u001b[2K');
    open = false;
  };
  return {
    log: guardedLog((line) => {
      clear();
      stream.write(`${withZonedTimes(line, zone)}\n`);
    }, hide),
    progress: (step, done, total) => {
      const now = performance.now();
      if (done < total && now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      clear();
      if (done >= total) return;
      const filled = total === 0 ? 0 : Math.round((done / total) * BAR_WIDTH);
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
      stream.write(`${step.padEnd(8)} ${bar} ${done}/${total}`);
      open = true;
    },
    end: clear,
  };
}
