// The program as commands work with it: database, queue, gateway and what the steps need, opened
// when they are asked for. src/app builds it and hands commands what opens it.

import type { Queues } from '../../jobs/queues.js';
import type { Config } from '../config/config.js';
import type { Log } from '../core/log.js';
import type { QueuePort } from '../core/queuePort.js';
import type { Connection } from '../database/connection.js';
import type { Database } from '../database/db.js';
import type { Workforce } from '../night/run.js';
import type { SendDeps } from '../send/deps.js';

export interface Talk {
  log: Log;
  progress: (step: string, done: number, total: number) => void;
}

export interface App {
  config: Config;
  version: string;
  connection: Connection;
  /** whom the tables belong to, who migrates and restores; of a given database the same */
  owner: Connection;
  db: Database;
  log: Log;
  progress: Talk['progress'];
  /** who holds up a session of ours by a lock, in words; null: nobody */
  heldUpBy: () => string | null;
  /** when a run is to begin, as local times around a time */
  localTicks: (around: Date) => Promise<string[]>;
  queues: () => Promise<Queues>;
  /** Opens queue and gateway; the deps of every step. */
  sendDeps: () => Promise<SendDeps>;
  workforce: () => Promise<Workforce>;
  close: () => Promise<void>;
}

export interface AppOptions {
  talk: Talk;
  /** What even a command says that answers in a word; default: the log of `talk`. */
  warn?: Log;
  /** Ends waits and retries when the program is told to stop. */
  signal: AbortSignal;
  /** So long a statement waits for a lock; default: as long as a step of a run. */
  lockMs?: number;
  /** `migrate` and `doctor` look at a database that is not up to date. */
  anySchema?: boolean;
  /** A machine that starts brings its servers up in any order: one is waited for so long. */
  partsSeconds?: number;
  /** The wall clock of the run; default: this machine's. */
  now?: () => Date;
  /** The clock that is held against the database's; default: this machine's. */
  wallClock?: () => Date;
}

/** The queue is opened when something is first enqueued, as an approval is, not before. */
export function enqueuesWhenAsked({ queues }: Pick<App, 'queues'>): QueuePort {
  return { enqueue: async (name, ids) => (await queues()).enqueue(name, ids) };
}

export type OpenApp = (config: Config, options: AppOptions) => Promise<App>;
