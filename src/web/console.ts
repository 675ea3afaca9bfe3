// The console as a whole: who is asking, may they, is the form really from us, then the page. Every
// route goes through the one function `serve`; a page itself never checks a right. Owns the headers
// that every answer carries and the words of every failure. Neighbours: routes.ts lists the pages,
// signIn.tsx lets people in.

import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { record, recordIn } from '../access/record.js';
import type { SessionRow } from '../access/sessionsStore.js';
import { accountsFor, DECIDES, hasEverywhere } from '../core/access.js';
import { messageOf } from '../core/errors.js';
import { youngUploads } from '../retention/oldUploads.js';
import { whyDecidedElsewhere } from '../runs/environment.js';
import { withLeft } from '../runs/leftAccountsStore.js';
import { sendAnswer } from './answers.js';
import { addAssets } from './assets.js';
import { forLog, wordsFor } from './format.js';
import type { MonitorDeps } from './health.js';
import { answerError, answerProblem, refusedAt } from './layout/problems.js';
import { addMetrics } from './metrics.js';
import { minuteLimit } from './minuteLimit.js';
import { ROUTES } from './routes.js';
import { fileOf, readUploads } from './upload/uploadForm.js';
import type { ConsoleDeps, Route, Visit } from './visit.js';
import { NOT_FOUND } from './visit.js';
import { draftOf, isFor } from './visitor/draft.js';
import { fieldsOf } from './visitor/fields.js';
import { bindFormCookie, checkForm, FORM_COOKIE, tokenFor } from './visitor/forms.js';
import { backOf, tickedOf } from './visitor/returnAddress.js';
import { currentSession, deciderOf, isFresh, keepTyped } from './visitor/session.js';
import { addSignIn } from './visitor/signIn.js';

/** Requests of one address in a minute; a person needs far fewer, a scanner far more. */
const REQUESTS_A_MINUTE = 1_200;
const FORM_BYTES_MAX = 65_536;

const PAGES = new Set(ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path));

const SECURITY = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
  },
  frameguard: { action: 'deny' as const },
  referrerPolicy: { policy: 'same-origin' as const },
};

export async function addConsole(
  server: FastifyInstance,
  deps: ConsoleDeps,
  monitor: MonitorDeps | null,
): Promise<void> {
  await server.register(helmet, SECURITY);
  await server.register(rateLimit, { max: REQUESTS_A_MINUTE, timeWindow: '1 minute' });
  await server.register(cookie);
  await server.register(csrf, { cookieKey: FORM_COOKIE });
  bindFormCookie(server);
  // Nothing but forms: a body of another type is refused before anybody reads it.
  server.removeContentTypeParser(['application/json', 'text/plain']);
  await server.register(formbody, { bodyLimit: FORM_BYTES_MAX });
  server.addHook('onSend', async (request, reply) => {
    if (!request.url.startsWith('/assets/')) reply.header('cache-control', 'no-store');
  });
  server.setNotFoundHandler((request, reply) => answerProblem(deps, request, reply, 404));
  const mayTell = minuteLimit(deps.now, 1);
  server.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    answerError(deps, request, reply, error, mayTell),
  );
  addAssets(server);
  removeOldUploads(server, deps);
  addSignIn(server, deps);
  if (monitor !== null) addMetrics(server, deps, monitor);
  for (const route of ROUTES) {
    if (route.takesFile !== true) addRoute(server, deps, route);
  }
  server.register(async (scope) => {
    readUploads(scope);
    for (const route of ROUTES) {
      if (route.takesFile === true) addRoute(scope, deps, route);
    }
  });
}

const UPLOADS_LOOKED_AT_MS = 15 * 60_000;

/** Whoever brought one and went away comes back for it no more. */
function removeOldUploads(server: FastifyInstance, { config, now, log }: ConsoleDeps): void {
  const look = (): void =>
    void youngUploads(config.dataDir, now()).catch((error: unknown) => {
      log(`old uploads could not be deleted: ${messageOf(error)}`, { level: 'warn' });
    });
  const looks = setInterval(look, UPLOADS_LOOKED_AT_MS).unref();
  server.addHook('onClose', async () => clearInterval(looks));
  look();
}

function addRoute(server: FastifyInstance, deps: ConsoleDeps, route: Route): void {
  server.route({
    method: route.method,
    url: route.path,
    // A file is read only of somebody who may bring one.
    ...(route.takesFile === true ? { onRequest: admission(deps, route) } : {}),
    ...(route.method === 'POST' ? { preHandler: checkForm(server) } : {}),
    handler: (request, reply) => serve(deps, route, request, reply),
  });
}

function admission(deps: ConsoleDeps, route: Route) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if ((await admit(deps, route, request, reply)) === null) return reply;
  };
}

interface Admitted {
  session: SessionRow;
  /** those for which they may */
  accounts: string[];
  /** of these it is asked for which they may */
  known: readonly string[];
}

const OF_ALL =
  'This is of no single account: it needs the role for all accounts, not for each of them by its ' +
  'name. An administrator gives it: tieout users role NAME --role ROLE, without --account.';

/** Who asks, and for which accounts they may; null: they were answered. */
async function admit(
  deps: ConsoleDeps,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admitted | null> {
  const session = await currentSession(deps, request);
  if (session === null) {
    const back = request.method === 'GET' && request.url !== '/' ? request.url : null;
    const query = back === null ? '' : `?next=${encodeURIComponent(back)}`;
    reply.redirect(`/sign-in${query}`, 303);
    return null;
  }
  const known = await accountsKnown(deps, route);
  const accounts = accountsOf(deps, route, session, known);
  if (accounts.length === 0) {
    await refusedAt(deps, request, session.name, `may not ${route.right}`);
    const mayForSome = accountsFor(route.right, session.grants, known).length > 0;
    const words = mayForSome ? OF_ALL : undefined;
    await answerProblem(deps, request, reply, 403, session, words);
    return null;
  }
  const elsewhere = await decidedElsewhere(deps, route);
  if (elsewhere !== null) {
    await refusedAt(deps, request, session.name, elsewhere);
    await answerProblem(deps, request, reply, 409, session, elsewhere);
    return null;
  }
  return { session, accounts, known };
}

/** Who asks, may they, what do they bring; then the page. */
async function serve(
  deps: ConsoleDeps,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const admitted = await admit(deps, route, request, reply);
  if (admitted === null) return reply;
  const { session, accounts, known } = admitted;
  const form = fieldsOf(request.body);
  const allowed = new Set(['_csrf', ...(route.fields ?? [])]);
  if (form.names().some((name) => !allowed.has(name))) {
    await refusedAt(deps, request, session.name, 'fields that the form does not have');
    return answerProblem(deps, request, reply, 400, session);
  }
  if (route.isFresh === true && !isFresh(session, deps.now())) {
    const back = backOf(route.path, request.headers.referer, form, PAGES);
    await keepTyped(deps, request, await draftOf({ db: deps.db, accounts }, back, form));
    return reply.redirect(`/confirm?next=${encodeURIComponent(back)}`, 303);
  }
  const draft = session.draft !== null && isFor(session.draft, request.url) ? session.draft : null;
  if (draft !== null) await keepTyped(deps, request, null);
  const visit = visitOf(deps, request, reply, {
    ...{ route, session, accounts, known },
    typed: draft?.typed ?? {},
  });
  const answer = namesNothing(visit.params) ? NOT_FOUND : await route.handle(visit);
  if (answer.kind === 'notFound') {
    deps.log(`console: ${forLog(session.name)} found nothing: ${route.method} ${route.path}`);
  }
  if (answer.kind === 'refused' && answer.status === 400 && route.method === 'POST') {
    // Said where the form stands, with what was typed: the next press needs no way back.
    const back = backOf(route.path, request.headers.referer, form, PAGES);
    const about = { db: deps.db, accounts };
    await keepTyped(deps, request, await draftOf(about, back, form, answer.words));
    return reply.redirect(back, 303);
  }
  const problem = draft?.problem ?? null;
  return sendAnswer(deps, request, reply, { session, answer, csrf: visit.csrf, problem });
}

/** No row has such a name: the database could not even be asked for it. */
function namesNothing(params: Readonly<Record<string, string>>): boolean {
  return Object.values(params).some((name) => name.includes('\u0000'));
}

/** Why nothing is decided here, in words; null: nothing is to be decided, or it may be. */
async function decidedElsewhere(deps: ConsoleDeps, route: Route): Promise<string | null> {
  const { method, right, anyEnvironment } = route;
  if (method !== 'POST' || !DECIDES.has(right) || anyEnvironment === true) return null;
  return whyDecidedElsewhere(deps.db, deps.config);
}

function accountsOf(
  deps: ConsoleDeps,
  route: Route,
  { grants }: SessionRow,
  known: readonly string[],
): string[] {
  const all = deps.accountIds;
  if (route.everywhere === true) return hasEverywhere(route.right, grants) ? [...all] : [];
  return accountsFor(route.right, grants, known);
}

/** Those of the configuration; where the page shows what others left, also those. */
async function accountsKnown(
  { db, accountIds }: ConsoleDeps,
  route: Route,
): Promise<readonly string[]> {
  return route.unconfigured === true ? withLeft(db, accountIds) : accountIds;
}

function visitOf(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  of: Admitted & { route: Route; typed: Readonly<Record<string, string>> },
): Visit {
  const { route, session, accounts, known, typed } = of;
  const { userId, name, grants } = session;
  return {
    deps,
    person: { userId, name, grants, isFresh: isFresh(session, deps.now()) },
    decider: deciderOf(deps, session),
    accounts,
    seesAll: hasEverywhere(route.right, grants),
    accountsFor: (right) => accountsFor(right, grants, known),
    hasEverywhere: (right) => hasEverywhere(right, grants),
    params: request.params as Record<string, string>,
    query: fieldsOf(request.query),
    form: fieldsOf(request.body),
    file: fileOf(request.body),
    words: wordsFor(deps.config.schedule.timezone),
    csrf: tokenFor(request, reply),
    address: request.ip,
    here: request.url,
    ticked: tickedOf(fieldsOf(request.query)),
    typed: (name) => typed[name] ?? '',
    record: (event) => record(deps, { ...event, who: name, address: request.ip }),
    recordIn: (tx, event) => recordIn(tx, deps, { ...event, who: name, address: request.ip }),
  };
}
