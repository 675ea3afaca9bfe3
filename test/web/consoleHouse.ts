// The console before a real night: database, sandbox gateway, the program's own composition, and
// visitors with cookie jars of their own. Nothing of ours is replaced but the clock of sessions.

import { randomUUID, scryptSync } from 'node:crypto';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { localTicksOf } from '../../jobs/clock.js';
import { discardJob, listFailedJobs, retryFailedJob } from '../../jobs/failed.js';
import { newToken, tokenDigest } from '../../src/access/password.js';
import { openSession } from '../../src/access/sessionsStore.js';
import { addUser } from '../../src/access/usersStore.js';
import type { App } from '../../src/cli/app.js';
import type { Grant, Role } from '../../src/core/access.js';
import { migrationStatus } from '../../src/database/migrate.js';
import { reevaluate } from '../../src/night/reevaluateJob.js';
import { isAlive } from '../../src/processes/identity.js';
import type { MonitorDeps } from '../../src/web/health.js';
import { createWebServer } from '../../src/web/server.js';
import type { ConsoleDeps, JobsPort } from '../../src/web/visit.js';
import { localIdentity } from '../../src/web/visitor/identity.js';
import type { House, HouseOptions } from '../support/night.js';
import { buildHouse } from '../support/night.js';

export const PASSWORD = 'correct horse battery';
/** Its hash at a 64th of the work, which is not what most tests are about. */
export const SOON_CHECKED = soonChecked(PASSWORD);

export interface Visitor {
  name: string;
  cookies: Record<string, string>;
  get(url: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Sends a form with the token of this visitor's browser. */
  post(
    url: string,
    fields: Record<string, string | string[]>,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  /** Sends a form exactly as given. */
  raw(
    url: string,
    fields: Record<string, string | string[]>,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  token(): Promise<string>;
}

export interface ConsoleHouse {
  house: House;
  app: App;
  server: FastifyInstance;
  lines: string[];
  clock: { now: Date };
  /** Nobody yet, with an empty cookie jar; each from an address of its own. */
  signedOut(): Visitor;
  /** Signed in without the costly password. */
  visitor(grants: readonly Grant[], name?: string): Promise<Visitor>;
  withRole(role: Role, accountId?: string): Promise<Visitor>;
  addPerson(name: string, grants: readonly Grant[]): Promise<void>;
  end(): Promise<void>;
}

export async function openConsole(
  options: HouseOptions & Partial<Record<'before' | 'after', (house: House) => Promise<void>>> = {},
): Promise<ConsoleHouse> {
  const { before, after, ...wanted } = options;
  const house = await buildHouse({ orders: 120, ...wanted });
  await before?.(house);
  await house.run();
  await after?.(house);
  const app = await house.open();
  const lines: string[] = [];
  const clock = { now: new Date() };
  const base = {
    db: app.db,
    accountIds: app.config.accounts.map(({ accountId }) => accountId),
    now: () => clock.now,
    newId: randomUUID,
    log: (line: string) => void lines.push(line),
  };
  const { config, version } = app;
  const deps: ConsoleDeps = {
    ...base,
    config,
    version,
    identity: localIdentity(base),
    jobs: jobsOf(app),
    queuePort: await app.queues(),
  };
  const monitor: MonitorDeps = {
    ...base,
    config,
    version,
    isAlive,
    localTicks: localTicksOf(config.schedule.cron),
    queueCounts: async () => (await app.queues()).counts(),
    queueTakesJobs: async () => (await app.queues()).takesJobs(),
    pendingMigrations: async () => (await migrationStatus(app.connection)).pending.length,
  };
  const server = createWebServer({
    ...base,
    ...{ console: deps, monitor, notifications: null, proxies: ['127.0.0.1'] },
  });
  let people = 0;
  const visitor = async (grants: readonly Grant[], given?: string): Promise<Visitor> => {
    people += 1;
    const name = given ?? `person${people}`;
    const now = clock.now;
    const added = await addUser(app.db, { name, passwordHash: null, grants, by: 'test', now });
    if (added.kind === 'taken') throw new Error(`${name} is taken`);
    const token = newToken();
    const session = { sha256: tokenDigest(token), userId: added.userId, now, address: 'test' };
    await openSession(app.db, session);
    return visitorOf(server, name, { 'tieout-session': token });
  };
  return {
    house,
    app,
    server,
    lines,
    clock,
    signedOut: () => visitorOf(server, '', {}),
    visitor,
    withRole: (role, accountId) => visitor([{ role, accountId: accountId ?? null }]),
    addPerson: async (name, grants) => {
      await addUser(app.db, {
        name,
        passwordHash: SOON_CHECKED,
        grants,
        by: 'test',
        now: clock.now,
      });
    },
    end: async () => {
      await server.close();
      await house.end();
    },
  };
}

export function jobsOf(app: App): JobsPort {
  return {
    list: async () => {
      const jobs = await listFailedJobs(await app.queues(), { limit: 100 });
      return jobs.map((job) => ({ ...job, retry: 'weighs it again' }));
    },
    counts: async () => (await app.queues()).counts(),
    retry: async (jobId) => {
      const queues = await app.queues();
      const deps = { queues, queuePort: queues };
      return retryFailedJob(
        { ...deps, reevaluate: (queue, id) => reevaluate(app, queue, id) },
        jobId,
      );
    },
    discard: async (jobId) => {
      const { kind } = await discardJob(await app.queues(), jobId);
      return { kind, words: '' };
    },
  };
}

/** Why a form was refused, as the page says it that one comes back to. */
export async function refusalOf(visitor: Visitor, answer: LightMyRequestResponse): Promise<string> {
  if (answer.statusCode !== 303) throw new Error(`it was answered with ${answer.statusCode}`);
  const { body } = await visitor.get(String(answer.headers.location));
  return /role="alert">([^<]*)</.exec(body)?.[1] ?? '';
}

/** The form that brings a workbook with decisions. */
export async function bringWorkbook(
  { server }: ConsoleHouse,
  visitor: Visitor,
  bytes: Buffer,
  name = 'back.xlsx',
  token?: string,
): Promise<LightMyRequestResponse> {
  const form = new FormData();
  form.set('_csrf', token ?? (await visitor.token()));
  form.set('upload', new File([new Uint8Array(bytes)], name));
  const sent = new Response(form);
  return server.inject({
    method: 'POST',
    url: '/reports/decisions/check',
    cookies: visitor.cookies,
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    payload: Buffer.from(await sent.arrayBuffer()),
  });
}

/** What the page of a break says of it in its form: the number, and what was shown. */
export async function shownBreak(visitor: Visitor, id: string | bigint): Promise<string> {
  const { body } = await visitor.get(`/breaks/${id}`);
  return /name="id" value="([^"]*)"/.exec(body)?.[1] ?? '';
}

let addresses = 0;

function visitorOf(
  server: FastifyInstance,
  name: string,
  cookies: Record<string, string>,
): Visitor {
  addresses += 1;
  const remoteAddress = `203.0.${Math.floor(addresses / 250)}.${addresses % 250}`;
  const keep = (answer: LightMyRequestResponse): LightMyRequestResponse => {
    for (const cookie of answer.cookies as { name: string; value: string }[]) {
      if (cookie.value === '') delete cookies[cookie.name];
      else cookies[cookie.name] = cookie.value;
    }
    return answer;
  };
  const self: Visitor = {
    name,
    cookies,
    get: async (url, headers = {}) =>
      keep(await server.inject({ method: 'GET', url, cookies, headers, remoteAddress })),
    raw: async (url, fields, headers = {}) =>
      keep(
        await server.inject({
          method: 'POST',
          url,
          cookies,
          remoteAddress,
          payload: encoded(fields),
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        }),
      ),
    post: async (url, fields, headers) =>
      self.raw(url, { _csrf: await self.token(), ...fields }, headers),
    token: async () => {
      const { body } = await self.get('/sign-in');
      return /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? '';
    },
  };
  return self;
}

function encoded(fields: Record<string, string | string[]>): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one]),
  );
  return new URLSearchParams(pairs).toString();
}

/** Signs in as a person would. */
export async function signIn(visitor: Visitor, name: string, password = PASSWORD) {
  return visitor.post('/sign-in', { name, password, next: '/' });
}

function soonChecked(password: string): string {
  const salt = Buffer.alloc(16, 1);
  const key = scryptSync(password, salt, 32, { N: 2 ** 10, r: 8, p: 2 });
  return `scrypt$10$8$2$${salt.toString('base64url')}$${key.toString('base64url')}`;
}
