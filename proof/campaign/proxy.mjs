// A server between tieout and the gateway that does to a movement of money what networks do: lose
// it, lose its answer, cut it, hold it up, let it arrive when nobody waits for it any more. What it
// passes on it passes on byte by byte.

import { createServer, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const LATE_MS = [2_000, 6_000];

/** [weight, name]. */
const FAULTS = [
  [3, 'reset before the gateway'],
  [1, 'closed before the gateway'],
  [3, 'reset after the effect'],
  [1, 'closed after the effect'],
  [2, 'no answer in time'],
  [2, 'late effect'],
  [2, 'answer cut'],
];

export async function openProxy(gatewayUrl, { random, tally }) {
  const proxy = { isQuiet: false, baseUrl: '', late: new Set(), close: null };
  const server = createServer((request, response) => {
    carry({ proxy, gatewayUrl, random, tally }, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    if (!proxy.isQuiet && random.chance(0.01)) {
      tally.count('connection reset at once');
      socket.resetAndDestroy();
    }
  });
  const listen = (port) => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address();
  proxy.baseUrl = `http://127.0.0.1:${port}`;
  /** Nobody listens for so long; what is under way comes to its end. */
  proxy.beAway = async (ms) => {
    server.close();
    server.closeIdleConnections();
    await sleep(ms);
    await listen(port);
  };
  proxy.settle = () => Promise.all(proxy.late);
  proxy.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return proxy;
}

async function carry({ proxy, gatewayUrl, random, tally }, request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const pass = () => passOn(gatewayUrl, request, body);
  const isMoney = !request.url.endsWith('/retrievalTrans');
  if (isMoney) tally.count('requests');
  const isTroubled = !proxy.isQuiet && random.chance(isMoney ? 0.18 : 0.02);
  if (!isTroubled) return answerWith(response, await pass());
  const fault = isMoney ? random.weighted(FAULTS) : 'a look was lost';
  tally.count(fault);
  switch (fault) {
    case 'reset after the effect':
      await pass();
      return request.socket.resetAndDestroy();
    case 'closed before the gateway':
      return request.socket.end();
    case 'closed after the effect':
      await pass();
      return request.socket.end();
    case 'no answer in time':
      await pass();
      return undefined;
    case 'late effect': {
      const late = new Promise((resolve) => setTimeout(resolve, random.between(...LATE_MS)))
        .then(pass)
        .finally(() => proxy.late.delete(late));
      proxy.late.add(late);
      return request.socket.resetAndDestroy();
    }
    case 'answer cut': {
      const answer = await pass();
      response.writeHead(answer.status, {
        ...answer.headers,
        'content-length': answer.body.length,
      });
      const some = answer.body.subarray(0, random.below(answer.body.length));
      return response.write(some, () => response.destroy());
    }
    default:
      return request.socket.resetAndDestroy();
  }
}

function answerWith(response, { status, headers, body }) {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
}

function passOn(gatewayUrl, request, body) {
  return new Promise((resolve, reject) => {
    const type = request.headers['content-type'] ?? '';
    const headers = { 'content-type': type, 'content-length': body.length };
    const sent = httpRequest(`${gatewayUrl}${request.url}`, { method: 'POST', headers });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const { location } = answer.headers;
        const told = { 'content-type': answer.headers['content-type'] ?? '' };
        resolve({
          status: answer.statusCode,
          headers: location === undefined ? told : { ...told, location },
          body: Buffer.concat(parts),
        });
      });
    });
    sent.end(body);
  });
}
