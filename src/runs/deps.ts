// All that the steps of a run need from outside, as app puts it together. Only the spine takes all
// of it; each step takes, as its first argument, the few members that it names. Nothing of a step
// reaches for a clock, an environment or a global.

import type { Config } from '../config/config.js';
import type { Log } from '../core/log.js';
import type { QueuePort } from '../core/queuePort.js';
import { DAY_MS } from '../core/time.js';
import type { Database, Db } from '../database/db.js';
import type { Account } from '../gateway/account.js';
import type { GatewayClient } from '../gateway/client.js';
import type { Slots } from '../gateway/transport/slots.js';
import type { OwnReach } from '../processes/ownReach.js';
import type { JobsUnderWay } from './jobsUnderWay.js';
import type { Runner } from './runsStore.js';

export interface RunDeps {
  db: Database;
  config: Config;
  gateway: GatewayClient;
  queuePort: QueuePort;
  runner: Runner;
  version: string;
  /** wall clock */
  now: () => Date;
  /** never goes back; milliseconds */
  monotonic: () => number;
  newId: () => string;
  sleep: (ms: number) => Promise<void>;
  /** so many batches of this process are at the gateway at a time, and no more */
  turns: Slots;
  /** what the workers of this process are at */
  jobs: JobsUnderWay;
  /** whether this process has a way to the gateway, while pages are asked */
  reach: OwnReach;
  /** false only when the process is known to be gone; null when nobody here can know */
  isAlive: (runner: Omit<Runner, 'id'>) => boolean | null;
  /** who holds up a session of ours by a lock, in words; null: nobody */
  heldUpBy?: () => string | null;
  /** a server that came along is started again where it has died */
  reviveDatabase?: () => Promise<void>;
  log: Log;
  /** how far the present step has come; for a progress bar */
  progress: (step: string, done: number, total: number) => void;
}

/** One run as the steps see it. */
export interface Run {
  runId: bigint;
  businessDate: string;
  covers: readonly string[];
  startsAt: Date;
  endsAt: Date;
  isDry: boolean;
  /** the accounts that this call works on */
  accounts: readonly Account[];
  /**
   * where statements of the run go: the pool, or the transaction of a dry run that is rolled back.
   * In a run that is worked on, it and `db` of the steps' deps are the same fenced database; deps
   * have it where a step opens transactions or snapshots of its own, which no dry run does.
   */
  db: Db;
}

export function accountIdsOf({ accounts }: Pick<Run, 'accounts'>): string[] {
  return accounts.map(({ accountId }) => accountId);
}

/** An account in the shape that the statements join. */
export interface AccountRules {
  account_id: string;
  live_from: Date | null;
}

export function accountRules(accounts: readonly Account[]): AccountRules[] {
  return accounts.map((account) => ({
    account_id: account.accountId,
    live_from: account.liveFrom,
  }));
}

/** Orders placed before this time are looked at only while they are not final. */
export function lookbackFrom(deps: Pick<RunDeps, 'config'>, run: Pick<Run, 'endsAt'>): Date {
  return new Date(run.endsAt.getTime() - deps.config.reconcile.lookbackDays * DAY_MS);
}
