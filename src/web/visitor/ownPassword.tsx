// A person chooses another password of their own: by the present one, whatever the age of the
// session, and with the limits on guessing that a sign-in has. All other sessions and open links of
// the person end. Neighbours: identity.ts judges the present one, signIn.tsx lets people in.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashPassword } from '../../access/password.js';
import { record } from '../../access/record.js';
import type { SessionRow } from '../../access/sessionsStore.js';
import { setPassword } from '../../access/usersStore.js';
import { sendAnswer } from '../answers.js';
import { answerProblem } from '../layout/problems.js';
import type { ConsoleDeps } from '../visit.js';
import { fieldsOf } from './fields.js';
import { checkForm, tokenFor } from './forms.js';
import { choiceProblem, hasOthers, passwordOf, TOO_MANY } from './passwordFields.js';
import { beginSession, currentSession, sessionDigest } from './session.js';
import { OwnPasswordForm } from './signInForms.js';

const WRONG = 'That is not your present password.';

/** `limit`: how often an address may send forms with passwords. */
export function addOwnPassword(server: FastifyInstance, deps: ConsoleDeps, limit: object): void {
  server.get('/password', (request, reply) => page(deps, request, reply, null));
  server.post('/password', { preHandler: checkForm(server), ...limit }, (request, reply) =>
    change(deps, request, reply),
  );
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
  const body = <OwnPasswordForm csrf={csrf} name={name} problem={problem?.words ?? null} />;
  const answer = { kind: 'page' as const, title: 'Another password', section: '', body };
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
  await record(deps, { ...event, address: request.ip });
  await beginSession(deps, request, reply, { userId: session.userId });
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
  const session = sessionDigest(request);
  const found = await deps.identity.recognise({ name, password, address, session });
  const event = { who: name, action: 'give password again', outcome: found.kind };
  await record(deps, { ...event, address });
  if (found.kind === 'tooMany') return { words: TOO_MANY, status: 429 };
  if (found.kind === 'refused') return { words: WRONG, status: 401 };
  const problem = await choiceProblem(name, passwordOf(body), passwordOf(body, 'again'));
  return problem === null ? null : { words: problem, status: 400 };
}
