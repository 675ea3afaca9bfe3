// What is a person's own: another password, by the present one, whatever the age of the session,
// and with the limits on guessing that a sign-in has, which ends all other sessions and open links
// of the person; and where they are signed in, to be ended by who gave the password a short while
// ago. Neighbours: identity.ts judges the present one, signIn.tsx lets people in.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashPassword } from '../../access/password.js';
import { record } from '../../access/record.js';
import { endSessions, type SessionRow } from '../../access/sessionsStore.js';
import { setPassword } from '../../access/usersStore.js';
import { sendAnswer } from '../answers.js';
import { wordsFor } from '../format.js';
import { answerProblem } from '../layout/problems.js';
import type { ConsoleDeps } from '../visit.js';
import { fieldsOf } from './fields.js';
import { checkForm, tokenFor } from './forms.js';
import { OwnSessions } from './ownSessions.js';
import { choiceProblem, hasOthers, passwordOf, TOO_MANY } from './passwordFields.js';
import { beginSession, currentSession, isFresh, sessionDigest, sessionsOf } from './session.js';
import { OwnPasswordForm } from './signInForms.js';

const WRONG = 'That is not your present password.';

/** `limit`: how often an address may send forms with passwords. */
export function addOwnPassword(server: FastifyInstance, deps: ConsoleDeps, limit: object): void {
  server.get('/password', (request, reply) => page(deps, request, reply, null));
  server.post('/password', { preHandler: checkForm(server), ...limit }, (request, reply) =>
    change(deps, request, reply),
  );
  server.post('/password/sessions', { preHandler: checkForm(server) }, (request, reply) =>
    endOthers(deps, request, reply),
  );
}

/** One of the person's own sessions by its mark, or all but this one. */
async function endOthers(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session === null) return reply.redirect('/sign-in', 303);
  const form = fieldsOf(request.body);
  if (hasOthers(form, ['session'])) return answerProblem(deps, request, reply, 400, session);
  if (!isFresh(session, deps.now())) return reply.redirect('/confirm?next=/password', 303);
  const { userId, mark: own, name: who } = session;
  const mark = form.text('session', 64);
  const ended = await endSessions(deps.db, userId, { mark, own });
  const subject = mark === null ? 'all others' : `session ${mark}`;
  const event = { who, action: 'end sessions', subject, outcome: `${ended} ended` };
  await record(deps, { ...event, address: request.ip });
  return reply.redirect('/password', 303);
}

async function page(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: { words: string; status: number } | null,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session === null) return reply.redirect('/sign-in', 303);
  const csrf = tokenFor(request, reply);
  const { name } = session;
  const sessions = await sessionsOf(deps, session.userId);
  const words = wordsFor(deps.config.schedule.timezone);
  const body = (
    <>
      <OwnPasswordForm csrf={csrf} name={name} problem={problem?.words ?? null} />
      <OwnSessions csrf={csrf} sessions={sessions} session={session} words={words} />
    </>
  );
  const answer = { kind: 'page' as const, title: 'Another password', section: '' as const, body };
  const status = problem?.status ?? 200;
  return sendAnswer(deps, request, reply, { session, csrf, answer: { ...answer, status } });
}

async function change(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session === null) return reply.redirect('/sign-in', 303);
  if (hasOthers(fieldsOf(request.body), ['present', 'password', 'again'])) {
    return answerProblem(deps, request, reply, 400, session);
  }
  const refusal = await refusalOf(deps, request, session);
  if (refusal !== null) return page(deps, request, reply, refusal);
  const hash = await hashPassword(passwordOf(request.body));
  await setPassword(deps.db, session.userId, hash);
  const event = { who: session.name, action: 'choose password', outcome: 'done' };
  const told = (subject: string) => record(deps, { ...event, subject, address: request.ip });
  await beginSession(deps, request, reply, { userId: session.userId, told });
  return reply.redirect('/', 303);
}

/** Null where the present password is right and the new one will do. */
async function refusalOf(
  deps: ConsoleDeps,
  request: FastifyRequest,
  { name }: SessionRow,
): Promise<{ words: string; status: number } | null> {
  const { body, ip: address } = request;
  const password = passwordOf(body, 'present');
  const session = sessionDigest(deps, request);
  const found = await deps.identity.recognise({ name, password, address, session });
  const event = { who: name, action: 'give password again', outcome: found.kind };
  await record(deps, { ...event, address });
  if (found.kind === 'tooMany') return { words: TOO_MANY, status: 429 };
  if (found.kind === 'refused') return { words: WRONG, status: 401 };
  const problem = await choiceProblem(name, passwordOf(body), passwordOf(body, 'again'));
  return problem === null ? null : { words: problem, status: 400 };
}
