// Progress on long work: one line that is drawn over on a terminal, a line a step elsewhere.

import type { WriteStream } from 'node:tty';
import type { Talk } from '../compose.js';

const BAR_WIDTH = 24;
const REDRAW_MS = 100;

export interface Progress extends Talk {
  end: () => void;
}

export function openProgress(stream: NodeJS.WriteStream | WriteStream, quiet: boolean): Progress {
  if (quiet) return { log: () => {}, progress: () => {}, end: () => {} };
  return stream.isTTY ? drawn(stream) : plain(stream);
}

function plain(stream: NodeJS.WritableStream): Progress {
  const finished = new Set<string>();
  const log = (line: string): void => {
    stream.write(`${new Date().toISOString()} ${line}\n`);
  };
  return {
    log,
    progress: (step, done, total) => {
      if (done < total || finished.has(step)) return;
      finished.add(step);
      log(`${step}: done`);
    },
    end: () => {},
  };
}

function drawn(stream: NodeJS.WritableStream): Progress {
  let drawnAt = 0;
  let open = false;
  const clear = (): void => {
    if (open) stream.write('\r\u001b[2K');
    open = false;
  };
  return {
    log: (line) => {
      clear();
      stream.write(`${line}\n`);
    },
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
