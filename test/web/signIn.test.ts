// Signing in and staying signed in: guessing, planted and stolen sessions, roles that change
// meanwhile, one-time links. Rows 107 and 112 of the list of faults.

import { scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BusyError,
  hashPassword,
  newToken,
  passwordFits,
  tokenDigest,
} from '../../src/access/password.js';
import {
  addUser,
  findUserId,
  keepLink,
  listUsers,
  setUserState,
  takeRole,
  useFirstLink,
} from '../../src/access/usersStore.js';
import { localIdentity, TRY_LIMITS } from '../../src/web/visitor/identity.js';
import { makeLink } from '../../src/web/visitor/links.js';
import { FRESH_MS, IDLE_MS, LIFE_MS } from '../../src/web/visitor/session.js';
import type { ConsoleHouse } from './consoleHouse.js';
import { openConsole, PASSWORD, SOON_CHECKED, signIn } from './consoleHouse.js';

let console: ConsoleHouse;
const ALL = [{ role: 'finance', accountId: null }] as const;

beforeAll(async () => {
  console = await openConsole({ orders: 20 });
  await console.addPerson('ada', ALL);
});
afterAll(() => console.end());

async function idOf(name: string): Promise<bigint> {
  return (await findUserId(console.app.db, name)) ?? 0n;
}

/** As before the first one: whoever has the role is disabled. */
async function withoutAdministrators(): Promise<void> {
  for (const { userId, grants } of await listUsers(console.app.db)) {
    const isOne = grants.some(({ role }) => role === 'admin');
    if (isOne) await setUserState(console.app.db, userId, 'disabled');
  }
}

describe('signing in', () => {
  it('lets a person in by name and password, whatever the case of the name', async () => {
    const visitor = console.signedOut();
    const answer = await signIn(visitor, 'ADA');
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/']);
    const page = await visitor.get('/');
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('ada');
  });

  it('says the same of a wrong name, a wrong password and a locked person (row 107)', async () => {
    await console.addPerson('locked', ALL);
    await setUserState(console.app.db, await idOf('locked'), 'disabled');
    const answers = [];
    for (const [name, password] of [
      ['nobody', PASSWORD],
      ['ada', 'another password'],
      ['locked', PASSWORD],
    ] as const) {
      const { statusCode, body } = await signIn(console.signedOut(), name, password);
      answers.push([statusCode, body.replaceAll(/value="[^"]*"/g, '')]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(answers[0]?.[0]).toBe(401);
  });

  it('keeps a password that was typed as the name nowhere', async () => {
    const typed = 'Kiesel-Fluss-2026';
    await signIn(console.signedOut(), typed, '');
    await signIn(console.signedOut(), 'Ada', 'wrong');
    const { rows } = await console.app.db.query<{ who: string }>(
      `select who from tieout.console_events where action = 'sign in' and outcome = 'refused'
       order by event_id desc limit 2`,
    );
    expect(rows.map(({ who }) => who)).toEqual(['Ada', 'a name that nobody has']);
    const { body } = await (await console.withRole('finance')).get('/activity');
    expect(body).toContain('a name that nobody has');
    expect(body + console.lines.join('\n')).not.toContain(typed);
  });

  const later = (minutes: number): void => {
    console.clock.now = new Date(console.clock.now.getTime() + minutes * 60_000);
  };

  it('stops a machine that guesses, also with the right password then (row 107)', async () => {
    await console.addPerson('guessed', ALL);
    const machine = console.signedOut();
    const codes: number[] = [];
    for (let n = 0; n < TRY_LIMITS.ownAtOnce + 1; n += 1) {
      codes.push((await signIn(machine, 'guessed', `wrong guess ${n}`)).statusCode);
    }
    expect(codes).toEqual([...Array(TRY_LIMITS.ownAtOnce).fill(401), 429]);
    expect((await signIn(machine, 'guessed')).statusCode).toBe(429);
    // Each further try waits twice as long as the one before it, until there are no more.
    const waits = Array.from({ length: 5 }, (_, n) => TRY_LIMITS.waitSeconds * 2 ** n);
    for (const seconds of waits) {
      later((seconds - 1) / 60);
      expect((await signIn(machine, 'guessed', 'wrong')).statusCode).toBe(429);
      later(1 / 60);
      expect((await signIn(machine, 'guessed', 'wrong')).statusCode).toBe(401);
    }
    later(10);
    expect((await signIn(machine, 'guessed')).statusCode).toBe(429);
    later(6);
    expect((await signIn(machine, 'guessed')).statusCode).toBe(303);
  });

  it('locks nobody out by the guesses of others, signed in or not', async () => {
    await console.addPerson('owner', ALL);
    const own = console.signedOut();
    const signedIn = console.signedOut();
    expect((await signIn(own, 'owner')).statusCode).toBe(303);
    expect((await signIn(signedIn, 'owner')).statusCode).toBe(303);
    await own.post('/sign-out', {});
    // More than anybody may try, from many addresses.
    await console.app.db.query(
      `insert into tieout.sign_in_failures (at, name_key, address)
       select $1, encode(sha256('owner'), 'hex'), '198.51.100.' || n % 250 from generate_series(1, $2::int) n`,
      [console.clock.now, TRY_LIMITS.ofNameMax],
    );
    expect((await signIn(console.signedOut(), 'owner')).statusCode).toBe(429);
    expect((await signIn(own, 'owner')).statusCode).toBe(303);
    const confirmed = await signedIn.post('/confirm', { password: PASSWORD, next: '/' });
    expect(confirmed.statusCode).toBe(303);
  });

  it('counts no try that nobody had the time to look at', async () => {
    const costly = `scrypt$16$8$9$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const { db } = console.app;
    const identity = localIdentity({ db, now: () => console.clock.now });
    // Two that take seconds are at work, and behind them waits as many as may, which take none.
    const line = [
      ...Array.from({ length: 2 }, () => passwordFits(PASSWORD, costly)),
      ...Array.from({ length: 50 }, () => passwordFits(PASSWORD, SOON_CHECKED)),
    ];
    const claim = { name: 'ada', password: PASSWORD, address: '198.51.100.251' };
    await expect(identity.recognise(claim)).rejects.toThrow(BusyError);
    expect(await Promise.all(line)).toEqual([...Array(2).fill(false), ...Array(50).fill(true)]);
    const { rows } = await db.query('select 1 from tieout.sign_in_failures where address = $1', [
      claim.address,
    ]);
    expect(rows).toEqual([]);
  }, 180_000);

  it('never answers a right password with the hash of nobody', async () => {
    expect(await passwordFits('', null)).toBe(false);
    const hash = await hashPassword(PASSWORD);
    expect(hash).not.toContain(PASSWORD);
    expect(await passwordFits(PASSWORD, hash)).toBe(true);
    expect(await passwordFits(`${PASSWORD} `, hash)).toBe(false);
  });

  it('asks as much work of a guesser as is asked today, and knows hashes of before', async () => {
    expect(await hashPassword(PASSWORD)).toMatch(/^scrypt\$16\$8\$2\$/);
    const salt = Buffer.alloc(16, 7);
    const key = scryptSync(PASSWORD, salt, 32, { N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 28 });
    const before = `scrypt$16$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
    expect(await passwordFits(PASSWORD, before)).toBe(true);
    expect(await passwordFits(`${PASSWORD} `, before)).toBe(false);
  });

  it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'leads nowhere outside: %s (row 116)',
    async (next) => {
      const page = await console.signedOut().get(`/sign-in?next=${encodeURIComponent(next)}`);
      expect(page.body).toContain('name="next" value="/"');
      const inside = await console.signedOut().get('/sign-in?next=%2Fbreaks%3Fpage%3D2');
      expect(inside.body).toContain('name="next" value="/breaks?page=2"');
    },
  );
});

describe('a session (row 112)', () => {
  it('is not the one that somebody planted', async () => {
    const visitor = console.signedOut();
    const planted = 'a'.repeat(43);
    visitor.cookies['tieout-session'] = planted;
    await signIn(visitor, 'ada');
    expect(visitor.cookies['tieout-session']).not.toBe(planted);
    const attacker = console.signedOut();
    attacker.cookies['tieout-session'] = planted;
    expect((await attacker.get('/')).headers.location).toBe('/sign-in');
  });

  it('is worth nothing after signing out, nor in another hand', async () => {
    const visitor = console.signedOut();
    await signIn(visitor, 'ada');
    const thief = console.signedOut();
    thief.cookies['tieout-session'] = visitor.cookies['tieout-session'] ?? '';
    expect((await thief.get('/')).statusCode).toBe(200);
    await visitor.post('/sign-out', {});
    expect((await thief.get('/')).headers.location).toBe('/sign-in');
  });

  it.each([
    ['unused', IDLE_MS],
    ['old', LIFE_MS],
  ])('ends when it is %s', async (_why, ms) => {
    const visitor = await console.visitor(ALL);
    const before = console.clock.now;
    expect((await visitor.get('/')).statusCode).toBe(200);
    console.clock.now = new Date(before.getTime() + ms + 1_000);
    expect((await visitor.get('/')).headers.location).toBe('/sign-in');
    console.clock.now = before;
  });

  it('knows at once of a role that was taken away and of a person locked out', async () => {
    const visitor = await console.visitor(ALL, 'changing');
    expect((await visitor.get('/breaks')).statusCode).toBe(200);
    await takeRole(console.app.db, await idOf('changing'), 'finance', null);
    expect((await visitor.get('/breaks')).statusCode).toBe(403);
    await setUserState(console.app.db, await idOf('changing'), 'disabled');
    expect((await visitor.get('/breaks')).headers.location).toMatch(/^\/sign-in/);
  });

  it('asks for the password again after a while, and renews itself then', async () => {
    const visitor = console.signedOut();
    await signIn(visitor, 'ada');
    const old = visitor.cookies['tieout-session'];
    console.clock.now = new Date(console.clock.now.getTime() + FRESH_MS + 1_000);
    const wrong = await visitor.post('/confirm', { password: 'not this one', next: '/breaks' });
    expect(wrong.statusCode).toBe(401);
    const right = await visitor.post('/confirm', { password: PASSWORD, next: '/breaks' });
    expect([right.statusCode, right.headers.location]).toEqual([303, '/breaks']);
    expect(visitor.cookies['tieout-session']).not.toBe(old);
  });

  it('another password is chosen by the present one, and ends all other sessions', async () => {
    await console.addPerson('eve', ALL);
    const [own, other] = [console.signedOut(), console.signedOut()];
    for (const visitor of [own, other]) await signIn(visitor, 'eve');
    const wanted = 'a quite different phrase';
    const form = (present: string, password = wanted, again = password) =>
      own.post('/password', { present, password, again });
    expect((await form('not the present one')).statusCode).toBe(401);
    expect((await form(PASSWORD, 'too short')).statusCode).toBe(400);
    expect((await form(PASSWORD, wanted, `${wanted}!`)).statusCode).toBe(400);
    expect((await other.get('/')).statusCode).toBe(200);
    expect((await form(PASSWORD)).headers.location).toBe('/');
    expect((await own.get('/')).statusCode).toBe(200);
    expect((await other.get('/')).headers.location).toBe('/sign-in');
    expect((await signIn(console.signedOut(), 'eve')).statusCode).toBe(401);
    expect((await signIn(console.signedOut(), 'eve', wanted)).statusCode).toBe(303);
    const left = await own.post('/sign-out', {});
    expect(left.headers['clear-site-data']).toBe('"cache", "storage"');
  });

  it('people see where they are signed in and end it, by a password that is fresh', async () => {
    await console.addPerson('finn', ALL);
    const [own, other, third] = [0, 1, 2].map(() => console.signedOut());
    if (!own || !other || !third) throw new Error('three are needed');
    for (const visitor of [own, other, third]) await signIn(visitor, 'finn');
    const page = (await own.get('/password')).body;
    const marks = [...page.matchAll(/name="session" value="([0-9a-f]{16})"/g)].map(
      ([, one]) => one,
    );
    expect(marks).toHaveLength(2);
    const stranger = await console.visitor(ALL, 'gwen');
    await stranger.post('/password/sessions', { session: marks[0] ?? '' });
    expect((await other.get('/')).statusCode).toBe(200);
    expect((await third.get('/')).statusCode).toBe(200);
    const ended = await own.post('/password/sessions', { session: marks[0] ?? '' });
    expect([ended.statusCode, ended.headers.location]).toEqual([303, '/password']);
    const left = [(await other.get('/')).statusCode, (await third.get('/')).statusCode];
    expect(left.sort()).toEqual([200, 303]);
    console.clock.now = new Date(console.clock.now.getTime() + FRESH_MS + 1);
    const old = await own.post('/password/sessions', {});
    expect(old.headers.location).toBe('/confirm?next=/password');
    await own.post('/confirm', { password: PASSWORD, next: '/password' });
    await own.post('/password/sessions', {});
    for (const visitor of [other, third]) {
      expect((await visitor.get('/')).headers.location).toBe('/sign-in');
    }
    expect((await own.get('/')).statusCode).toBe(200);
  });

  it('no password is cut: one that only begins like it is another', async () => {
    const longest = 'abcdefghij'.repeat(20);
    const passwordHash = await hashPassword(longest);
    const person = { name: 'longo', passwordHash, grants: ALL, by: 'test', now: new Date() };
    await addUser(console.app.db, person);
    expect((await signIn(console.signedOut(), 'longo', `${longest}k`)).statusCode).toBe(401);
    expect((await signIn(console.signedOut(), 'longo', longest)).statusCode).toBe(303);
  });

  it('lives in a cookie that scripts and other sites do not get', async () => {
    const { headers } = await signIn(console.signedOut(), 'ada');
    const [cookie = ''] = [headers['set-cookie']].flat().filter((one) => /session/.test(one ?? ''));
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    const secure = console.signedOut();
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
    const answer = await console.server.inject({
      method: 'GET',
      url: '/sign-in',
      headers: proxied,
      remoteAddress: '127.0.0.1',
    });
    expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-tieout-form=.*Secure/);
    const token = /name="_csrf" value="([^"]+)"/.exec(answer.body)?.[1] ?? '';
    const secret = String(answer.headers['set-cookie']).split(';')[0]?.split('=')[1] ?? '';
    const formFrom = (cookie: string) =>
      console.server.inject({
        method: 'POST',
        url: '/sign-in',
        headers: { ...proxied, cookie, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ _csrf: token, name: 'ada', password: PASSWORD }).toString(),
        remoteAddress: '127.0.0.1',
      });
    // A neighbour's host may plant the plain name, and never this one.
    expect((await formFrom(`tieout-form=${secret}`)).statusCode).toBe(403);
    const inside = await formFrom(`__Host-tieout-form=${secret}`);
    expect(inside.statusCode).toBe(303);
    expect(String(inside.headers['set-cookie'])).toMatch(/__Host-tieout-session=/);
    expect((await secure.get('/sign-in', proxied)).headers['set-cookie']).not.toMatch(/Secure/);
  });

  it('is kept as a digest only', async () => {
    const visitor = await console.visitor(ALL);
    const { rows } = await console.app.db.query<{ held: string }>(
      `select string_agg(s::text, '') as held from tieout.sessions s`,
    );
    expect(rows[0]?.held).not.toContain(visitor.cookies['tieout-session']);
  });
});

describe('a link that works once', () => {
  it('makes the first account, once, also when two open it at the same time', async () => {
    const path = await makeLink(console.app, null, console.clock.now);
    const fields = { password: PASSWORD, again: PASSWORD };
    const both = await Promise.all(
      ['first', 'second'].map((name) => console.signedOut().post(path, { name, ...fields })),
    );
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([303, 404]);
    expect((await console.signedOut().get(path)).statusCode).toBe(404);
    await withoutAdministrators();
  });

  it('makes no first account where an administrator came another way', async () => {
    const path = await makeLink(console.app, null, console.clock.now);
    const fields = { name: 'stranger', password: PASSWORD, again: PASSWORD };
    const opened = async () => (await console.signedOut().get(path)).statusCode;
    const admin = { role: 'admin', accountId: null } as const;
    await console.visitor([admin], 'guest');
    expect(await opened()).toBe(200);
    const own = await makeLink(console.app, await idOf('guest'), console.clock.now);
    const chosen = { password: PASSWORD, again: PASSWORD };
    expect((await console.signedOut().post(own, chosen)).statusCode).toBe(303);
    expect(await opened()).toBe(404);
    expect((await console.signedOut().post(path, fields)).statusCode).toBe(404);
    await withoutAdministrators();
    // What came between the look at the link and its use counts, too.
    const [sha256, now] = [tokenDigest(newToken()), console.clock.now];
    const expiresAt = new Date(now.getTime() + 60_000);
    await keepLink(console.app.db, { sha256, userId: null, now, expiresAt });
    await console.addPerson('boss', [admin]);
    const late = { passwordHash: SOON_CHECKED, grants: [admin], by: 'the first link', now };
    const used = await useFirstLink(console.app.db, sha256, { name: 'stranger', ...late });
    expect([used, await idOf('stranger')]).toEqual([{ kind: 'gone' }, 0n]);
    await withoutAdministrators();
  });

  it('lets a person choose a password, ends the sessions before it, and grows old', async () => {
    const visitor = await console.visitor(ALL, 'invited');
    const userId = await idOf('invited');
    const old = await makeLink(console.app, userId, console.clock.now);
    const path = await makeLink(console.app, userId, console.clock.now);
    expect((await console.signedOut().get(old)).statusCode).toBe(404);
    const guest = console.signedOut();
    const weak = await guest.post(path, { password: 'short', again: 'short' });
    expect([weak.statusCode, weak.body]).toEqual([400, expect.stringContaining('at least 12')]);
    const done = await guest.post(path, { password: PASSWORD, again: PASSWORD });
    expect(done.statusCode).toBe(303);
    expect((await visitor.get('/')).headers.location).toBe('/sign-in');
    expect((await signIn(console.signedOut(), 'invited')).statusCode).toBe(303);
    const late = await makeLink(console.app, userId, new Date(Date.now() - 26 * 3_600_000));
    expect((await console.signedOut().get(late)).statusCode).toBe(404);
  });

  it('asks no name again of who has one from before, and of who chooses one', async () => {
    const name = 'мария@acme.com';
    await console.visitor(ALL, name);
    const fields = { password: PASSWORD, again: PASSWORD };
    const own = await makeLink(console.app, await idOf(name), console.clock.now);
    expect((await console.signedOut().post(own, fields)).statusCode).toBe(303);
    const first = await makeLink(console.app, null, console.clock.now);
    const chosen = await console.signedOut().post(first, { name: 'zoоt', ...fields });
    expect(chosen.body).toContain('mixes letters of several alphabets');
  });
});
