// Getting in and out: sign in, sign out, a link that lets somebody choose a password once, and
// giving the password again before approvals. Which of name or password was wrong is never said,
// and every way in ends in a new session. Neighbours: identity.ts decides, session.ts keeps.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { hashPassword, tokenDigest } from '../../access/password.js';
import { record } from '../../access/record.js';
import { findLink, findUserId, useFirstLink, usePasswordLink } from '../../access/usersStore.js';
import type { Grant } from '../../core/access.js';
import { ROLES } from '../../core/access.js';
import { sendAnswer } from '../answers.js';
import { answerProblem } from '../layout/problems.js';
import type { ConsoleDeps } from '../visit.js';
import { fieldsOf } from './fields.js';
import { checkForm, tokenFor } from './forms.js';
import { addOwnPassword } from './ownPassword.js';
import {
  choiceProblem,
  firstChoiceProblem,
  hasOthers,
  passwordOf,
  TOO_MANY,
} from './passwordFields.js';
import { inside } from './returnAddress.js';
import { beginSession, currentSession, endSession, sessionDigest } from './session.js';
import { ConfirmForm, SignInForm, WelcomeForm } from './signInForms.js';

/** How many forms one address may send in a minute, whatever names stand in them. */
const FORMS_A_MINUTE = 30;
/** No person is called so: a name has no blanks. */
const NOBODYS_NAME = 'a name that nobody has';
const WRONG = 'Name and password do not fit together, or the account is not active.';

export function addSignIn(server: FastifyInstance, deps: ConsoleDeps): void {
  const config = { rateLimit: { max: FORMS_A_MINUTE, timeWindow: '1 minute' } };
  const posted = { preHandler: checkForm(server), config };
  server.get('/sign-in', (request, reply) => {
    const next = inside(fieldsOf(request.query).text('next'));
    return show(deps, request, reply, (csrf) => ({
      title: 'Sign in',
      body: <SignInForm csrf={csrf} next={next} name="" problem={null} />,
    }));
  });
  server.post('/sign-in', posted, (request, reply) => signIn(deps, request, reply));
  server.post('/sign-out', posted, (request, reply) => signOut(deps, request, reply));
  server.get('/welcome/:token', (request, reply) => welcome(deps, request, reply, null));
  server.post('/welcome/:token', posted, (request, reply) => choose(deps, request, reply));
  addOwnPassword(server, deps, { config });
  server.get('/confirm', (request, reply) => confirmPage(deps, request, reply, null));
  server.post('/confirm', posted, (request, reply) => confirm(deps, request, reply));
}

async function signIn(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = fieldsOf(request.body);
  if (hasOthers(form, ['name', 'password', 'next'])) {
    return answerProblem(deps, request, reply, 400, null);
  }
  const next = inside(form.text('next'));
  const name = form.text('name', 64) ?? '';
  const found = await deps.identity.recognise({
    name,
    password: passwordOf(request.body),
    address: request.ip,
  });
  const who = found.kind === 'known' ? found.name : await namedOnly(deps, name);
  const event = { who, action: 'sign in', outcome: found.kind, address: request.ip };
  if (found.kind === 'known') {
    const told = (subject: string) => record(deps, { ...event, subject });
    await beginSession(deps, request, reply, { userId: found.userId, told });
    return reply.redirect(next, 303);
  }
  await record(deps, event);
  const isFlood = found.kind === 'tooMany';
  return show(
    deps,
    request,
    reply,
    (csrf) => ({
      title: 'Sign in',
      body: <SignInForm csrf={csrf} next={next} name={name} problem={isFlood ? TOO_MANY : WRONG} />,
    }),
    isFlood ? 429 : 401,
  );
}

/** What a stranger typed may be a password in the wrong field, and the record is for ever. */
async function namedOnly({ db }: ConsoleDeps, typed: string): Promise<string> {
  return (await findUserId(db, typed.normalize('NFKC'))) === null ? NOBODYS_NAME : typed;
}

async function signOut(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session !== null) {
    const { name: who } = session;
    await record(deps, { who, action: 'sign out', outcome: 'done', address: request.ip });
  }
  await endSession(deps, request, reply);
  // The browser drops the pages that it kept: somebody else may sit before it next.
  reply.header('clear-site-data', '"cache", "storage"');
  return reply.redirect('/sign-in', 303);
}

/** The page behind a one-time link; unknown, used and old links look alike. */
async function welcome(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: { words: string; name: string } | null,
): Promise<FastifyReply> {
  const token = tokenOf(request);
  const link = await findLink(deps.db, tokenDigest(token, deps.config.decisions.key), deps.now());
  if (link === null) return answerProblem(deps, request, reply, 404, null);
  return show(
    deps,
    request,
    reply,
    (csrf) => ({
      title: 'Welcome',
      body: (
        <WelcomeForm
          csrf={csrf}
          token={token}
          fixedName={link.name}
          name={problem?.name ?? ''}
          problem={problem?.words ?? null}
        />
      ),
    }),
    problem === null ? 200 : 400,
  );
}

async function choose(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = fieldsOf(request.body);
  if (hasOthers(form, ['name', 'password', 'again'])) {
    return answerProblem(deps, request, reply, 400, null);
  }
  const sha256 = tokenDigest(tokenOf(request), deps.config.decisions.key);
  const link = await findLink(deps.db, sha256, deps.now());
  if (link === null) return answerProblem(deps, request, reply, 404, null);
  const name = link.name ?? form.text('name', 64) ?? '';
  const password = passwordOf(request.body);
  const judge = link.name === null ? firstChoiceProblem : choiceProblem;
  const problem = await judge(name, password, passwordOf(request.body, 'again'));
  if (problem !== null) return welcome(deps, request, reply, { words: problem, name });
  const hash = await hashPassword(password);
  const used =
    link.userId === null
      ? await useFirstLink(deps.db, sha256, firstUser(name, hash, deps.now()))
      : await usePasswordLink(deps.db, sha256, hash, deps.now());
  if (used.kind === 'gone') return answerProblem(deps, request, reply, 404, null);
  if (used.kind === 'taken') {
    return welcome(deps, request, reply, { words: 'That name is taken.', name });
  }
  const event = { who: name, action: 'choose password', outcome: 'done', address: request.ip };
  const told = (subject: string) => record(deps, { ...event, subject });
  await beginSession(deps, request, reply, { userId: used.userId, told });
  return reply.redirect('/', 303);
}

/** The first person may do everything, else nobody could; the page says so. */
function firstUser(name: string, passwordHash: string, now: Date) {
  const grants: Grant[] = ROLES.filter((role) => role !== 'viewer').map((role) => ({
    role,
    accountId: null,
  }));
  return { name, passwordHash, grants, by: 'the first link', now };
}

async function confirmPage(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: { words: string; next: string; status: number } | null,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session === null) return reply.redirect('/sign-in', 303);
  const next = problem?.next ?? inside(fieldsOf(request.query).text('next'));
  const csrf = tokenFor(request, reply);
  const words = problem?.words ?? null;
  const body = <ConfirmForm csrf={csrf} next={next} name={session.name} problem={words} />;
  const answer = { kind: 'page' as const, title: 'Your password', section: '' as const, body };
  const status = problem?.status ?? 200;
  return sendAnswer(deps, request, reply, { session, csrf, answer: { ...answer, status } });
}

async function confirm(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await currentSession(deps, request);
  if (session === null) return reply.redirect('/sign-in', 303);
  const form = fieldsOf(request.body);
  if (hasOthers(form, ['password', 'next'])) return answerProblem(deps, request, reply, 400);
  const { name } = session;
  const next = inside(form.text('next'));
  const claim = {
    name,
    password: passwordOf(request.body),
    address: request.ip,
    session: sessionDigest(deps, request),
  };
  const found = await deps.identity.recognise(claim);
  const event = { who: name, action: 'give password again', outcome: found.kind };
  const told = (subject = '') => record(deps, { ...event, subject, address: request.ip });
  if (found.kind !== 'known') await told();
  switch (found.kind) {
    case 'known':
      await beginSession(deps, request, reply, { ...session, told });
      return reply.redirect(next, 303);
    case 'tooMany':
      return confirmPage(deps, request, reply, { words: TOO_MANY, next, status: 429 });
    case 'refused':
      return confirmPage(deps, request, reply, { words: WRONG, next, status: 401 });
  }
}

/** A page for somebody who is not signed in. */
function show(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  page: (csrf: string) => { title: string; body: VNode },
  status = 200,
): Promise<FastifyReply> {
  const csrf = tokenFor(request, reply);
  const answer = { kind: 'page' as const, section: '' as const, status, ...page(csrf) };
  return sendAnswer(deps, request, reply, { session: null, csrf, answer });
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}
