// The queue's own board, mounted under the same sign-in: operators and administrators look, nobody
// presses. Its pages are not ours, so they get rules of content of their own, which reach no
// further than its address.

import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { hasEverywhere } from '../core/access.js';
import { answerProblem } from './layout/problems.js';
import type { ConsoleDeps } from './visit.js';
import { currentSession } from './visitor/session.js';

export const BOARD_PATH = '/board';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Its components set styles as they move.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

export async function addBoard(
  server: FastifyInstance,
  deps: ConsoleDeps,
  board: FastifyPluginCallback,
): Promise<void> {
  await server.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      const session = await currentSession(deps, request);
      if (session === null) return reply.redirect('/sign-in', 303);
      const mayLook = hasEverywhere('board', session.grants, deps.accountIds);
      if (!mayLook) return answerProblem(deps, request, reply, 403, session);
      if (request.method !== 'GET') return answerProblem(deps, request, reply, 405, session);
    });
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', POLICY);
    });
    await scope.register(board, { prefix: BOARD_PATH });
  });
}
