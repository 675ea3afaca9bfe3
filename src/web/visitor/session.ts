// The session of a browser: a random secret in a cookie that scripts cannot read, its digest in
// PostgreSQL. A new one is made at every sign-in, so that a planted one is worth nothing; it ends
// when unused, when old, at sign-out, and the moment the person is disabled.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { newToken, tokenDigest } from '../../access/password.js';
import type { Draft, SessionLimits, SessionRow } from '../../access/sessionsStore.js';
import {
  closeSession,
  findSession,
  keepDraft,
  openSession,
  sweepSessions,
} from '../../access/sessionsStore.js';
import type { Database } from '../../database/db.js';

const MINUTE_MS = 60_000;
export const IDLE_MS = 30 * MINUTE_MS;
export const LIFE_MS = 12 * 60 * MINUTE_MS;
/** Approvals ask for a password given within this time. */
export const FRESH_MS = 10 * MINUTE_MS;

interface SessionDeps {
  db: Database;
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
  return token === null ? null : findSession(deps.db, tokenDigest(token), limitsAt(deps.now()));
}

/** What the session of this browser is kept under. */
export function sessionDigest(request: FastifyRequest): Buffer | null {
  const token = tokenOf(request);
  return token === null ? null : tokenDigest(token);
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
  if (token !== null) await keepDraft(deps.db, tokenDigest(token), draft);
}

/** Ends the old session, if any, and begins a new one under a new secret. */
export async function beginSession(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, draft }: { userId: bigint; draft?: Draft | null },
): Promise<void> {
  const now = deps.now();
  await endSession(deps, request, reply);
  await sweepSessions(deps.db, limitsAt(now));
  const token = newToken();
  const sha256 = tokenDigest(token);
  const session = { sha256, userId, now, address: request.ip, draft: draft ?? null };
  await openSession(deps.db, session);
  reply.setCookie(cookieName(request, NAME), token, cookieSettings(request));
}

export async function endSession(
  deps: SessionDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const token = request.cookies[cookieName(request, NAME)];
  if (token !== undefined) await closeSession(deps.db, tokenDigest(token));
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
