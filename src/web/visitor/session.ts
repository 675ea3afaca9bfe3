// The session of a browser: a random secret in a cookie that scripts cannot read, its digest in
// PostgreSQL. A new one is made at every sign-in, so that a planted one is worth nothing; it ends
// when unused, when old, at sign-out, and the moment the person is disabled.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { newToken, tokenDigest } from '../../access/password.js';
import type { Draft, OpenSession, SessionLimits, SessionRow } from '../../access/sessionsStore.js';
import {
  closeSession,
  findSession,
  keepDraft,
  openSession,
  openSessions,
  sessionMark,
  sweepSessions,
} from '../../access/sessionsStore.js';
import type { Config } from '../../config/config.js';
import { decisionKeys } from '../../core/decisions/decisionKeys.js';
import type { Decider } from '../../core/instructions/decider.js';
import type { Database } from '../../database/db.js';

const MINUTE_MS = 60_000;
export const IDLE_MS = 30 * MINUTE_MS;
export const LIFE_MS = 12 * 60 * MINUTE_MS;
/** Approvals ask for a password given within this time. */
export const FRESH_MS = 10 * MINUTE_MS;

interface SessionDeps {
  db: Database;
  config: Pick<Config, 'decisions'>;
  now: () => Date;
}

/** Over https the name binds the cookie to this host and path; http is for this machine only. */
function cookieName(request: FastifyRequest, name: string): string {
  return request.protocol === 'https' ? `__Host-${name}` : name;
}

export function cookieSettings(request: FastifyRequest) {
  return {
    path: '/',
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: request.protocol === 'https',
  };
}

const NAME = 'tieout-session';

export async function currentSession(
  deps: SessionDeps,
  request: FastifyRequest,
): Promise<SessionRow | null> {
  const token = tokenOf(request);
  return token === null ? null : findSession(deps.db, digestOf(deps, token), limitsAt(deps.now()));
}

/** What the session of this browser is kept under. */
export function sessionDigest(
  deps: Pick<SessionDeps, 'config'>,
  request: FastifyRequest,
): Buffer | null {
  const token = tokenOf(request);
  return token === null ? null : digestOf(deps, token);
}

function digestOf({ config }: Pick<SessionDeps, 'config'>, token: string): Buffer {
  return tokenDigest(token, config.decisions.key);
}

/** As a session is named where something is on record. */
function markWords(mark: string): string {
  return `session ${mark}`;
}

/** Whoever is signed in, as who decides: signed by our key, from this session. */
export function deciderOf(
  { config }: Pick<SessionDeps, 'config'>,
  { name, mark }: SessionRow,
): Decider {
  const keys = decisionKeys(config.decisions);
  return { name, isClaim: false, proof: keys?.proofOf(markWords(mark)) ?? null };
}

function tokenOf(request: FastifyRequest): string | null {
  const token = request.cookies[cookieName(request, NAME)];
  return token !== undefined && /^[\w-]{43}$/.test(token) ? token : null;
}

/** Keeps what was typed into a form with the session; null forgets it. */
export async function keepTyped(
  deps: SessionDeps,
  request: FastifyRequest,
  draft: Draft | null,
): Promise<void> {
  const token = tokenOf(request);
  if (token !== null) await keepDraft(deps.db, digestOf(deps, token), draft);
}

/**
 * Ends the old session, if any, and begins a new one under a new secret. `told`: it is on record,
 * by its mark, before it can be used.
 */
export async function beginSession(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  of: { userId: bigint; draft?: Draft | null; told: (subject: string) => Promise<void> },
): Promise<void> {
  const { userId, draft } = of;
  const now = deps.now();
  await endSession(deps, request, reply);
  await sweepSessions(deps.db, limitsAt(now));
  const token = newToken();
  const sha256 = digestOf(deps, token);
  const session = { sha256, userId, now, address: request.ip, draft: draft ?? null };
  await of.told(markWords(sessionMark(sha256)));
  await openSession(deps.db, session);
  reply.setCookie(cookieName(request, NAME), token, cookieSettings(request));
}

/** Where a person is signed in, the session used last first. */
export function sessionsOf(deps: SessionDeps, userId: bigint): Promise<OpenSession[]> {
  return openSessions(deps.db, userId, limitsAt(deps.now()));
}

export async function endSession(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = request.cookies[cookieName(request, NAME)];
  if (token !== undefined) await closeSession(deps.db, digestOf(deps, token));
  reply.clearCookie(cookieName(request, NAME), cookieSettings(request));
}

export function isFresh(session: SessionRow, now: Date): boolean {
  return now.getTime() - session.confirmedAt.getTime() < FRESH_MS;
}

function limitsAt(now: Date): SessionLimits {
  return {
    now,
    seenAfter: new Date(now.getTime() - IDLE_MS),
    createdAfter: new Date(now.getTime() - LIFE_MS),
  };
}
