// How long anything may take or hold up others at the database, by kind of work. The server itself
// ends what goes past it, so that a process that was stopped in its tracks (Ctrl-Z, a paused
// machine) with locks in its hands keeps nobody: its work is rolled back, others go on, and it is
// told when it wakes. Said at the beginning of each transaction, since a pooler lends a session for
// no longer than that.

import { named } from './identifiers.js';

export interface Limits {
  /** nothing is said for so long between two statements: the session is ended */
  idleMs: number;
  /** a lock that somebody else holds */
  lockMs: number;
  /** one statement */
  statementMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The largest compare takes minutes; what takes so long will not end. */
const STATEMENT_MS_MAX = 2 * HOUR_MS;

/** A step of a run: it waits out a transaction of others, and never thinks for long. */
export const WORK_LIMITS: Limits = {
  idleMs: MINUTE_MS,
  lockMs: 15 * MINUTE_MS,
  statementMs: STATEMENT_MS_MAX,
};

/** A claim, a decision: a few short statements that many wait for. */
export const SHORT_LIMITS: Limits = {
  idleMs: 10 * SECOND_MS,
  lockMs: MINUTE_MS,
  statementMs: 5 * MINUTE_MS,
};

/** A person waits for the answer: of what is locked it is told who holds it. */
export const ASKED_LIMITS: Limits = { ...WORK_LIMITS, lockMs: 5 * SECOND_MS };

/** A dry run holds what others may need, who end it where they wait; nobody else need wait. */
export const DRY_LIMITS: Limits = { ...WORK_LIMITS, idleMs: 10 * SECOND_MS };

/** A long read holds up nobody but who would drop a table, and goes as fast as its reader. */
const READ_LIMITS: Limits = { ...WORK_LIMITS, idleMs: HOUR_MS };

/**
 * In the simple protocol, behind a `begin`: one message for all. Nothing of ours is compiled: it
 * takes seconds, and servers before 18 compile by its price alone each statement that may not use
 * one kind of join.
 */
function limitsSql({ idleMs, lockMs, statementMs }: Limits): string {
  return named`set local idle_in_transaction_session_timeout = ${idleMs};
    set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs};
    set local jit = off`;
}

/** What our statements are written for, whatever is the default of the database or the role. */
const BEGIN = 'begin isolation level read committed, read write, not deferrable';

/** How a transaction begins that has these limits: one message. */
export function beginSql(limits: Limits): string {
  return [BEGIN, limitsSql(limits)].join('; ');
}

/** Behind the `begin` of a long read. */
export const READING = limitsSql(READ_LIMITS);

/**
 * Durable, by short limits, and its statements are planned once a connection: a claim is one of
 * hundreds, each of the same few statements over rows found by their keys, and to plan them costs
 * more than to run them. By their keys: a plan that was made while a table was small would read all
 * of it for every row.
 */
export const BEGIN_DURABLY = [
  beginSql(SHORT_LIMITS),
  'set local synchronous_commit = on',
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
].join('; ');
