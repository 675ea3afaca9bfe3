// Pages for what went wrong. Each says what happened, what is safe, and what to do; none shows a
// path, a statement or a stack. What nobody expected gets a number that stands in the log as well.

import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BusyError } from '../../access/password.js';
import { announce } from '../../access/record.js';
import type { SessionRow } from '../../access/sessionsStore.js';
import { messageOf } from '../../core/errors.js';
import { forLog } from '../format.js';
import { frameOf } from '../frame.js';
import type { ConsoleDeps } from '../visit.js';
import { tokenFor } from '../visitor/forms.js';
import { currentSession } from '../visitor/session.js';
import { renderPage } from './layout.js';

interface Problem {
  title: string;
  what: string;
  safe: string;
}

const UNTOUCHED = 'Nothing was changed and nothing was sent.';

const PROBLEMS: Readonly<Record<number, Problem>> = {
  400: {
    title: 'Not understood',
    what: 'The form holds something it should not.',
    safe: UNTOUCHED,
  },
  403: {
    title: 'Not allowed',
    what:
      'Your roles do not allow this, or the form was too old. ' +
      'Open the page again, or ask an administrator.',
    safe: UNTOUCHED,
  },
  404: {
    title: 'Nothing here',
    what: 'There is no such page or row, or it is of an account that you may not see.',
    safe: UNTOUCHED,
  },
  405: {
    title: 'Only to look at',
    what: 'Nothing can be pressed here. Failed jobs are retried under Jobs, weighed anew.',
    safe: UNTOUCHED,
  },
  409: { title: 'Changed meanwhile', what: 'It is not as it was shown.', safe: UNTOUCHED },
  413: { title: 'Too large', what: 'The form is larger than this page takes.', safe: UNTOUCHED },
  429: {
    title: 'Too many requests',
    what: 'There were too many requests in a short time. Wait a minute and try again.',
    safe: UNTOUCHED,
  },
  500: {
    title: 'That failed',
    what: 'The console could not finish this.',
    safe:
      'Money moves only by what the database has on record, so that nothing can be sent twice ' +
      'by trying again. Look at the order before you decide anew.',
  },
  503: {
    title: 'Busy or out of reach',
    what:
      'The database does not answer, or too many people sign in at once. ' +
      'Try again in a minute.',
    safe: 'The night goes on from its rows once the database is back; nothing is sent meanwhile.',
  },
};

export async function answerProblem(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  known?: SessionRow | null,
  words?: string,
): Promise<FastifyReply> {
  const session =
    known === undefined ? await currentSession(deps, request).catch(() => null) : known;
  const problem = PROBLEMS[status] ?? (status < 500 ? PROBLEMS[400] : PROBLEMS[500]);
  const { title, what, safe } = problem as Problem;
  const csrf = session === null ? '' : tokenFor(request, reply);
  const html = renderPage(
    { ...(await frameOf(deps, session, csrf)), title, section: '' },
    <>
      <h1>{title}</h1>
      <p class="sentence" role="alert">
        {words ?? what}
      </p>
      <p>{safe}</p>
      <p>
        <a href="/">To the first page</a>
      </p>
    </>,
  );
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}

export async function answerError(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  error: Error & { statusCode?: number },
  mayTell: (address: string) => boolean,
): Promise<FastifyReply> {
  const where = `${request.method} ${request.routeOptions.url ?? 'an unknown page'}`;
  const status = statusOf(error);
  if (status < 500) {
    // What is refused for its number comes in floods: once a minute and address.
    const isTold = status === 429 ? mayTell(request.ip) : request.method === 'POST';
    if (isTold) await refusedAt(deps, request, null, PROBLEMS[status]?.title ?? 'refused');
    return answerProblem(deps, request, reply, status);
  }
  const number = randomUUID().slice(0, 8);
  deps.log(`console: ${where} failed (${number}): ${forLog(error.message)}`, { level: 'error' });
  const words = `${PROBLEMS[status]?.what} The log has it under ${number}.`;
  return answerProblem(deps, request, reply, status, null, words);
}

/** A form, or a page that somebody may not see, was refused: told to whoever watches. */
export async function refusedAt(
  deps: ConsoleDeps,
  request: FastifyRequest,
  who: string | null,
  why: string,
): Promise<void> {
  const about = `${request.method} ${request.routeOptions.url ?? 'an unknown page'}: ${why}`;
  const event = { what: 'form_refused', who, address: request.ip, accountId: null, about } as const;
  // Whoever is refused stays so, also where nobody can be told.
  await announce(deps, event).catch((error: unknown) => {
    deps.log(`console: ${forLog(messageOf(error))}`, { level: 'warn' });
  });
}

function statusOf(error: Error & { statusCode?: number }): number {
  if (error instanceof BusyError || error.name === 'UnreachableError') return 503;
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? status : 500;
}
