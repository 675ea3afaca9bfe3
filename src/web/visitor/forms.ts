// Forms come from our own pages or not at all: a token tied to a secret in the browser, and the
// browser's own word on where the form stood. Both have to agree; a GET never changes anything.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cookieSettings } from './session.js';

export const FORM_COOKIE = 'tieout-form';
const BOUND = `__Host-${FORM_COOKIE}`;

/** Over https the browser binds the secret to this host by its name, as it does the session's. */
export function bindFormCookie(server: FastifyInstance): void {
  server.addHook('onRequest', async (request) => {
    if (request.protocol !== 'https') return;
    const { [BOUND]: secret, [FORM_COOKIE]: _, ...others } = request.cookies;
    request.cookies = secret === undefined ? others : { ...others, [FORM_COOKIE]: secret };
  });
  server.addHook('onSend', async (request, reply) => {
    const set = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    if (request.protocol !== 'https' || set.length === 0) return;
    reply.removeHeader('set-cookie');
    const plain = `${FORM_COOKIE}=`;
    const named = set.map((one) => (one.startsWith(plain) ? `__Host-${one}` : one));
    reply.header('set-cookie', named);
  });
}

/** The token that the forms of this page carry. */
export function tokenFor(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf(cookieSettings(request));
}

/** Refuses a form of another site, and one without a good token. */
export function checkForm(server: FastifyInstance) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    if (isFromElsewhere(request)) {
      done(Object.assign(new Error('a form of another site'), { statusCode: 403 }));
      return;
    }
    server.csrfProtection(request, reply, done);
  };
}

function isFromElsewhere(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return true;
  const { origin } = request.headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== request.host;
}
