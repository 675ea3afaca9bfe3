// What a page of the console is given and what it may answer. A route says which right it needs; a
// visit carries the accounts for which the person has that right, and every query takes them. Types
// only, and the few answers that are made in many places.

import type { VNode } from 'preact';
import type { Config } from '../config/config.js';
import type { Grant, Right } from '../core/access.js';
import type { Decider } from '../core/instructions/decider.js';
import type { Log } from '../core/log.js';
import type { QueueName, QueuePort } from '../core/queuePort.js';
import type { Database, Db } from '../database/db.js';
import type { Words } from './format.js';
import type { MonitorDeps } from './health.js';
import type { SectionName } from './sections.js';
import type { UploadedFile } from './upload/uploadForm.js';
import type { Typed } from './visitor/draft.js';
import type { Fields } from './visitor/fields.js';
import type { Identity } from './visitor/identity.js';

export interface FailedJobView {
  jobId: string;
  queue: QueueName;
  /** what the job named; null if it was none of ours */
  id: string | null;
  failedAt: Date;
  reason: string;
  retry: string;
}

export interface JobVerdict {
  kind: string;
  words: string;
}

/** The queue as the console may use it: no word of it sends anything a second time. */
export interface JobsPort {
  list(): Promise<FailedJobView[]>;
  counts: MonitorDeps['queueCounts'];
  retry(jobId: string): Promise<JobVerdict>;
  discard(jobId: string): Promise<JobVerdict>;
}

export interface ConsoleDeps {
  db: Database;
  config: Config;
  accountIds: readonly string[];
  identity: Identity;
  version: string;
  now: () => Date;
  newId: () => string;
  log: Log;
  jobs: JobsPort;
  /** tells a worker of what was approved; the rows are what counts */
  queuePort: QueuePort;
  /** When the next night begins by the schedule; absent: nobody here knows. */
  nextNight?: () => Promise<Date | null>;
}

export interface Person {
  userId: bigint;
  name: string;
  grants: readonly Grant[];
  /** gave the password a short while ago */
  isFresh: boolean;
}

export interface Visit {
  deps: ConsoleDeps;
  person: Person;
  /** The person as who decides: what is decided is signed in this name, from this session. */
  decider: Decider;
  /** Accounts for which the person has the right that the route needs; see Route.unconfigured. */
  accounts: readonly string[];
  /** By a role for all accounts: also those that left, whatever they left behind. */
  seesAll: boolean;
  /** Accounts for which the person has another right. */
  accountsFor(right: Right): readonly string[];
  /** Whether the person has another right for all accounts. */
  hasEverywhere(right: Right): boolean;
  params: Readonly<Record<string, string>>;
  query: Fields;
  form: Fields;
  /** What the form brought, where the route takes a file. */
  file: UploadedFile | null;
  words: Words;
  csrf: string;
  address: string;
  /** The path and query that were asked for, to come back to. */
  here: string;
  /** Numbers of rows that were ticked before the password was asked for. */
  ticked: ReadonlySet<string>;
  /** What was typed into this field of the page's form before the password was asked for. */
  typed(name: Typed): string;
  /** Keeps what was done, with who and from where. */
  record(event: VisitEvent): Promise<void>;
  /** The same in the transaction of what is done; what it answers is called after that. */
  recordIn(tx: Db, event: VisitEvent): Promise<() => void>;
}

export interface VisitEvent {
  action: string;
  accountId?: string;
  subject?: string;
  outcome: string;
}

export type Answer =
  | {
      kind: 'page';
      title: string;
      section: SectionName;
      body: VNode;
      status?: number;
      isLive?: boolean;
    }
  | { kind: 'redirect'; to: string }
  | { kind: 'notFound' }
  | { kind: 'refused'; status: 400 | 403 | 409; words: string }
  | { kind: 'text'; name: string; type: string; text: string; taken: () => Promise<void> }
  | {
      kind: 'file';
      path: string;
      /** where it was written; null: nobody knows */
      host: string | null;
      name: string;
      type: string;
      bytes: bigint;
      /** called once it is sure that it is sent */
      taken: () => Promise<void>;
    };

export interface Route {
  method: 'GET' | 'POST';
  path: string;
  right: Right;
  /** It is of no single account: the right is needed by a role for all of them. */
  everywhere?: true;
  /** It is also of accounts that are not configured, with their breaks and instructions. */
  unconfigured?: true;
  /** The password must have been given a short while ago. */
  isFresh?: true;
  /** Done by the configuration of whatever environment, though it is a decision. */
  anyEnvironment?: true;
  /** The form may be one that brings a file. */
  takesFile?: true;
  /** Fields that a form may bring; any other is refused. */
  fields?: readonly string[];
  handle(visit: Visit): Promise<Answer>;
}

export const NOT_FOUND: Answer = { kind: 'notFound' };

export function refused(words: string, status: 400 | 403 | 409 = 400): Answer {
  return { kind: 'refused', status, words };
}
