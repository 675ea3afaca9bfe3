// `npm run bench -- --part pages`: what it costs to ask for a page, beside the least that can be
// done: bare undici and JSON.parse over the same connections. Also what checking and signing add to
// that, how near a slow gateway is to its own limit, and what an endless answer costs. Needs the
// sandbox, no database. The processor's time hardly suffers from other work on the machine.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createGatewayClient } from '../dist/src/gateway/client.js';
import { sandboxProfile } from '../dist/src/gateway/document/profile.js';
import { decodeQueryAnswer } from '../dist/src/gateway/query/decode.js';
import { signatureOf } from '../dist/src/gateway/wire/sign.js';
import { measure } from './measure.mjs';
import { sized } from './sized.mjs';
import { inTurns, line, ratiosOf, timed } from './stats.mjs';
import { ask, CONCURRENCY, inTurn, openPool, PAGE_ORDERS } from './wire.mjs';

const PAGES = sized(600, 8);
const SLOW_MS = 200;
const SLOW_PAGES = sized(160, 8);
const SIGNATURES = sized(20_000, 100);
const KB = 1024;

export async function benchPages(place, sample, rounds) {
  const account = place.accounts.find((one) => one.accountId === sample.account_id);
  const client = openClient(place.baseUrl);
  const pool = openPool(place.baseUrl);
  const pages = pagesOf(sample.order_nos);
  const kept = [
    ...(await pullLines(client, pool, account, pages, rounds)),
    ...(await checkLines(pool, account, pages, rounds)),
    await slowLine(account, await ask(pool, account, pages[0]), rounds),
    await bodyLine(rounds),
  ];
  await Promise.all([client.close(), pool.close()]);
  return kept;
}

function openClient(baseUrl) {
  const { limits, ...profile } = sandboxProfile();
  return createGatewayClient({
    profile: { ...profile, limits: { ...limits, concurrency: CONCURRENCY } },
    baseUrl,
  });
}

/** As many pages as are wanted, of the orders there are. */
function pagesOf(orderNos) {
  const whole = Math.max(1, Math.floor(orderNos.length / PAGE_ORDERS));
  return Array.from({ length: PAGES }, (_, at) => {
    const from = (at % whole) * PAGE_ORDERS;
    return orderNos.slice(from, from + PAGE_ORDERS);
  });
}

async function pullLines(client, pool, account, pages, rounds) {
  const found = await inTurns(rounds + 1, {
    bare: () =>
      timed(() =>
        inTurn(pages, async (orderNos) => {
          const page = JSON.parse((await ask(pool, account, orderNos)).toString());
          if (page.return_status !== '1') throw new Error(page.return_message);
        }),
      ),
    tieout: () =>
      timed(() =>
        inTurn(pages, async (orderNos) => {
          const answer = await client.queryPage(account, { kind: 'orders', orderNos });
          if (answer.kind !== 'page') throw new Error(answer.reason);
        }),
      ),
  });
  // The first round warms both up.
  const [bare, tieout] = [found.bare.slice(1), found.tieout.slice(1)];
  return [
    line('pull: pages a second, of bare undici + JSON.parse', ratiosOf(bare, tieout, 'wall'), {
      atLeast: 0.85,
    }),
    line('pull: by processor time of the client', ratiosOf(bare, tieout, 'cpu'), {
      atLeast: 0.85,
    }),
  ];
}

async function checkLines(pool, account, pages, rounds) {
  const bodies = [];
  await inTurn(pages.slice(0, 200), async (orderNos) => {
    bodies.push(await ask(pool, account, orderNos));
  });
  const { signing } = sandboxProfile();
  const message = { merchant_id: account.merchantId, account_id: account.accountId };
  const found = await inTurns(rounds + 1, {
    parse: () => timed(() => bodies.map((body) => JSON.parse(body.toString()).return_status)),
    decode: () =>
      timed(() => bodies.map((body) => decodeQueryAnswer(account, { status: 200, body }).kind)),
    request: () => timed(() => inTurn(pages, (orderNos) => ask(pool, account, orderNos))),
    sign: () =>
      timed(() => {
        for (let at = 0; at < SIGNATURES; at += 1) {
          signatureOf(signing, 'retrievalTrans', account.signingKey, message);
        }
      }),
  });
  const added = ratiosOf(found.decode, found.parse, 'cpu').slice(1);
  const signed = found.sign.map(
    (one, round) => one.cpu / SIGNATURES / (found.request[round].cpu / pages.length),
  );
  return [
    line(
      'validation, beyond JSON.parse of it',
      added.map((value) => value - 1),
      { atMost: 0.3 },
    ),
    line('signing, of a request and its answer', signed.slice(1), { atMost: 0.05 }, 3),
  ];
}

/** A gateway that answers the same page after a while: how much of the time is only waiting? */
async function slowLine(account, body, rounds) {
  const server = createServer((request, response) => {
    request.resume();
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    }, SLOW_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = openClient(`http://127.0.0.1:${server.address().port}`);
  const numbers = Array.from({ length: PAGE_ORDERS }, (_, at) => `N${at}`);
  const found = await inTurns(rounds, {
    slow: () =>
      timed(() =>
        inTurn(Array.from({ length: SLOW_PAGES }), () =>
          client.queryPage(account, { kind: 'orders', orderNos: numbers }),
        ),
      ),
  });
  await client.close();
  server.close();
  const least = (SLOW_PAGES / CONCURRENCY) * SLOW_MS;
  const shares = found.slow.map(({ wall }) => least / wall);
  return line(`pull at ${SLOW_MS} ms: share of concurrency / latency`, shares, { atLeast: 0.95 });
}

/** The peak of a process that meets an endless answer, less that of one that meets a short one. */
async function bodyLine(rounds) {
  const script = fileURLToPath(new URL('endlessBody.mjs', import.meta.url));
  const { maxResponseBytes } = sandboxProfile().limits;
  const found = await inTurns(rounds, {
    short: () => measure([script, '1']),
    endless: () => measure([script, '0']),
  });
  const grown = found.endless.map((one, round) => one.peakMb - found.short[round].peakMb);
  const limit = maxResponseBytes / KB / KB + 50;
  return line('an endless answer: memory, MB', grown, { atMost: limit }, 0);
}
